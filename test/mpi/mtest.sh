# SPDX-License-Identifier: BSD-3-Clause
# mtest.sh - what the shell tests here share; sourced by them, started by run-list.sh.
#
# Needs test/run/env.sh's variables (abs_top_builddir, MPI_HOST, MPIEXEC, ...). A test
# calls ok or bad once per check, and finish at the end: exit code 1 if any was bad.
# Everything goes to a private directory $tmp that is removed at the end.

set -f
bin=${abs_top_builddir:?started by run-list.sh}/test/mpi
np=${MPI_NPROCS:-2}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-mtest.XXXXXX") || exit 1
mt_bad=0
: "${MT_SLOW:=1}" # run-list.sh knows
trap 'rm -rf "$tmp"' EXIT
trap 'exit 143' INT TERM HUP

# mpirun NPROCS COMMAND...: under mpiexec, output to $tmp/out, exit code in $rc, which is 124 where the job has taken longer
# than MT_LIMIT seconds, by default 40, or MT_SLOW times that.
mpirun() {
    mt_n=$1
    shift
    for mt_try in 1 2 3; do
        rm -f "$tmp/stats.csv"
        MT_JOB=$$.$(date +%s%N) # its processes are found by it
        MT_JOB=$MT_JOB timeout -k 5 $((${MT_LIMIT:-40} * MT_SLOW)) sh "$abs_top_srcdir/test/run/mpiexec.sh" "$mt_n" "$@" \
            >"$tmp/out" 2>&1 </dev/null
        rc=$?
        launcher_gave_up || return 0
        echo "try $mt_try: the launcher has left processes of an aborted job"
        # shellcheck disable=SC2046 # numbers
        kill -KILL $(job_alive)
    done
}

# job_alive: the processes of the last mpirun that run; zombies wait for their launcher only.
job_alive() {
    set +f
    for file in $(grep -lszxF "MT_JOB=$MT_JOB" /proc/[0-9]*/environ); do
        proc=${file%/environ}
        grep -q '^State:[[:space:]]*Z' "$proc/status" 2>/dev/null || echo "${proc#/proc/}"
    done
    set -f
}

# MPICH's launcher gives its helper on a node less than a second to end the ranks of an aborted job, counted in whole
# seconds of the clock: when a second ends in between, it kills the helper first, and where that has not ended all ranks yet,
# they live on and the launcher waits for ever. (4.0.2: HYDT_bscu_wait_for_completion with a limit of 0.) A run of that
# kind says nothing about what was run. MT_ABORTS=yes: the job aborts by itself.
launcher_gave_up() {
    test "$MT_ABORTS-$rc" = yes-124 && seen 'HYDT_bscu_wait_for_completion.*terminated badly'
}

show() {
    sed 's/^/    /' "$tmp/out" | tail -n 25
}

bad() {
    mt_bad=$((mt_bad + 1))
    echo "FAILED: $*"
    show
}

# seen PATTERN (extended regular expression, any case) in the output of the last mpirun
seen() {
    grep -Eqi -e "$1" "$tmp/out"
}

# Did the last mpirun fail? MPICH 4.2's launcher may end with 0 when several processes abort at
# once; then the host's own words tell.
ended_badly() {
    test "$rc" != 0 || seen '^Abort\('
}

skip_all() {
    echo "SKIP: $*"
    exit 77
}

# counter RANK NAME: what a rank, or all together, have counted in the last mpirun, with MPIRMA_STATS=$tmp/stats.csv
counter() {
    awk -v rank="$1" -v name="$2" -f "$abs_top_srcdir/test/run/counter.awk" "$tmp/stats.csv" || echo "$2 of rank $1 is not counted"
}

# total NAME: what all processes of the last run over the test provider have counted, with FABRIC_COUNTS_FILE=$tmp/counts
total() {
    awk -v name="$1" '{ for (i = 1; i < NF; i += 2) if ($i == name) sum += $(i + 1) } END { print sum + 0 }' "$tmp/counts"
}

