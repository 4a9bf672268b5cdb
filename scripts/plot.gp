# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - one plot as SVG: gnuplot -e 'data="FILE"; out="FILE"; name="..."; xname="..."; yname="...";
# logs="xy"; styles="COLOUR POINT DASHES ..."' scripts/plot.gp. The data are blocks of "x y", each with its title in
# front; each has three words of styles. The background is that of the page, so what is no curve is grey.
set terminal svg size 720,420 font "sans,11"
set output out
grey = "#808080"
set title name noenhanced textcolor rgb grey
set xlabel xname textcolor rgb grey
set ylabel yname textcolor rgb grey
set border linecolor rgb grey
set tics textcolor rgb grey
if (strstrt(logs, "x") > 0) { set logscale x 2; set format x "%.0b %B" }
if (strstrt(logs, "y") > 0) { set logscale y 10 }
set key outside right noenhanced textcolor rgb grey
set grid linecolor rgb grey linewidth 0.3
stats data using 1 nooutput
plot for [i=0:STATS_blocks-1] data index i using 1:2 with linespoints linewidth 1.5 linecolor rgb word(styles, 3 * i + 1) \
    pointtype int(word(styles, 3 * i + 2)) dashtype int(word(styles, 3 * i + 3)) title columnheader(1)
