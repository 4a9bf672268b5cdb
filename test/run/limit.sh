# SPDX-License-Identifier: BSD-3-Clause
# limit.sh - run a command for a limited time, and let nothing of it outlive it. Read by
# run-list.sh and by scripts/check-apps.sh; makes the directory $tmp, which goes with the
# shell that read this file. A subshell that runs commands beside others calls own_runs first.
#
# Every process of a run carries MTEST_RUN_ID in its environment. By it a run that
# takes too long is found, described and killed as a whole (launchers put ranks
# into process groups of their own).

run_id=none
runs=0

# The processes of the present run that still live.
members() {
    (set +f && grep -lszxF "MTEST_RUN_ID=$run_id" /proc/[0-9]*/environ) | sed 's|/proc/||;s|/.*||'
}

kill_members() {
    for pid in $(members); do
        kill -s "$1" "$pid" 2>/dev/null
    done
}

finish() {
    kill_members KILL
    test -z "$watching" || echo >&4
    rm -rf "$tmp"
}

# The directory of this shell, and what it does in the end. Runs of a subshell have numbers of their own, which begin with its name.
own_runs() { # [NAME]
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-test.XXXXXX") || exit 1
    watching=
    lane=$1
    trap finish EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}
own_runs

# What each process of a run that takes too long is doing.
describe_members() {
    for pid in $(members); do
        state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null)
        wchan=$(cat "/proc/$pid/wchan" 2>/dev/null)
        ticks=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f12,13)
        command=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)
        echo "pid $pid: $state, in ${wchan:-?}, user and system ticks $ticks: $command"
    done
}

# Run "$@" for at most $1 seconds, output to $tmp/out; the exit code in $rc,
# $tmp/hung made if it took too long.
run_limited() {
    limit=$1
    shift
    runs=$((runs + 1))
    run_id=$$.$lane$runs.$(date +%s)
    rm -f "$tmp/hung" "$tmp/over"
    mkfifo "$tmp/over" || exit 1
    exec 4<>"$tmp/over"
    env "MTEST_RUN_ID=$run_id" "$@" >"$tmp/out" 2>&1 </dev/null 3<&- 4<&- &
    job=$!
    watchdog "$limit" </dev/null >/dev/null 2>&1 3<&- &
    watching=$!
    wait "$job"
    rc=$?
    echo >&4
    wait "$watching"
    exec 4<&-
    watching=
    kill_members KILL
}

# Ends when a line comes on descriptor 4 (a signal could be lost while the shell
# forks), or after $1 seconds: then the run is described and killed.
watchdog() {
    timeout "$1" head -n 1 <&4
    test $? = 124 || return 0
    describe_members >"$tmp/hung"
    kill_members TERM
    sleep 2
    kill_members KILL
}

# The time since boot in hundredths of a second.
centiseconds() {
    read -r up rest </proc/uptime
    echo "${up%.*}${up#*.}"
}
