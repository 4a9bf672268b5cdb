#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_calls.sh - who serves a process that waits in MPI_Recv, by the statistics of 2000 accumulates with a flush each:
# where the host lets the library into its progress (Open MPI, MPICH from 4.3 on or with UCX) the waiting thread does, by packets and
# without its agent. Elsewhere the origin goes by the kernel, and on the paths of packets the agent serves.
#
# The waiting thread may have no processor on a busy machine; the origin sees that, and goes by the kernel. So the job is repeated until
# the thread has served.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS
count=2000
last=$((np - 1))

serve() {
    mpirun "$np" "$bin/host_calls" served $count
    test "$rc" = 0 || bad "exit code $rc"
    joined=$(sed -n 's/^lets in: //p' "$tmp/out")
    by_packet=$(counter 0 cma_by_packet)
    received=$(counter "$last" packets_received)
    wakeups=$(counter "$last" agent_wakeups)
    served=$(counter "$last" host_served)
    test "$MPI_PATH" = auto || test "$received" -ge $count ||
        bad "rank $last received $received packets for $count operations"
}

# Nearly all where the processors are free.
has_served() {
    { test "$MPI_PATH" != auto || test "$by_packet" -ge $((count / 10)); } && test "$served" -ge $((count / 100)) &&
        test "$wakeups" -lt $((count * 3 / 4))
}

serve
case $joined in
no)
    test "$served" = 0 || bad "the host of rank $last let the library in $served times, which it cannot"
    test "$MPI_PATH" != auto || test "$by_packet" -le $((count / 100)) ||
        bad "$by_packet of $count operations went by packet, not by the kernel"
    ;;
yes)
    tries=1
    while test "$(nproc)" -ge "$np" && ! has_served && test $tries -lt 30; do
        tries=$((tries + 1))
        serve
    done
    test "$(nproc)" -lt "$np" || has_served ||
        bad "$by_packet of $count operations went by packet, calls of the host served $served times, the agent woke up $wakeups times"
    ;;
*) bad "the program says that the host lets in '$joined'" ;;
esac
finish
