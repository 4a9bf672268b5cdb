#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# whatif.sh - compare what mpi-rma-trace says that a change would save with what it saves: the table
# of doc/report/what-if.md, of small programs that are there as they are slow and as they are changed
# (test/mpi/trace_whatif.c).
#
#   sh scripts/whatif.sh             print it; about three minutes
#   sh scripts/whatif.sh --update    write it into doc/report/what-if.md
# With HOSTS="mpich" only one host. In turns the slow program runs with a trace, and both without one, RUNS times each (5).

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
case ${1-} in
'' | --update) ;;
*) unknown_option "$1" --update ;;
esac
runs=${RUNS:-5}
test -n "$NO_BUILD" || install_missing
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-whatif.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

# took NP PATH ARGUMENTS...: microseconds that the program says it has taken, with "$run" in front of it
run=
took() {
    np=$1
    path=$2
    shift 2
    MPIRMA_PATH=$path sh "$top_srcdir/test/mpiexec.sh" "$np" $run test/mpi/trace_whatif "$@" | sed -n 's/^took //p'
}

median() {
    sort -n | sed -n "$(((runs + 1) / 2))p"
}

# in_ms MICROSECONDS
in_ms() {
    awk "BEGIN { printf \"%.1f ms\", $1 / 1000 }"
}

# compare HOST NP PATH CASE KIND WHAT [all]: a row of the table; all: messages are recorded, too
compare() {
    : >"$tmp/said"
    : >"$tmp/slow"
    : >"$tmp/changed"
    i=0
    while test "$i" -lt "$runs"; do
        rm -rf "$tmp/trace"
        run="tools/mpi-rma-run --trace${7:+-all} $tmp/trace"
        took "$2" "$3" "$4" slow >/dev/null
        run=
        trace/mpi-rma-trace --json "$tmp/trace" >"$tmp/json" 2>/dev/null || die "mpi-rma-trace fails on $4"
        sed -n "s/.*{\"kind\": \"$5\", \"saves\": \([0-9]*\),.*/\1/p" "$tmp/json" | sed q | grep . >>"$tmp/said" ||
            echo 0 >>"$tmp/said"
        took "$2" "$3" "$4" slow >>"$tmp/slow"
        took "$2" "$3" "$4" changed >>"$tmp/changed"
        i=$((i + 1))
    done
    slow=$(median <"$tmp/slow")
    saved=$((slow - $(median <"$tmp/changed")))
    said=$(($(median <"$tmp/said") / 1000))
    off=$(awk "BEGIN { printf \"%+.0f %%\", 100 * ($said - $saved) / $saved }")
    echo "| $6 | $2 | $1 | $(in_ms "$slow") | $(in_ms "$said") | $(in_ms "$saved") | $off |"
}

table() {
    echo
    echo "| change | ranks | host | run as it is slow | said to be saved | saved | off by |"
    echo "|---|--:|---|--:|--:|--:|--:|"
    for host in ${HOSTS:-$hosts}; do
        cd "$(build_dir "$host")" || exit 1
        . ./test/env.sh
        compare "$host" 2 auto late not_late "one late rank: as the others"
        compare "$host" 8 auto fences fence_as_pscw "fences in a ring: post, start, complete, wait"
        compare "$host" 4 auto readers locks_shared "exclusive locks of readers: shared"
        compare "$host" 2 net-packets puts flush_once "a flush behind each small put: one behind the last"
        compare "$host" 2 cma columns small_gathered "small puts: one put with a datatype"
        compare "$host" 4 auto messages not_late "one late rank, and a message from it: as the others" all
        compare "$host" 2 auto broadcasts not_late "one late rank, and a broadcast from it: as the others" all
        compare "$host" 4 auto broadcasts not_late "the same, with four ranks" all
    done
}

if test -z "$NO_BUILD"; then
    bootstrap
    make_target="libmpi-rma.la libmpi-rma-calls.la tools/mpi-rma-run tools/mpi-symbols trace/mpi-rma-trace test/mpi/trace_whatif"
    for host in ${HOSTS:-$hosts}; do
        build "$host" || die "the build for $host failed"
    done
fi
table >"$tmp/table"
if test "${1-}" = --update; then
    replace_part "$top_srcdir/doc/report/what-if.md" "said and saved" <"$tmp/table"
else
    cat "$tmp/table"
fi
