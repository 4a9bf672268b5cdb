#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_waits.sh - mpi-rma-trace finds in a real program what it waits for: as long as one process was made late, a tenth
# more or less, and where nobody was less than a fiftieth of that; and what is no wait, as often as it is there. On a loaded machine a process is late by itself: what
# is wrong in one run must be right in one of the next.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
MT_LIMIT=60
ms=200
tries=12

# value PATTERN KEY: a number of the report in $tmp/report
value() {
    sed -n "s/^ *\"$1\": {.*\"$2\": \([0-9]*\),.*/\1/p" "$tmp/report"
}

report() { # PROGRAM ARGUMENTS
    program=$1
    shift
    mpirun "$np" env MPIRMA_TRACE="$tmp/trace" "$bin/$program" "$@"
    test "$rc" = 0 || bad "$program $*: exit code $rc"
    mv "$tmp/out" "$tmp/said"
    "$tool" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
    grep -v 'its clock was shifted by' "$tmp/out" >"$tmp/notes"
    test ! -s "$tmp/notes" || bad "mpi-rma-trace has something to say about a trace that is whole:"
}

# judge PATTERN WHAT IS LEAST MOST: in this run or one before; else a line in $tmp/wrong
judge() {
    test "${3:--1}" -ge "$4" && test "$3" -le "$5" && echo "$1" >>"$tmp/right"
    grep -qx "$1" "$tmp/right" || echo "$1: $2 $3, expected $4 to $5" >>"$tmp/wrong"
}

# between PATTERN LEAST MOST: microseconds. A build with sanitizers waits longer for what it does itself.
between() {
    ns=$(value "$1" total)
    judge "$1" us "${ns:+$((ns / 1000))}" "$2" $(($3 * MT_SLOW))
}

# as_long PATTERN TIMES: as long as TIMES processes were late
as_long() {
    between "$1" $(($2 * ms * 900)) $(($2 * ms * 1100))
}

# as_measured PATTERN: as long as the program itself says
as_measured() {
    us=$(sed -n "s/^expected $1 //p" "$tmp/said")
    between "$1" $((${us:-0} * 9 / 10)) $((${us:-0} * 11 / 10))
}

# counted PATTERN NUMBER: so often
counted() {
    judge "$1" number "$(value "$1" number)" "$2" "$2"
}

# absent PATTERN: less than a fiftieth
absent() {
    between "$1" 0 $((ms * 20))
}

# check_run FUNCTION PROGRAM ARGUMENTS: a run of which the function says nothing is wrong
check_run() {
    check=$1
    shift
    try=0
    : >"$tmp/right"
    while test "$try" -lt "$tries"; do
        try=$((try + 1))
        : >"$tmp/wrong"
        report "$@"
        $check
        test -s "$tmp/wrong" || return
    done
    cp "$tmp/wrong" "$tmp/out"
    bad "$*, in each of $tries runs; the last:"
}

# charged RANK TIMES: what it did cost others so often as long as it was late
charged() {
    ns=$(sed -n '/^ *"by_rank": \[$/,$p' "$tmp/report" | sed -n "$(($1 + 2))s/.*\"costs\": \([0-9]*\).*/\1/p")
    judge "costs_of_rank_$1" us "${ns:+$((ns / 1000))}" $(($2 * ms * 900)) $(($2 * ms * 1100 * MT_SLOW))
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
    as_long late_notification 2 # once in MPIRMA_Notify_wait, once in MPI_Wait
    as_long lock_contention 1
    as_long wait_at_create 2
    as_long wait_at_free 2
    charged 0 3 # late with an operation, with a complete, with an unlock
    charged 1 7 # late with a creation and a free, for which two wait, with a post, and with two notifications
    charged 2 2 # late for a fence
    ! by_packets || as_long parked_packets 2 # those of the get for which the post is late, and of its complete
}

without_delay() {
    for pattern in late_post early_wait late_complete late_notification wait_at_fence early_fence lock_contention wait_at_free \
        parked_packets wait_for_progress; do
        absent $pattern
    done
    # The first window of a communicator meets in a duplicate of the host's, which waits with the processor in
    # use: where there are more processes than processors that takes some slices of the scheduler.
    between wait_at_create 0 $((ms * 200))
}

no_agent() {
    as_long wait_for_progress 1
}

agent() {
    absent wait_for_progress
}

# Who copies itself waits for the other's whole operation; by packets it is served piece by piece, and waits for those of
# the other that come before its own last: how long these take nobody else knows.
with_causes() {
    if by_packets; then
        between serialized_accumulates 300 1000000
    else
        as_measured serialized_accumulates
    fi
    counted small_operations 1
    counted unneeded_pairwise_synchronizations 4
}

without_causes() {
    between serialized_accumulates 0 100
    counted small_operations 0
    counted unneeded_pairwise_synchronizations 0
}

asleep() {
    as_measured agent_wakeups
    as_long wait_for_progress 1
}

awake() {
    absent agent_wakeups
    absent wait_for_progress
}

no_room() {
    as_measured credit_stalls
}

room() {
    absent credit_stalls
}

late_posts() {
    as_long late_post 2 # one for an operation that is too large to wait at its target, one for too many
}

no_late_post() {
    absent late_post
}

check_run late_posts trace_waits "$ms" late
check_run no_late_post trace_waits 0 late
if test -n "$MPIRMA_RANKS_PER_NODE"; then # all the others are as with the network alone
    finish
fi
if test "$MPIRMA_PATH" = net-packets; then # the others are as through rings
    check_run no_room trace_findings credit "$ms"
    check_run room trace_findings credit 0
    finish
fi
check_run with_delay trace_waits "$ms"
check_run without_delay trace_waits 0
check_run with_causes trace_findings accumulates small pairs "$ms"
check_run without_causes trace_findings accumulates small pairs 0
# Where others do not serve themselves, a target without an agent lets them wait, or one whose agent cannot run; with one
# that can, or on other paths, it does not.
if by_packets; then
    export MPIRMA_PROGRESS=poll
    check_run no_agent trace_waits "$ms" progress
    unset MPIRMA_PROGRESS
    check_run asleep trace_findings wakeup "$ms"
    check_run awake trace_findings wakeup 0
fi
check_run agent trace_waits "$ms" progress
finish
