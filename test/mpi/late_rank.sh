#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# late_rank.sh - a rank comes late to the creation of a window: the others say that they wait for
# it, where MPIRMA_HANG_REPORT asks for that, and go on when it comes.

. "$abs_top_srcdir/test/mpi/mtest.sh"

all_say_so() {
    rank=0
    while test "$rank" -lt $((np - 1)); do
        seen "rank $rank of a communicator of $np waits for [0-9.]+ s in MPI_Win_allocate for other ranks" || return 1
        rank=$((rank + 1))
    done
}

MPIRMA_HANG_REPORT=0.1 sh "$abs_top_srcdir/test/mpiexec.sh" "$np" "$bin/late_rank" "$tmp/come" >"$tmp/out" 2>&1 </dev/null &
launcher=$!
wait_for 20 all_say_so || bad "not all ranks have said that they wait:"
: >"$tmp/come"
wait "$launcher" || bad "exit code $?"

mpirun "$np" "$bin/late_rank" "$tmp/come"
test "$rc" = 0 || bad "exit code $rc"
seen 'waits for' && bad "a report that nobody has asked for:"
finish
