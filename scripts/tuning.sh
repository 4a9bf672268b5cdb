#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tuning.sh - run examples/tuning with none to four of its changes, with a trace and without: the times and the first
# lines of the reports in doc/tuning.md.
#
#   sh scripts/tuning.sh             print them; about two minutes
#   sh scripts/tuning.sh --update    write them into doc/tuning.md
# The reports are of the first of HOSTS ("mpich openmpi"), the times of all, medians of RUNS runs (5).

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
case ${1-} in
'' | --update) ;;
*) unknown_option "$1" --update ;;
esac
runs=${RUNS:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-tuning.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

# tuning CHANGES: milliseconds that the program says it has taken
tuning() {
    MPIRMA_RANKS_PER_NODE=1 sh "$top_srcdir/test/mpiexec.sh" 4 examples/tuning "changes=$1" 2>"$tmp/said" |
        sed -n 's/.*: \([0-9.]*\) ms$/\1/p' | grep . || die "examples/tuning changes=$1 fails: $(cat "$tmp/said")"
}

# The first change that the report of a traced run names, into $tmp/first.CHANGES
first_line() { # changes
    rm -rf "$tmp/trace"
    MPIRMA_TRACE=$tmp/trace tuning "$1" >/dev/null
    trace/mpi-rma-trace "$tmp/trace" 2>/dev/null | awk '
        /^What would save time/ { getline; on = 1; next }
        on && /^$/ { exit }
        on { print "  " $0 }' >"$tmp/first.$1"
}

rows() { # host, whether the reports are kept
    echo "| $1 |" >"$tmp/row"
    for changes in 0 1 2 3 4; do
        : >"$tmp/times"
        i=0
        while test "$i" -lt "$runs"; do
            tuning "$changes" >>"$tmp/times"
            i=$((i + 1))
        done
        sort -n "$tmp/times" | sed -n "$(((runs + 1) / 2))p" | sed 's/$/ ms |/' >>"$tmp/row"
        test "$2" = no || first_line "$changes"
    done
    tr '\n' ' ' <"$tmp/row" | sed 's/ $//'
    echo
}

if test -z "$NO_BUILD"; then
    install_missing
    bootstrap
    make_target="libmpi-rma.la trace/mpi-rma-trace examples/tuning"
    for host in ${HOSTS:-$hosts}; do
        build "$host" || die "the build for $host failed"
    done
fi
{
    echo
    echo "| host | as it is slow | readers share the lock | one flush | the same work for all | post and start |"
    echo "|---|--:|--:|--:|--:|--:|"
    keep=yes
    for host in ${HOSTS:-$hosts}; do
        cd "$(build_dir "$host")" || exit 1
        . ./test/env.sh
        rows "$host" "$keep"
        keep=no
    done
} >"$tmp/table"
if test "${1-}" = --update; then
    replace_part "$top_srcdir/doc/tuning.md" "times" <"$tmp/table"
fi
for changes in 0 1 2 3 4; do
    if test "${1-}" = --update; then
        { echo && cat "$tmp/first.$changes" && echo; } |
            replace_part "$top_srcdir/doc/tuning.md" "report with $changes changes"
    else
        echo "with $changes changes:" && cat "$tmp/first.$changes"
    fi
done
test "${1-}" = --update || cat "$tmp/table"
