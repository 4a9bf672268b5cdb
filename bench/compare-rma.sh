#!/bin/sh
# compare-rma.sh - where is the library slower than the better host?
#
# Reads CSV files of bench/rma, some of hosts' own calls and some with
# libmpi-rma, and prints the library's time over the better host's for
# everything that both have measured: worst first, and counts. Of several runs of
# one host, or of the library on it, the fastest counts.

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
trap 'rm -f "$tmp" "$tmp.end"' EXIT
trap 'exit 130' INT TERM

awk -F, -v factor="$factor" -v out="$tmp" '
# What the suites measure to hold the rest against is no one-sided call: the host'"'"'s collectives, a
# segment by system calls.
BEGIN { anchor["create,allgather_barrier"] = anchor["create,segment"] = anchor["active,barrier"] = 1 }
$1 == "host" || $4 == "goal" || $4 == "anchors" || $9 == "" || ($4 "," $5) in anchor { next }
{
    key = $3 "," $4 "," $5 "," $6 "," $7 "," $8
    if ($2 == 0) {
        if (!(key in host) || $9 < host[key]) {
            host[key] = $9
            who[key] = $1
        }
    } else if (!(($1 "," key) in library) || $9 < library[$1 "," key]) {
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
        clearly += ratio > 1.05
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
    printf "slower by more than 5 %%: %d of %d\n", clearly, n > (out ".end")
    exit slower > 0
}' "$@"
status=$?
if [ -s "$tmp" ]; then
    printf '%8s  %-8s %-5s %-8s %-24s %-10s %-9s %10s  %14s %14s\n' ratio library ranks suite operation \
        memory sync bytes "library ns" "host ns"
    sort -rn "$tmp"
fi
cat "$tmp.end" 2>/dev/null
exit $status
