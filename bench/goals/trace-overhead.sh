#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace-overhead.sh - what a trace costs a program: runs with and without one in turn, and the medians of both.
#
#   bench/goals/trace-overhead.sh RUNS NPROCS PROGRAM [ARGUMENT...]     in a build directory
#
# Prints the seconds from begin to end (wall), and the processor time of all processes (cpu), each without a trace and with
# it, and the ratio of the medians; the trace's size; the machine's load before and after. The archive is not made.

top_srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
. "$top_srcdir/scripts/options.sh"
answer_first "$@"
case ${1-} in -*) unknown_option "$1" ;; esac
. ./test/run/env.sh || exit 2
test $# -ge 3 || { echo "usage: trace-overhead.sh RUNS NPROCS PROGRAM [ARGUMENT...]" >&2 && exit 2; }
runs=$1
nprocs=$2
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-overhead.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

echo trace,wall,user,system >"$work/times.csv"

# one HOW COMMAND...: a line of times.csv, HOW being without or with
one() {
    how=$1
    shift
    rm -rf "$work/trace"
    # shellcheck disable=SC2016 # for the inner shell
    bash -c 'TIMEFORMAT="%R %U %S"; time sh "$@" >"$0/out" 2>&1' "$work" "$abs_top_srcdir/test/run/mpiexec.sh" "$nprocs" \
        "$MPI_RMA_RUN" "$@" 2>"$work/time" || { tail -n 20 "$work/out" >&2 && exit 1; }
    echo "$how,$(tr ' ' , <"$work/time")" >>"$work/times.csv"
}

before=$(cut -d ' ' -f 1 /proc/loadavg)
i=0
while test "$i" -lt "$runs"; do
    i=$((i + 1))
    one without "$@"
    one with --trace "$work/trace" "$@"
done
python3 "$top_srcdir/bench/report.py" overhead "$work/times.csv" || exit
echo "trace: $(du -sk "$work/trace" | cut -f 1) KiB; load $before to $(cut -d ' ' -f 1 /proc/loadavg), $MPI_HOST, $nprocs processes"
