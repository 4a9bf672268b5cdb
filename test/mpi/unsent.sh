#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# unsent.sh - operations with requests that are issued in a row share packets, and the agent sleeps again when nothing is
# unsent any more (unsent.c). By the statistics: in each of the four kinds as many packets would leave as there are
# operations, if each left alone, and the agent would look thousands of times, if it looked on.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS

mpirun "$np" "$bin/unsent" requests
test "$rc" = 0 || bad "requests: exit code $rc"
sent=$(counter 0 packets_sent) # its own, and the answers to its partner's
test "$sent" -lt 4000 || bad "4 times 4000 operations with requests took $sent packets"

mpirun "$np" "$bin/unsent" idle
test "$rc" = 0 || bad "idle: exit code $rc"
woken=$(counter 0 agent_wakeups)
test "$woken" -lt 600 || bad "the agent woke up $woken times in three seconds"
finish
