#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_calls.sh - who serves a process that waits in MPI_Recv, by the statistics of 2000 accumulates with a flush each:
# where the host lets the library into its progress (Open MPI) the waiting thread does, by packets and without its
# agent, over the network, too; elsewhere the origin goes by the kernel, and on the paths of packets the agent serves.

. "$abs_top_srcdir/test/mpi/mtest.sh"
need_counters
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS
count=2000
last=$((np - 1))

mpirun "$np" "$bin/host_calls" served $count
test "$rc" = 0 || bad "exit code $rc"
by_packet=$(counter 0 cma_by_packet)
received=$(counter "$last" packets_received)
wakeups=$(counter "$last" agent_wakeups)
if test "$MPI_PATH" != auto; then
    test "$received" -ge $count || bad "rank $last received $received packets for $count operations"
fi
if test "$MPI_HOST" = openmpi && test "$(nproc)" -ge "$np"; then
    # Nearly all where the processors are free; a busy machine leaves the waiting thread without one now and then.
    test "$MPI_PATH" != auto || test "$by_packet" -ge $((count / 10)) ||
        bad "only $by_packet of $count operations went by packet"
    test "$wakeups" -lt $((count * 3 / 4)) ||
        bad "the agent of rank $last was woken $wakeups times for $count operations"
elif test "$MPI_PATH" = auto; then
    test "$by_packet" -le $((count / 100)) || bad "$by_packet of $count operations went by packet, not by the kernel"
fi
finish
