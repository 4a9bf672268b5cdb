#!/bin/sh
# barrier.sh - who waits in MPI_Barrier serves packets itself, and not by its agent: by the
# statistics of the last rank, on which rank 0 does 2000 operations, each with a flush.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MPIRMA_STATS=1
export MPIRMA_STATS

# At the last rank: the number that comes before or behind a text.
last=$((np - 1))
number() {
    sed -n "s/.*libmpi-rma\[$last\] stats:.*$1.*/\1/p" "$tmp/out" | tail -n 1
}

mpirun "$np" "$bin/barrier" served
test "$rc" = 0 || bad "exit code $rc"
received=$(number 'received \([0-9]*\)')
wakeups=$(number 'agent wake-ups \([0-9]*\)')
test "${received:-0}" -ge 2000 || bad "rank $last received ${received:-no} packets for 2000 operations"
test "${wakeups:-9999}" -lt 600 || bad "the agent of rank $last was woken ${wakeups:-?} times for 2000 operations"
finish
