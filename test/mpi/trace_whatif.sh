#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_whatif.sh - what mpi-rma-trace says that a change would save in a real program is as much as sleep makes it: at least
# half of that, and less than the program has taken in all. On a loaded machine a process is late by itself: what is wrong in
# one run must be right in one of the next; and of more ranks than processors the report says that they took turns, and makes
# no estimate.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
MT_LIMIT=60
tries=5
all= # not empty: messages are recorded
processors=$(nproc)
few=$np # ranks whose times are their own
test "$few" -le "$processors" || few=$((processors < 2 ? 2 : processors))

# trace NPROCS PROGRAM
trace() {
    rm -rf "$tmp/trace"
    if test -n "$all"; then
        mpirun "$1" "$MPI_RMA_RUN" --trace-all "$tmp/trace" "$bin/trace_whatif" "$2" slow
    else
        mpirun "$1" env MPIRMA_TRACE="$tmp/trace" "$bin/trace_whatif" "$2" slow
    fi
    test "$rc" = 0 || bad "trace_whatif $2 slow: exit code $rc"
}

# said PROGRAM KIND: microseconds, in $us
said() {
    trace "$few" "$1"
    took=$(sed -n 's/^took //p' "$tmp/out")
    "$tool" --estimate --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
    ns=$(sed -n "s/.*{\"kind\": \"$2\", \"saves\": \([0-9]*\),.*/\1/p" "$tmp/report" | head -n 1)
    us=$((${ns:-0} / 1000))
}

# expect PROGRAM KIND MICROSECONDS: in one of the tries
expect() {
    seen=
    try=0
    while test "$try" -lt "$tries"; do
        said "$1" "$2"
        seen="$seen $us of ${took:=0},"
        test "$us" -ge $(($3 / 2)) && test "$us" -lt "$took" && return
        try=$((try + 1))
    done
    echo "$seen" >"$tmp/out"
    bad "$1: $2 is said to save, in microseconds, expected $3:"
}

crowded() {
    trace "$np" late
    "$tool" "$tmp/trace" >"$tmp/out" 2>&1 || bad "mpi-rma-trace: exit code $?"
    seen "$np ranks on $processors processors: they took turns" || bad "the head does not say that ranks took turns"
    seen "more ranks than processors" || bad "nothing says why there is no estimate"
}

test "$few" = "$np" || crowded
# 40 rounds with 4 ms less; 40 less 3 reads by each rank but one, of 1 ms each, that need not wait for each other.
expect late not_late 160000
expect readers locks_shared $((37 * (few - 1) * 1000))
# 40 rounds with 4 ms less, by which others are late because of a message, or of a broadcast.
if test -z "$SANITIZERS"; then # else the library can't be preloaded
    all=1
    expect messages not_late 160000
    expect broadcasts not_late 160000
fi
finish