# twice N [ARGUMENTS]: calls the script's function run with N and with 2 N, behind which come the arguments, and sets $more_NAME to
# what the second has counted more, for each word of $names. run sets $now, the counts in the order of the names.
twice() {
    count=$1
    shift
    run "$count" "$@"
    before=$now
    run $((2 * count)) "$@"
    for name in $names; do
        eval "more_$name=$((${now%% *} - ${before%% *}))"
        now=${now#* } before=${before#* }
    done
}

# What names shared memory may not have got since the test began. The hosts have
# objects of their own there, and leave them when killed: those are not ours.
shm_names() {
    ls -A /dev/shm 2>/dev/null |
        grep -Ev '^(vader_segment|osc_rdma|ompi|open_mpi|psm|ucx_shm|mpich|MPICH|sem\.|pmix|PMIX)' | sort
}

shm_before() {
    shm_names >"$tmp/shm.before"
}

# Those of this user that are new and that no process has: what living ones have belongs to other jobs.
shm_left() {
    shm_names >"$tmp/shm.after"
    set +f
    sed -n 's|.* /dev/shm/||p' /proc/[0-9]*/maps 2>/dev/null >"$tmp/shm.used"
    find /proc/[0-9]*/fd -lname '/dev/shm/*' -printf '%l\n' 2>/dev/null | sed 's|^/dev/shm/||' >>"$tmp/shm.used"
    set -f
    comm -13 "$tmp/shm.before" "$tmp/shm.after" | grep -vxF -f "$tmp/shm.used" | while read -r name; do
        test ! -O "/dev/shm/$name" || echo "$name"
    done >"$tmp/out"
    test -s "$tmp/out"
}

nothing_left() {
    ! shm_left
}

shm_after() { # what had been done; another job may be about to use, or to remove, what it has there
    wait_for 3 nothing_left || bad "$1: left in /dev/shm:"
}

dir_is_empty() { # directory, what had been done
    ls -A "$1" >"$tmp/out"
    test ! -s "$tmp/out" || bad "$2: left in the segment directory:"
}

# ---- runs of kill_victim, whose ranks write their process ids to $pids ----

# Machines with files of their own have one directory together, MTEST_SHARED.
pids=${MTEST_SHARED:-$tmp}/pids

# start_victims [epochs]: $np of them in the background, as process $launcher
start_victims() {
    rm -rf "$pids"
    mkdir "$pids"
    MPIRMA_LOG=info sh "$abs_top_srcdir/test/run/mpiexec.sh" "$np" "$bin/kill_victim" "$pids" "$@" \
        >"$tmp/out" 2>&1 </dev/null &
    launcher=$!
}

pids() {
    set +f
    cat "$pids"/pid.* 2>/dev/null
    set -f
}

all_started() {
    test "$(pids | wc -l)" = "$np"
}

# Each has used a window, so that they have had to do with each other.
all_used() {
    set +f
    test "$(cat "$pids"/used.* 2>/dev/null | wc -l)" = "$np"
    used=$?
    set -f
    return "$used"
}

# A zombie that its launcher has yet to reap is dead.
lives() {
    state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null) && test -n "$state" && test "$state" != Z
}

launcher_gone() {
    ! lives "$launcher"
}

nobody_lives() {
    for p in $(pids); do
        lives "$p" && return 1
    done
    return 0
}

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
    tries=$(($1 * 10))
    shift
    while test "$tries" -gt 0; do
        "$@" && return 0
        sleep 0.1
        tries=$((tries - 1))
    done
    return 1
}

# A call of a survivor has ended with an error. What the program says of it may not come through
# a launcher that is cut off: the library's line of such a call counts as well.
error_seen() {
    seen 'kill_victim.*expected MPI_SUCCESS, saw' || seen 'info: MPI_[A-Za-z_]*: .*PROC_FAILED'
}

# check_error SECONDS WHAT: after WHAT that comes in time, and names the rank
check_error() {
    began=$(date +%s)
    wait_for "$1" error_seen || bad "no call has returned an error $1 s after $2"
    echo "an error after $(($(date +%s) - began)) s"
    seen 'error.*rank [0-9]* of window' || bad "no message names the rank that is lost:"
    seen 'signal 11|segmentation|bus error' && bad "a rank crashed:"
}

# Those of them that run here: on a machine of its own a rank may have a number that is another process's here.
victims_here() {
    for p in $(pids); do
        test "$(cat "/proc/$p/comm" 2>/dev/null)" != kill_victim || echo "$p"
    done
}

# Survivors may wait in the host for who is gone, and a launcher for its daemon on a machine that it cannot reach.
end_victims() {
    # shellcheck disable=SC2046
    kill -KILL $(victims_here) 2>/dev/null
    kill "$launcher" 2>/dev/null
    wait_for $((5 * MT_SLOW)) launcher_gone || kill -KILL "$launcher"
    wait "$launcher"
}

finish() {
    echo "${0##*/}: $mt_bad failed checks"
    test "$mt_bad" = 0
    exit $?
}
