#!/bin/sh
# compare-rma.sh - where is the library slower than the better host?
#
# Reads CSV files of bench/rma, some of hosts' own calls and some with
# libmpi-rma, and prints the library's time over the better host's for
# everything that both have measured: worst first, and a count.

if [ $# -lt 2 ] || [ "$1" = --help ]; then
    echo "Usage: compare-rma.sh [--factor F] FILE.csv FILE.csv ..."
    echo "Files with the column library 0 are hosts, with 1 the library. Rows where the library takes more"
    echo "than F times (default 1.00) the better host's time are printed; exit code 1 if there are any."
    [ "$1" = --help ]
    exit $(($? * 2))
fi
factor=1
if [ "$1" = --factor ]; then
    factor=$2
    shift 2
fi
tmp=$(mktemp) || exit 2
trap 'rm -f "$tmp"' EXIT
trap 'exit 130' INT TERM

awk -F, -v factor="$factor" -v out="$tmp" '
$1 == "host" || $4 == "goal" || $4 == "anchors" || $9 == "" { next }
{
    key = $3 "," $4 "," $5 "," $6 "," $7 "," $8
    if ($2 == 0) {
        if (!(key in host) || $9 < host[key]) {
            host[key] = $9
            who[key] = $1
        }
    } else {
        library[$1 "," key] = $9
    }
}
END {
    for (k in library) {
        key = k
        sub(/^[^,]*,/, "", key)
        if (!(key in host) || host[key] <= 0)
            continue
        n++
        ratio = library[k] / host[key]
        if (ratio > factor) {
            slower++
            split(k, f, ",")
            printf "%8.2f  %-8s P=%-3s %-8s %-24s %-10s %-9s %10s  %14.1f %14.1f (%s)\n", ratio, f[1], f[2], \
                f[3], f[4], f[5], f[6], f[7], library[k], host[key], who[key] > out
        }
    }
    if (!n) {
        print "nothing that both the library and a host have measured" > "/dev/stderr"
        exit 2
    }
    printf "%d of %d measurements slower than %.2f times the better host\n", slower, n, factor
    exit slower > 0
}' "$@"
status=$?
if [ -s "$tmp" ]; then
    printf '%8s  %-8s %-5s %-8s %-24s %-10s %-9s %10s  %14s %14s\n' ratio library ranks suite operation \
        memory sync bytes "library ns" "host ns"
    sort -rn "$tmp"
fi
exit $status
