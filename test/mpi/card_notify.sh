#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# card_notify.sh BLOCKS - in the midst of a passive target epoch a contiguous notified put is one write of the card with
# a word for the target, and nothing else: runs "card_notify" over the test provider with BLOCKS blocks and with twice as many,
# and looks at the difference between what the provider has counted in the two.
#
# A block of a rank is two notified puts: 2 writes, each of which takes a word with it, and 2 words of its neighbours. So there
# are 4 completions, no read, and no message, but at each half second that a rank has waited, when it asks whether the target is
# there.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=140
blocks=$1
FABRIC_COUNTS_FILE=$tmp/counts
export FABRIC_COUNTS_FILE

# run BLOCKS [VARIABLE=VALUE]: sets $now, all the counts that are compared, and $few, which is how many messages may have asked
# for targets
names="writes with words reads messages completions"
run() {
    n=$1
    shift
    rm -f "$tmp/counts"
    began=$(date +%s)
    mpirun "$np" env "$@" "$bin/card_notify" "$n"
    few=$((np * (6 + 2 * ($(date +%s) - began))))
    test "$rc" = 0 || bad "$n blocks: exit code $rc"
    test "$(total violations)" = 0 || bad "$n blocks: violations"
    now="$(total writes) $(total writes_with_word) $(total words) $(total reads) $(($(total sends) + $(total injects))) \
$(total completions)"
}

twice "$blocks"
all=$((np * blocks))
# shellcheck disable=SC2154 # set by twice
{
    test "$more_writes" = $((2 * all)) || bad "$all blocks: $more_writes writes, not $((2 * all))"
    test "$more_with" = $((2 * all)) || bad "$all blocks: $more_with writes with a word, not $((2 * all))"
    test "$more_words" = $((2 * all)) || bad "$all blocks: $more_words words, not $((2 * all))"
    test "$more_reads" = 0 || bad "$all blocks: $more_reads reads"
    test "$more_messages" -le "$few" || bad "$all blocks: $more_messages messages"
    test "$more_completions" -le $((4 * all + few)) || bad "$all blocks: $more_completions completions"
}

# The same on a card that tells no words is another count: what is above can fail.
twice "$blocks" FABRIC_RULES=cq_data=0
test "$more_with" = 0 || bad "without words: $more_with writes with a word"
test "$more_messages" -ge "$all" || bad "without words: $more_messages messages in $all blocks"
finish
