# SPDX-License-Identifier: BSD-3-Clause
# plots.awk - the curves of the papers' figures, for gnuplot, from the CSV files of bench/rma and
# bench/halo.
#
#   awk -F, -v out=DIRECTORY -f scripts/plots.awk FILE.csv...
#
# Writes DIRECTORY/NAME.dat for each plot, a block of "x y" for each curve with its title in front,
# and prints a line "NAME|title|x axis|y axis|logarithmic axes" for each.

function name(h) {
    return h == "mpich" ? "MPICH" : h == "openmpi" ? "Open MPI" : h
}

function who(lib) {
    return lib ? "libmpi-rma" : "host"
}

# A point of a curve; plots and curves are kept in the order in which they come.
function point(plot, curve, x, y) {
    if (y == "")
        return
    if (!((plot, curve) in titled)) {
        titled[plot, curve] = 1
        curve_at[plot, ++curves[plot]] = curve
    }
    points[plot, curve] = points[plot, curve] x " " y "\n"
}

function plot(id, title, x, y, logs) {
    if (!(id in described)) {
        described[id] = id "|" title "|" x "|" y "|" logs
        plot_at[++plots] = id
    }
}

FNR == 1 {
    halo = $10 == "mode"
    next
}

halo && $12 != "" && ($8 == "malloc" || $8 == "allocate") && $3 == 2 && $10 ~ /^(fence_assert|pscw|lock)$/ {
    id = "halo-" $1 "-" $8
    plot(id, "Halo exchange, 2 processes, " $8 ", " name($1), "bytes a neighbour", "us a step", "xy")
    if ($10 == "fence_assert")
        point(id, "isend/irecv" ($2 ? "" : ", host's run"), $9, $11)
    point(id, $10 ", " who($2), $9, $12)
}

!halo && $9 != "" && $4 == "latency" && $7 == "pscw" && $5 == "put" && ($6 == "malloc" || $6 == "allocate") {
    id = "pscw-" $1
    plot(id, "One put a PSCW epoch, " name($1), "bytes", "us", "xy")
    point(id, $6 ", " who($2), $8, $9 / 1000)
}

!halo && $9 != "" && $4 == "bw" && $7 == "pscw" {
    id = "bandwidth-" $5 "-" $1
    plot(id, "32 operations a PSCW epoch: " $5 ", " name($1), "bytes", "MB/s", "xy")
    point(id, $6 ", " who($2), $8, 1000 * $8 / $9)
    if ($2 && $6 == "malloc" && $14 > 0)
        point(id, "isend/irecv", $8, 1000 * $8 / $14)
}

!halo && $9 != "" && $4 == "skew" && $5 == "epoch" {
    id = "skew-" $1
    plot(id, "Origin of 16 puts of 256 KiB, target multiplies, " name($1), "order of the matrices", "us", "y")
    point(id, $6 ", " who($2), $8, $9 / 1000)
}

!halo && $9 != "" && $4 == "overlap" && $5 ~ /^(origin|target)$/ && $13 > 0 {
    id = "overlap-" $5 "-" $1
    plot(id, "Communication hidden at the " $5 ", " name($1), "bytes", "per cent", "x")
    share = 100 * ($13 + $14 - $9) / $13
    if ($7 == "pscw" || $2)
        point(id, $6 ", " ($7 == "pscw" ? "PSCW, " who($2) : "isend/irecv"), $8, share < 0 ? 0 : share)
}

!halo && $9 != "" && $4 == "origins" && $5 ~ /origin/ && $8 > 8 {
    id = "origins-" $1 "-" $8
    plot(id, "Origins of one target, 16 puts of " $8 / 1024 " KiB, " name($1), "origins", "MB/s", "")
    if ($7 == "pscw" || $2)
        point(id, $6 ", " ($7 == "pscw" ? "PSCW, " who($2) : "isend/irecv"), $5 + 0, 1000 * 16 * $8 * ($5 + 0) / $9)
}

END {
    for (i = 1; i <= plots; i++) {
        id = plot_at[i]
        print described[id]
        file = out "/" id ".dat"
        for (c = 1; c <= curves[id]; c++)
            printf "%s\"%s\"\n%s", (c > 1 ? "\n\n" : ""), curve_at[id, c], points[id, curve_at[id, c]] >file
        close(file)
    }
}
