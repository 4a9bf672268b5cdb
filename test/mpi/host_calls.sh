#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_calls.sh - who serves a process that waits in MPI_Recv, by the statistics of 2000 accumulates with a flush each:
# where the host lets the library into its progress (Open MPI) the waiting thread does, by packets and without its
# agent; elsewhere the origin goes by the kernel, and on the path of packets the agent serves.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MPIRMA_STATS=1
export MPIRMA_STATS
count=2000
last=$((np - 1))

# number RANK BEFORE AFTER: what stands between two texts in the statistics of a rank.
number() {
    sed -n "s/.*libmpi-rma\[$1\] stats:.*$2\([0-9]*\)$3.*/\1/p" "$tmp/out" | tail -n 1
}

mpirun "$np" "$bin/host_calls" served $count
test "$rc" = 0 || bad "exit code $rc"
by_packet=$(number 0 'cma by packet ' ',')
received=$(number "$last" 'received ' ' ')
wakeups=$(number "$last" 'agent wake-ups ' ',')
if test "$MPI_PATH" = packets; then
    test "${received:-0}" -ge $count || bad "rank $last received ${received:-no} packets for $count operations"
fi
if test "$MPI_HOST" = openmpi && test "$(nproc)" -ge "$np"; then
    test "$MPI_PATH" = packets || test "${by_packet:-0}" -ge $((count / 2)) ||
        bad "only ${by_packet:-none} of $count operations went by packet"
    test "${wakeups:-9999}" -lt $((count / 4)) ||
        bad "the agent of rank $last was woken ${wakeups:-?} times for $count operations"
elif test "$MPI_PATH" != packets; then
    test "${by_packet:-1}" -le $((count / 100)) || bad "$by_packet of $count operations went by packet, not by the kernel"
fi
finish
