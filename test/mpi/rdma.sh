#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma.sh - large puts and gets over the network go without packets, and are right
# either way: runs the program "rdma" with and without, and looks at the statistics.
#
# Every rank but 0 does 37 puts and 37 gets with each of three sizes that are large
# enough, rank 0 has its turns (20 of the 37) on itself.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=100
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS

# The setting, puts and gets without packets at rank 0, and at each other rank
run() {
    what=$1
    mpirun "$np" env "$1" "$bin/rdma"
    test "$rc" = 0 || bad "$what: exit code $rc"
    rank=0
    while test "$rank" -lt "$np"; do
        count=$2
        test "$rank" = 0 || count=$3
        test "$(counter "$rank" rdma_puts)-$(counter "$rank" rdma_gets)" = "$count-$count" ||
            bad "$what: rank $rank did not put and get $count times without packets"
        rank=$((rank + 1))
    done
}

run MPIRMA_OFI_RDMA=on 51 111
run MPIRMA_OFI_RDMA=off 0 0
MPIRMA_FENCE=counts
export MPIRMA_FENCE
run MPIRMA_OFI_RDMA=on 51 111

# Notifications go with puts where that is asked for, and as packets where it is not: each rank puts 100 blocks, every
# second of which is large enough.
for setting in on off auto; do
    mpirun "$np" env MPIRMA_TUNE=rdma_notify=$setting "$bin/card_notify" 100 large
    test "$rc" = 0 || bad "notifications, $setting: exit code $rc"
    words=$(counter all rdma_words)
    case $setting in
    on) test "$words" = $((50 * np)) || bad "$words notifications went with puts, not $((50 * np))" ;;
    *) test "$words" = 0 || bad "$setting: $words notifications went with puts" ;;
    esac
done
finish
