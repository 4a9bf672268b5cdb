#!/bin/sh
# link_down.sh - a machine leaves the network while its rank is in the middle of windows,
# epochs and operations (kill_victim): the other's call ends with an error in bounded
# time, whose message names the rank; no crash, and nothing is left behind. Needs the
# machines of netns/netns.sh.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -n "$NETNS_DIR" || skip_all "needs network namespaces"
seconds=${MTEST_LINK_SECONDS:-60}
shm_before
mkdir "$tmp/pids"

pids() {
    set +f
    cat "$tmp"/pids/pid.* 2>/dev/null
    set -f
}

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
    tries=$(($1 * 5))
    shift
    while test "$tries" -gt 0; do
        "$@" && return 0
        sleep 0.2
        tries=$((tries - 1))
    done
    return 1
}

both_started() {
    test "$(pids | wc -l)" = 2
}

# What the program says of it may not come through a launcher that is cut off, too: the
# library's line of a call that returns an error counts as well.
error_seen() {
    seen 'kill_victim.*expected MPI_SUCCESS, saw' || seen 'error: MPI_[A-Za-z_]*: PROC_FAILED'
}

sh "$abs_top_srcdir/test/mpiexec.sh" 2 "$bin/kill_victim" "$tmp/pids" >"$tmp/out" 2>&1 </dev/null &
launcher=$!
if wait_for 30 both_started; then
    sleep 2
    sh "$abs_top_srcdir/test/netns/link.sh" node2 down
    began=$(date +%s)
    # The first error may come from another call than the one that was cut off.
    wait_for "$seconds" error_seen || bad "no call has returned an error $seconds s after the link went down"
    echo "an error after $(($(date +%s) - began)) s"
    seen 'error.*rank [01] of window' || bad "no message names the rank that is lost:"
    seen 'signal 11|segmentation|bus error' && bad "a rank crashed:"
else
    bad "the ranks did not start"
fi
# The launcher on the first machine no longer reaches the second.
# shellcheck disable=SC2046
kill -KILL $(pids) 2>/dev/null
kill "$launcher" 2>/dev/null
wait "$launcher"
shm_after "the link went down"
sh "$abs_top_srcdir/test/netns/link.sh" node2 up
finish
