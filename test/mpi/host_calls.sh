#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_calls.sh - who serves a process that waits in MPI_Recv, by the statistics of 2000 accumulates with a flush each:
# where the host lets the library into its progress the waiting thread does, by packets and without its agent: on Open
# MPI for all that comes, on MPICH from 4.3 on or with UCX for what comes over the network. Elsewhere the origin goes by the kernel,
# and on the paths of packets the agent serves.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS
count=2000
last=$((np - 1))

mpirun "$np" "$bin/host_calls" served $count
test "$rc" = 0 || bad "exit code $rc"
lets_in=$(sed -n 's/^lets in: //p' "$tmp/out")
by_packet=$(counter 0 cma_by_packet)
received=$(counter "$last" packets_received)
wakeups=$(counter "$last" agent_wakeups)
served=$(counter "$last" host_served)
case $lets_in in
all) joined=yes ;;
network) test "$MPI_PATH" = net && joined=yes || joined=no ;;
nothing) joined=no ;;
*) bad "the program says that the host lets in '$lets_in'" ;;
esac
if test "$MPI_PATH" != auto; then
    test "$received" -ge $count || bad "rank $last received $received packets for $count operations"
fi
if test "$joined" = no; then
    test "$served" = 0 || bad "the host of rank $last let the library in $served times, which it cannot"
    if test "$MPI_PATH" = auto; then
        test "$by_packet" -le $((count / 100)) || bad "$by_packet of $count operations went by packet, not by the kernel"
    fi
elif test "$(nproc)" -ge "$np"; then
    # Nearly all where the processors are free; a busy machine leaves the waiting thread without one now and then.
    test "$MPI_PATH" != auto || test "$by_packet" -ge $((count / 10)) ||
        bad "only $by_packet of $count operations went by packet"
    test "$served" -ge $((count / 100)) ||
        bad "calls of the host have served rank $last only $served times for $count operations"
    test "$lets_in" = network || test "$wakeups" -lt $((count * 3 / 4)) ||
        bad "the agent of rank $last was woken $wakeups times for $count operations"
fi
finish
