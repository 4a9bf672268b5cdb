#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_epoch.sh - a real epoch of post, start, complete and wait in the two models of a transfer's end: the put's line
# ends with MPI_Win_wait at the target (extended) and with MPI_Put at the origin (basic). Ranks that share a clock, be it
# on pretended nodes, do not compare it. A rank in a time namespace of its own has another clock: it is compared once
# more where a window is made long after the last time, and the order of events comes out right.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
command -v otf2-print >/dev/null || skip_all "no otf2-print"

# Rank 1 has its own clock, 1000 s ahead.
other_clock='test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 1 || exec unshare --time --fork --monotonic 1000 "$@"; exec "$@"'

run() { # [MS]
    if test -n "$clocks"; then
        mpirun "$np" sh -c "$clocks" sh env MPIRMA_TRACE="$tmp/trace" "$bin/trace_epoch" "$@"
    else
        mpirun "$np" env MPIRMA_TRACE="$tmp/trace" "$bin/trace_epoch" "$@"
    fi
    test "$rc" = 0 || bad "trace_epoch $*: exit code $rc"
    "$tool" --archive "$tmp/trace" >"$tmp/out" 2>&1 || bad "mpi-rma-trace: exit code $?"
    otf2-print "$tmp/trace/traces.otf2" >"$tmp/print" 2>&1
}

# event WORD TEXT: the time of the first such event, and its location
event() {
    sed -n "s/^$1  *\([0-9]*\)  *\([0-9]*\)  .*$2.*/\2 \1/p" "$tmp/print" | head -n 1
}

# ends_in MODEL CALL: the transfer ends where the call returns
ends_in() {
    "$tool" --json --model="$1" "$tmp/trace" >"$tmp/out" 2>&1 || bad "--model=$1: exit code $?"
    ns=$(sed -n 's/^ *"MPI_Put": {"operations": 1, .*"model_ns": \([0-9]*\),.*/\1/p' "$tmp/out")
    begin=$(event RMA_PUT "")
    end=$(event LEAVE "\"$2\"")
    test $((${begin%% *} + ${ns:--1})) = "${end%% *}" ||
        bad "$1: the put begins at $begin, takes $ns ns, but $2 returns at $end:"
}

clocks_compared() {
    otf2-print --show-clock-offsets "$tmp/trace/traces.otf2" 2>&1 |
        sed -n 's/^CLOCK_OFFSET .*Time: \([0-9]*\), .*/\1/p' | sort -u | wc -l
}

# between LEAST MOST: so often have the clocks of the machines been compared
between() {
    n=$(clocks_compared)
    test "$n" -ge "$1" && test "$n" -le "$2" || bad "the clocks of the machines were compared $n times, expected $1 or $2:"
}

whole_epoch() {
    ends_in extended MPI_Win_wait
    ends_in basic MPI_Put
    case $MPIRMA_PATH in
    *packets) test -n "$(event RMA_OP_COMPLETE_NON_BLOCKING "")" || bad "a put by packet is under way when its call returns:" ;;
    esac
    put=$(event RMA_PUT "")
    wait=$(event LEAVE '"MPI_Win_wait"')
    test "${put#* }" != "${wait#* }" || bad "MPI_Put and MPI_Win_wait are at one location:"
    length=$((${wait%% *} - ${put%% *}))
    test "$length" -gt 0 && test "$length" -le 5000000000 ||
        bad "the put's line is $length ns long, as no epoch of these processes is:"
}

clocks=
run
whole_epoch
between 0 0
if unshare --time --fork --monotonic 1000 true 2>/dev/null; then
    clocks=$other_clock
    run
    whole_epoch
    between 2 3
    run 1300
    between 3 4 # one of them only if the first window was late
fi
finish
