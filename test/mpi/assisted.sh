#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# assisted.sh - operations on kernel-assisted memory whose owner, the last rank, waits, computes, or does both:
# results are the same whichever way they go. By the statistics, nothing goes by packet to a target that may have no
# processor, or that has no agent to take over.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=100
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS

mpirun "$np" "$bin/assisted"
test "$rc" = 0 || bad "exit code $rc"
if test "$(nproc)" -lt "$np"; then
    test "$(counter 0 cma_by_packet)" = 0 || bad "sent to a target that may not be running"
elif test "$MPI_HOST" = openmpi; then
    test "$(counter 0 cma_by_packet)" -gt 0 || bad "nothing went by packet to a target that waits"
fi
# Both ranks origins and targets at once.
mpirun "$np" "$bin/both_ways" 20000
test "$rc" = 0 || bad "both ways: exit code $rc"
MPIRMA_PROGRESS=poll
export MPIRMA_PROGRESS
mpirun "$np" "$bin/assisted"
test "$rc" = 0 || bad "without an agent: exit code $rc"
test "$(counter 0 cma_by_packet)" = 0 || bad "sent to a target without an agent that takes over"
finish
