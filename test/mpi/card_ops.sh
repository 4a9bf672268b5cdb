#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# card_ops.sh ROUNDS [dynamic] - in passive target epochs over a card, puts, gets and flushes are what the card is asked for, no more:
# runs "card_ops" over the test provider with ROUNDS rounds and with twice as many, and looks at the difference between
# what the provider has counted in the two.
#
# A round of a rank has 64 + 1 + 64 contiguous puts, one of four pieces, two contiguous gets and one of four pieces: 133 writes
# and 6 reads. Where a flush reads behind its puts, its four flushes with puts in front add a read each. No process gets
# anything else to hear of, so completions are as many as writes and reads; and no message goes, but at each half
# second that a rank has waited, when it asks whether the target is there.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=140
rounds=$1 kind=$2
FABRIC_COUNTS_FILE=$tmp/counts
export FABRIC_COUNTS_FILE

case $FABRIC_PROFILE in
verbs) reads=10 ;;
*) reads=6 ;;
esac

# run ROUNDS [VARIABLE=VALUE]: sets $writes_now and its like, and $few, which is how many messages may have asked for targets
run() {
    n=$1
    shift
    rm -f "$tmp/counts"
    began=$(date +%s)
    # shellcheck disable=SC2086 # nothing, or a word
    mpirun "$np" env "$@" "$bin/card_ops" "$n" $kind
    few=$((np * (6 + 2 * ($(date +%s) - began))))
    test "$rc" = 0 || bad "$n rounds: exit code $rc"
    writes_now=$(total writes)
    reads_now=$(total reads)
    messages_now=$(($(total sends) + $(total injects)))
    completions_now=$(total completions)
    test "$(total violations)" = 0 || bad "$n rounds: violations"
}

# twice [VARIABLE=VALUE]: sets $writes and its like to what ROUNDS more rounds take
twice() {
    run "$rounds" "$@"
    writes_before=$writes_now reads_before=$reads_now
    messages_before=$messages_now completions_before=$completions_now
    run $((2 * rounds)) "$@"
    writes_more=$((writes_now - writes_before))
    reads_more=$((reads_now - reads_before))
    messages_more=$((messages_now - messages_before))
    completions_more=$((completions_now - completions_before))
}

twice
all=$((np * rounds))
test "$writes_more" = $((133 * all)) || bad "$all rounds: $writes_more writes, not $((133 * all))"
test "$reads_more" = $((reads * all)) || bad "$all rounds: $reads_more reads, not $((reads * all))"
test "$messages_more" -le "$few" || bad "$all rounds: $messages_more messages"
test "$completions_more" -le $((writes_more + reads_more + few)) ||
    bad "$all rounds: $completions_more completions of $((writes_more + reads_more)) operations"

# The same by packets is another count: what is above can fail.
twice MPIRMA_TUNE=rdma_min_passive=8192
test "$writes_more" -lt $((3 * all)) || bad "by packets: $writes_more writes in $all rounds"
test "$messages_more" -ge "$all" || bad "by packets: $messages_more messages in $all rounds"
finish
