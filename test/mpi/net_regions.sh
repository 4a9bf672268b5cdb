#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# net_regions.sh - how regions of dynamic windows are registered with the network: runs "net_regions many" over the test
# provider as it is, with a provider that registers only so many, and without remote access, and looks at the statistics.
#
# Each rank attaches 200 regions, and 100 of them again after each of three rounds, in each of which its left neighbour uses
# them all.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=140
MPIRMA_STATS=$tmp/stats.csv
export MPIRMA_STATS

# run [VARIABLE=VALUE]
run() {
    what=${1:-as it is}
    mpirun "$np" env "$@" "$bin/net_regions" many
    test "$rc" = 0 || bad "$what: exit code $rc"
}

# check CONDITION...: a condition of test(1) that holds at rank $rank
check() {
    test "$@" || bad "$what: rank $rank: $*"
}

# each FUNCTION: calls it for each rank
each() {
    rank=0
    while test "$rank" -lt "$np"; do
        registered=$(counter "$rank" regions_registered)
        unregistered=$(counter "$rank" regions_unregistered)
        asked=$(counter "$rank" regions_asked)
        puts=$(counter "$rank" rdma_puts)
        "$1"
        rank=$((rank + 1))
    done
}

# A region is asked for once as long as it is attached: 200, and 100 again in the second and in the third round. So many are
# registered, and not those that nobody uses.
all_registered() {
    check "$registered-$unregistered" = 400-0
    check "$asked" = 400
}
run
each all_registered

# The provider's limit is on all registrations, those of the library's own buffers included.
some_registered() {
    check "$registered" -gt 0
    check "$registered" -lt 120
    check $((registered + unregistered)) = 400
    check "$asked" = 400
}
run FABRIC_RULES=mr_fail_after=120
each some_registered

none_registered() {
    check "$registered-$unregistered-$asked-$puts" = 0-0-0-0
}
run MPIRMA_OFI_RDMA=off
each none_registered
finish
