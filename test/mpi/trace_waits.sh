#!/bin/sh
# trace_waits.sh - mpi-rma-trace finds in a real program what it waits for: as long as one process was made late, a tenth
# more or less, and where nobody was less than a fiftieth of that. On a loaded machine a process is late by itself: what
# is wrong in one run must be right in one of the next.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/tools/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
MT_LIMIT=60
ms=200
tries=12

# total PATTERN: microseconds, of the report in $tmp/report
total() {
    sed -n "s/^ *\"$1\": {.*\"total\": \([0-9]*\),.*/\1/p" "$tmp/report" | awk '{ printf "%d", $1 / 1000 }'
}

report() { # MS [progress]
    mpirun "$np" env MPIRMA_TRACE="$tmp/trace" "$bin/trace_waits" "$@"
    test "$rc" = 0 || bad "trace_waits $*: exit code $rc"
    "$tool" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
    test ! -s "$tmp/out" || bad "mpi-rma-trace has something to say about a trace that is whole:"
}

# between PATTERN LEAST MOST: in this run or one before; else a line in $tmp/wrong
between() {
    us=$(total "$1")
    test "${us:--1}" -ge "$2" && test "$us" -le "$3" && echo "$1" >>"$tmp/right"
    grep -qx "$1" "$tmp/right" || echo "$1: $us us, expected $2 to $3" >>"$tmp/wrong"
}

# as_long PATTERN TIMES: as long as TIMES processes were late
as_long() {
    between "$1" $(($2 * ms * 900)) $(($2 * ms * 1100))
}

# absent PATTERN: less than a fiftieth
absent() {
    between "$1" 0 $((ms * 20))
}

# check_run FUNCTION MS [progress]: a run of which the function says nothing is wrong
check_run() {
    judge=$1
    shift
    try=0
    : >"$tmp/right"
    while test "$try" -lt "$tries"; do
        try=$((try + 1))
        : >"$tmp/wrong"
        report "$@"
        $judge
        test -s "$tmp/wrong" || return
    done
    cp "$tmp/wrong" "$tmp/out"
    bad "trace_waits $*, in each of $tries runs; the last:"
}

by_packets() {
    case ${MPIRMA_PATH:-auto} in *packets) return 0 ;; esac
    return 1
}

with_delay() {
    as_long late_post 1
    as_long early_wait 2 # one of them for a late operation, one for a late complete
    as_long late_complete 1
    as_long wait_at_fence 2 # two processes wait for the third
    as_long early_fence 1   # one of them for its operation
    as_long lock_contention 1
    as_long wait_at_create 2
    as_long wait_at_free 2
    ! by_packets || as_long parked_packets 2 # those of the get for which the post is late, and of its complete
}

without_delay() {
    for pattern in late_post early_wait late_complete wait_at_fence early_fence lock_contention wait_at_create \
        wait_at_free parked_packets wait_for_progress; do
        absent $pattern
    done
}

no_agent() {
    as_long wait_for_progress 1
}

agent() {
    absent wait_for_progress
}

check_run with_delay "$ms"
check_run without_delay 0
# Where others do not serve themselves, a target without an agent lets them wait; with one, or on other paths, it does not.
if by_packets; then
    export MPIRMA_PROGRESS=poll
    check_run no_agent "$ms" progress
    unset MPIRMA_PROGRESS
fi
check_run agent "$ms" progress
finish
