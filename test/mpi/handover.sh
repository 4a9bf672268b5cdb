#!/bin/sh
# handover.sh - where the last rank, on whose memory the others operate, waits in MPI_Barrier on a
# processor of its own, it does the operations itself, as rank 0's statistics say; results are
# the same either way. So where both ranks operate on each other's memory at the same time.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=100
MPIRMA_STATS=1
export MPIRMA_STATS

mpirun "$np" "$bin/handover"
test "$rc" = 0 || bad "exit code $rc"
if test "$(nproc)" -lt "$np"; then
    seen '\[0\] stats:.* handed over 0,' || bad "handed over to a target that may not be running"
else
    seen '\[0\] stats:.* handed over [1-9]' || bad "nothing was handed over"
fi
# Both ranks origins and targets at once: each does the other's while it waits for its own.
mpirun "$np" "$bin/both_ways" 20000
test "$rc" = 0 || bad "both ways: exit code $rc"
if test "$(nproc)" -ge "$np"; then
    for rank in 0 1; do
        seen "\[$rank\] stats:.* handed over [1-9][0-9][0-9][0-9]" || bad "both ways: rank $rank has handed over next to nothing"
    done
fi
MPIRMA_PROGRESS=poll
export MPIRMA_PROGRESS
mpirun "$np" "$bin/handover"
test "$rc" = 0 || bad "without an agent: exit code $rc"
seen '\[0\] stats:.* handed over 0,' || bad "handed over where no agent takes over from the target"
finish
