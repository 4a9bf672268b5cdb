#!/bin/sh
# trace_waits.sh - mpi-rma-trace finds in a real program what it waits for, about as long as one process was made late,
# and finds none of it where nobody was. Machines are loaded: a quarter is allowed more and less, and noise.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/tools/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
MT_LIMIT=60
ms=60

# total PATTERN: microseconds, of the report in $tmp/report
total() {
    sed -n "s/^ *\"$1\": {.*\"total\": \([0-9]*\),.*/\1/p" "$tmp/report" | awk '{ printf "%d", $1 / 1000 }'
}

report() { # MS
    mpirun "$np" env MPIRMA_TRACE="$tmp/trace$1" "$bin/trace_waits" "$1"
    test "$rc" = 0 || bad "trace_waits $1: exit code $rc"
    "$tool" --json "$tmp/trace$1" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
    test ! -s "$tmp/out" || bad "mpi-rma-trace has something to say about a trace that is whole:"
}

# waited PATTERN TIMES: as long as TIMES processes were late
waited() {
    us=$(total "$1")
    echo "$1: $us us, $2 times $ms ms" >"$tmp/out"
    test -n "$us" && test "$us" -ge $(($2 * ms * 750)) && test "$us" -le $(($2 * ms * 1250 + 30000)) ||
        bad "$1 has another length than it was made to have:"
}

report "$ms"
waited early_wait 2 # one of them for a late operation, one for a late complete
waited late_complete 1
waited wait_at_fence 2 # two processes wait for the third
waited lock_contention 1
waited wait_at_free 2
# By packets nobody waits for a post: what comes before it is parked.
case ${MPIRMA_PATH:-auto} in
*packets) ;;
*) waited late_post 1 ;;
esac

report 0
for pattern in late_post late_complete lock_contention; do
    us=$(total "$pattern")
    echo "$pattern: $us us" >"$tmp/out"
    test "${us:-9999999}" -le $((ms * 500)) || bad "$pattern where nobody was late:"
done
finish
