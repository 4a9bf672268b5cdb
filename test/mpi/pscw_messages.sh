#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pscw_messages.sh - a small epoch of post, start, complete and wait between two processes that put to each other is one packet of
# each, by the statistics.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS

# within EPOCHS PACKETS: each rank has sent a packet for each epoch, and no more packets than that
within() {
    rank=0
    while test "$rank" -lt "$np"; do
        sent=$(counter "$rank" packets_sent)
        test "$sent" -ge "$1" || bad "rank $rank has counted $sent packets in $1 epochs"
        test "$sent" -le "$2" || return 1
        rank=$((rank + 1))
    done
}

# most BYTES EPOCHS PACKETS: no rank sends more packets than that in so many epochs. An agent would send puts whose process is kept from
# its processor in the midst of an epoch, so there is none.
most() {
    mpirun "$np" env MPIRMA_PROGRESS=poll "$bin/pscw_messages" "$2" "$1"
    test "$rc" = 0 || bad "$2 epochs of $1 bytes: exit code $rc"
    within "$2" "$3" || bad "rank $rank has sent $sent packets in $2 epochs of $1 bytes"
}

most 16 10000 10100
most 4096 10000 10100
finish
