#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# link_down.sh - a machine leaves the network while its rank is in the middle of
# epochs and operations (kill_victim): the other's call ends with an error in bounded time,
# whose message names the rank; no crash, and nothing is left behind. Needs the machines
# of netns/netns.sh, or those of scripts/fabric.sh, where the second one is switched off.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -n "$NETNS_HOSTS" || skip_all "needs two machines"
link=$abs_top_srcdir/test/${MACHINES:-netns}/link.sh
seconds=${MTEST_LINK_SECONDS:-100} # what survivors say comes through a launcher that may itself wait for the network
shm_before
# The pretended machines serve other tests after this one.
trap 'test -n "$MACHINES" || sh "$link" node2 up; rm -rf "$tmp"' EXIT

start_victims epochs
if wait_for 60 all_used; then
    sleep 1
    sh "$link" node2 down
    # The first error may come from another call than the one that was cut off.
    check_error "$seconds" "the link went down"
else
    bad "the ranks did not start"
fi
end_victims # the launcher on the first machine no longer reaches the second
shm_after "the link went down"
finish
