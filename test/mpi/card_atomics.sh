#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# card_atomics.sh ROUNDS [sum_cas] - where a window's accumulates are the card's, they are what the card is asked for, no more:
# runs "card_atomics" over the test provider with ROUNDS rounds and with twice as many, and looks at the difference between
# what the provider has counted in the two.
#
# A round of a rank has 5 of MPI_Fetch_and_op, one of them on its own memory, 2 of MPI_Compare_and_swap, and one each of
# MPI_Accumulate and MPI_Get_accumulate with 8 elements, which are one operation of the card or 8, by how many it takes. No
# process gets anything else to hear of, so completions are as many; and no message goes, but at each half second that a
# rank has waited, when it asks whether the target is there. Such a question has two completions: the sender's and the target's.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=140
rounds=$1
FABRIC_COUNTS_FILE=$tmp/counts
export FABRIC_COUNTS_FILE

case $FABRIC_PROFILE in
verbs | cxi) each=$((5 + 2 + 8 + 8)) ;;
*) each=$((5 + 2 + 1 + 1)) ;;
esac

# run ROUNDS WHAT [sum_cas]: sets $atomics_now and its like, and $few, which is how many messages may have asked for targets
run() {
    rm -f "$tmp/counts"
    began=$(date +%s)
    mpirun "$np" "$bin/card_atomics" "$@"
    few=$((np * (6 + 2 * ($(date +%s) - began))))
    test "$rc" = 0 || bad "$*: exit code $rc"
    atomics_now=$(total atomics)
    messages_now=$(($(total sends) + $(total injects)))
    completions_now=$(total completions)
    others_now=$(($(total writes) + $(total reads)))
    test "$(total violations)" = 0 || bad "$*: violations"
}

run "$rounds" count "$2"
atomics_before=$atomics_now messages_before=$messages_now completions_before=$completions_now others_before=$others_now
run $((2 * rounds)) count "$2"
atomics_more=$((atomics_now - atomics_before))
messages_more=$((messages_now - messages_before))
completions_more=$((completions_now - completions_before))
all=$((np * rounds))
test "$atomics_more" = $((each * all)) || bad "$all rounds: $atomics_more atomic operations, not $((each * all))"
test "$messages_more" -le "$few" || bad "$all rounds: $messages_more messages"
test "$others_now" = "$others_before" || bad "$all rounds: $((others_now - others_before)) writes and reads"
test "$completions_more" -le $((atomics_more + 2 * few)) ||
    bad "$all rounds: $completions_more completions of $atomics_more operations"

# The same where a card lies about its sum (FI_SUM is 2), which the library finds out: the counts are others, so what is above
# can fail.
FABRIC_RULES=${FABRIC_RULES:+$FABRIC_RULES,}atomics_lie=3
export FABRIC_RULES
run "$rounds" refused "$2"
test "$messages_now" -ge "$all" || bad "by packets: $messages_now messages in $all rounds"
finish
