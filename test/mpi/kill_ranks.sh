#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kill_ranks.sh - SIGKILL at random moments leaves nothing behind.
#
# kill_victim keeps creating windows and doing RMA. One rank, or all, are killed
# after a random time (during start-up of the first windows, too); then the
# launcher must end, no rank may live, and neither /dev/shm nor the segment
# directory may hold anything. MTEST_SEED repeats the sequence of moments.

. "$abs_top_srcdir/test/mpi/mtest.sh"
seed=${MTEST_SEED:-$(date +%s)}
echo "kill_ranks.sh: MTEST_SEED=$seed"
rounds=${MTEST_ROUNDS:-4}
shm_before

round=0
while test "$round" -lt "$rounds"; do
    round=$((round + 1))
    rm -rf "$tmp/segments"
    mkdir "$tmp/segments"
    if test $((round % 2)) = 0; then
        dir=$tmp/segments
    else
        dir=
    fi
    # shellcheck disable=SC2046 # three words
    set -- $(awk -v s="$seed" -v r="$round" -v n="$np" \
        'BEGIN { srand(s + r); printf "%.3f %d %d", rand() * rand() * 1.2, 1 + rand() * n, rand() < 0.3 }')
    delay=$1 which=$2 everybody=$3
    export MPIRMA_SEGMENT_DIR="$dir"
    start_victims
    if ! wait_for 20 all_started; then
        bad "round $round: the ranks did not start"
        kill "$launcher" 2>/dev/null
        break
    fi
    sleep "$delay"
    victims=$(pids | sed -n "${which}p")
    test "$everybody" = 0 || victims=$(pids)
    # shellcheck disable=SC2086
    kill -KILL $victims 2>/dev/null || bad "round $round: the victim had already ended"
    if ! wait_for 20 launcher_gone; then
        bad "round $round: the launcher lives 20 s after the kill (delay $delay)"
        kill "$launcher" 2>/dev/null
    fi
    # Its exit code tells nothing: that of MPICH 4.2 is at times 0 when a process of any program is killed.
    wait "$launcher"
    seen 'signal 11|segmentation|bus error' && bad "round $round: a survivor crashed:"
    if ! wait_for 10 nobody_lives; then
        bad "round $round: ranks live 10 s after the launcher ended (delay $delay)"
        # shellcheck disable=SC2046
        kill -KILL $(pids) 2>/dev/null
    fi
    dir_is_empty "$tmp/segments" "round $round"
    shm_after "round $round"
done
finish
