#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare-rma.sh - where is the library slower than the better host?
#
# Reads CSV files of bench/rma, some of hosts' own calls and some with
# libmpi-rma, and prints the library's time over the better host's for
# everything that both have measured: worst first, and counts. Of several runs of
# one host, or of the library on it, the fastest counts. Where the distance of the two processors changes (a
# cache line takes more than twice the shortest time of all), only what found it alike is compared.

usage() {
    echo "Usage: compare-rma.sh [--factor F] FILE.csv FILE.csv ..."
    echo "Files with the column library 0 are hosts, with 1 the library. Rows where the library takes more"
    echo "than F times (default 1.00) the better host's time are printed; exit code 1 if there are any."
}
here=$(dirname "$0")
. "$here/options.sh"
factor=1
case ${1-} in
--factor)
    has_value "$@"
    factor=$2
    shift 2
    ;;
-*) unknown_option "$1" --factor ;;
esac
if [ $# -lt 2 ]; then
    usage >&2
    exit 2
fi
tmp=$(mktemp) || exit 2
trap 'rm -f "$tmp" "$tmp.end"' EXIT
trap 'exit 130' INT TERM

awk -F, -v factor="$factor" -v out="$tmp" '
# What the suites measure to hold the rest against is no one-sided call: the host'"'"'s collectives, a
# segment by system calls.
BEGIN {
    anchor["create,allgather_barrier"] = anchor["create,segment"] = anchor["active,barrier"] = 1
    anchor["memory,malloc_free"] = anchor["memory,malloc_first_touch"] = 1
    anchor["memory,malloc_stream"] = anchor["memory,malloc_random"] = 1
}
$1 == "host" || $4 == "goal" || $4 == "anchors" || $9 == "" || ($4 "," $5) in anchor { next }
{
    row[++rows] = $0
    if ($12 + 0 > 0 && (!nearest || $12 + 0 < nearest))
        nearest = $12 + 0
}
# The rows of both that found the processors near each other, else those that found them far. Rows that do
# not know are neither.
function collect(    i, f, key, at) {
    for (i = 1; i <= rows; i++) {
        split(row[i], f, ",")
        key = f[3] "," f[4] "," f[5] "," f[6] "," f[7] "," f[8]
        at = f[12] + 0 == 0 ? "-" : f[12] + 0 <= 2 * nearest ? "near" : "far"
        if (f[2] == 0) {
            if (!((at, key) in host) || f[9] < host[at, key]) {
                host[at, key] = f[9]
                who[at, key] = f[1]
            }
        } else {
            seen[f[1] "," key] = 1
            if (!((at, f[1], key) in library) || f[9] < library[at, f[1], key])
                library[at, f[1], key] = f[9]
        }
    }
}
function both(label, key, at) {
    return (at, label, key) in library && (at, key) in host && host[at, key] > 0
}
END {
    collect()
    for (k in seen) {
        key = k
        label = k
        sub(/^[^,]*,/, "", key)
        sub(/,.*/, "", label)
        at = both(label, key, "near") ? "near" : both(label, key, "far") ? "far" : "-"
        if (!both(label, key, at)) {
            apart += (("near", key) in host || ("far", key) in host)
            continue
        }
        n++
        ratio = library[at, label, key] / host[at, key]
        clearly += ratio > 1.05
        if (ratio > factor) {
            slower++
            split(key, f, ",")
            printf "%8.2f  %-8s P=%-3s %-8s %-24s %-10s %-9s %10s  %14.1f %14.1f (%s) %s\n", ratio, label, f[1], \
                f[2], f[3], f[4], f[5], f[6], library[at, label, key], host[at, key], who[at, key], at > out
        }
    }
    if (!n) {
        print "nothing that both the library and a host have measured" > "/dev/stderr"
        exit 2
    }
    printf "%d of %d measurements slower than %.2f times the better host\n", slower, n, factor
    printf "slower by more than 5 %%: %d of %d", clearly, n > (out ".end")
    printf "; %d found the processors never as far as a host did\n", apart > (out ".end")
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
