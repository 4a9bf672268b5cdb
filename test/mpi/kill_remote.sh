#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kill_remote.sh - a rank on another machine is killed in the middle of epochs and operations
# (kill_victim), and the launcher leaves the others alone: their calls end with
# an error in bounded time, whose message names the rank; no crash, and nothing is left
# behind. Needs the machines of netns/netns.sh.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -n "$NETNS_DIR" || skip_all "needs network namespaces"
shm_before

machine_of() { # rank
    readlink "/proc/$(cat "$pids/pid.$1")/ns/net"
}

export MPIEXEC_KEEP=1
start_victims epochs
if wait_for 30 all_started; then
    sleep 1
    test "$(machine_of 0)" != "$(machine_of 1)" || bad "ranks 0 and 1 are on one machine"
    kill -KILL "$(cat "$pids/pid.1")" || bad "the victim had already ended"
    check_error 10 "rank 1 was killed"
    seen 'rank 1 of window' || bad "no message names rank 1:"
    lives "$(cat "$pids/pid.0")" || bad "rank 0 has been ended by its launcher: this tests nothing"
else
    bad "the ranks did not start"
fi
end_victims
wait_for 10 nobody_lives || bad "ranks live 10 s after they were killed"
shm_after "a rank was killed"
finish
