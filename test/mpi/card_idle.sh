#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# card_idle.sh ROUNDS [dynamic] - put, get, flush and atomic operations on an idle target are calls of the provider at the
# origin and nothing at the target: runs "card_idle" over the test provider with ROUNDS rounds and with twice as many, and
# looks at the difference between what the provider and the library have counted in the two.
#
# A round has one put, one get and three atomic operations: 1 write, 1 read and 3 atomic operations of the provider, whose
# completions are all that there are, and where a flush reads behind its puts, a read more. In a dynamic window it has no
# atomic operations. The target gets no packet, and its agent is not woken. Only at each half second that the origin has waited
# it asks whether the target is there.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=140
rounds=$1 kind=$2
MPIRMA_STATS=$tmp/stats.csv
FABRIC_COUNTS_FILE=$tmp/counts
export MPIRMA_STATS FABRIC_COUNTS_FILE

case $FABRIC_PROFILE in
verbs) reads=2 ;;
*) reads=1 ;;
esac
case $kind in
dynamic) atomics=0 ;;
*) atomics=3 ;;
esac

# run ROUNDS [packets|dynamic]: sets $now, all the counts that are compared, in the order of their names, and $few, which is how
# many messages may have asked for the target
names="writes reads atomics messages completions packets wakeups"
run() {
    rm -f "$tmp/counts"
    began=$(date +%s)
    mpirun "$np" "$bin/card_idle" "$@"
    few=$((np * (6 + 2 * ($(date +%s) - began))))
    test "$rc" = 0 || bad "$*: exit code $rc"
    test "$(total violations)" = 0 || bad "$*: violations"
    now="$(total writes) $(total reads) $(total atomics) $(($(total sends) + $(total injects))) $(total completions) \
$(counter 0 packets_received) $(counter 0 agent_wakeups)"
}

# The agent of a process whose window is being made, or freed, may sleep and wake up some dozens of times, or not at all. An
# operation that woke it would be seen in every run.
attempts=1
# shellcheck disable=SC2086 # nothing, or a word
twice "$rounds" $kind
while test "$more_wakeups" -gt "$few" && test "$attempts" -lt 5; do
    attempts=$((attempts + 1))
    # shellcheck disable=SC2086
    twice "$rounds" $kind
done
test "$more_writes" = "$rounds" || bad "$rounds rounds: $more_writes writes"
test "$more_reads" = $((reads * rounds)) || bad "$rounds rounds: $more_reads reads"
test "$more_atomics" = $((atomics * rounds)) || bad "$rounds rounds: $more_atomics atomic operations"
test "$more_messages" -le "$few" || bad "$rounds rounds: $more_messages messages"
test "$more_completions" -le $((more_writes + more_reads + more_atomics + few)) ||
    bad "$rounds rounds: $more_completions completions"
test "$more_packets" -le "$few" || bad "$rounds rounds: the target got $more_packets packets"
test "$more_wakeups" -le "$few" || bad "$rounds rounds: the target's agent was woken $more_wakeups times"

# The same by packets is another count: what is above can fail. How often that wakes the agent says nothing, since it finds
# several packets when it wakes up, and stays awake while more come.
MPIRMA_TUNE=rdma_min_passive=8192
export MPIRMA_TUNE
twice "$rounds" ${kind:-packets}
test "$more_atomics" = 0 || bad "by packets: $more_atomics atomic operations"
test "$more_packets" -ge "$rounds" || bad "by packets: the target got $more_packets packets in $rounds rounds"
finish
