# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - one plot as SVG: gnuplot -e 'data="FILE"; out="FILE"; name="..."; xname="..."; yname="...";
# logs="xy"' scripts/plot.gp. The data are blocks of "x y", each with its title in front.
set terminal svg size 720,420 background "white" font "sans,11"
set output out
set title name noenhanced
set xlabel xname
set ylabel yname
set colorsequence podo
if (strstrt(logs, "x") > 0) { set logscale x 2; set format x "%.0b %B" }
if (strstrt(logs, "y") > 0) { set logscale y 10 }
set key outside right noenhanced
set grid
stats data using 1 nooutput
plot for [i=0:STATS_blocks-1] data index i using 1:2 with linespoints linewidth 1.5 title columnheader(1)
