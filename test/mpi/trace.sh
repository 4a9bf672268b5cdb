#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace.sh - MPIRMA_TRACE: what is recorded is whole (spool_check), agrees with the statistics of the same run, and a
# traced run does what one without a trace does: the same operations by the same paths, the same packets.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=100

# Set for one process only: that one ends the job with a message. It waits some seconds, in the background.
partial=
if test "${MPIRMA_PATH:-auto}" = auto; then
    # shellcheck disable=SC2016 # for the inner shell
    timeout -k 5 $((60 * MT_SLOW)) sh "$abs_top_srcdir/test/run/mpiexec.sh" "$np" sh -c \
        'test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 1 || export MPIRMA_TRACE="$1"; exec "$2" "$1" "$1"' sh \
        "$tmp/partial" "$bin/late_rank" >"$tmp/partial.out" 2>&1 </dev/null &
    partial=$!
fi

# "rank: what went over which path" of the last run, in the words of spool_check
statistics() {
    rank=0
    while test "$rank" -lt "$np"; do
        echo "rank $rank: mapped $(counter "$rank" mapped_ops) ops $(counter "$rank" mapped_bytes) bytes," \
            "cma $(counter "$rank" cma_ops) ops $(counter "$rank" cma_bytes) bytes," \
            "shm-packets $(counter "$rank" shm_packets_ops) ops $(counter "$rank" shm_packets_bytes) bytes," \
            "net-packets $(counter "$rank" net_packets_ops) ops $(counter "$rank" net_packets_bytes) bytes"
        rank=$((rank + 1))
    done | sort
}

# run WITH-A-TRACE PROGRAM...: its statistics in $tmp/stats.yes or $tmp/stats.no
run() {
    how=$1
    shift
    if test "$how" = yes; then
        mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" MPIRMA_TRACE="$tmp/trace" "$@"
    else
        mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" "$@"
    fi
    test "$rc" = 0 || bad "$*, trace: $how: exit code $rc"
    statistics >"$tmp/stats.$how"
    ! grep 'not counted' "$tmp/stats.$how" >"$tmp/out" || bad "$*: no statistics:"
}

compare() { # what, file, file
    cmp -s "$2" "$3" && return
    diff "$2" "$3" >"$tmp/out"
    bad "$1:"
}

# Of a job that has failed or was ended at its time limit, nothing more is asked than why.
traced() { # program
    run yes "$@"
    test "$rc" = 0 || return
    "$bin/spool_check" "$tmp/trace" "$np" >"$tmp/out" 2>&1 || bad "$*: what is recorded is not right:"
    sed -n 's/^\(rank [0-9]*: [^;]*\);.*/\1/p' "$tmp/out" | sort >"$tmp/recorded"
    compare "$*: the trace has not the operations of the statistics" "$tmp/stats.yes" "$tmp/recorded"
}

# The same without: for programs that do the same in each run.
as_without() {
    run no "$@"
    traced "$@"
    compare "$*: operations and paths change with a trace" "$tmp/stats.no" "$tmp/stats.yes"
}

MTEST_ROUNDS=2
MTEST_SEED=1
export MTEST_ROUNDS MTEST_SEED
as_without "$bin/fence"
as_without "$bin/pscw"
as_without "$bin/acc_order"
as_without "$bin/requests"

# Every operation by packet is known to have arrived: by an acknowledgement or a reply. Tests of requests are there, those
# too that find nothing complete.
arrivals() {
    tool=$abs_top_builddir/trace/mpi-rma-trace
    test -x "$tool" || { echo "SKIP: arrivals: mpi-rma-trace is not in this build" && return; }
    "$tool" --json "$tmp/trace" >"$tmp/out" 2>&1 || bad "mpi-rma-trace: exit code $?"
    grep -Eq '"shm-packets": \{"operations": ([1-9][0-9]*), .*"arrived": \1,' "$tmp/out" ||
        bad "requests: not all operations by packet are known to have arrived:"
    for call in Wait Waitall Waitany Waitsome Test Testall Testany Testsome; do
        grep -Eq "\"MPI_$call\": \{\"calls\": [1-9]" "$tmp/out" || bad "requests: no MPI_$call is recorded:"
    done
    command -v otf2-print >"$tmp/out" || { echo "SKIP: tests of requests: no otf2-print" && return; }
    otf2-print "$tmp/trace/traces.otf2" >"$tmp/print" 2>&1
    grep '^RMA_OP_TEST ' "$tmp/print" >"$tmp/tests"
    sed -n 's/^RMA_OP_TEST *\([0-9]*\) .* Matching: \([0-9]*\)$/\1 \2/p' "$tmp/tests" | sort -u >"$tmp/tested"
    sed -n 's/^RMA_[PGA][UET][TO]M*[IC]* *\([0-9]*\) .* Matching: \([0-9]*\)$/\1 \2/p' "$tmp/print" | sort -u >"$tmp/issued"
    test -s "$tmp/tested" || bad "requests: no test of a request is in the archive"
    comm -23 "$tmp/tested" "$tmp/issued" >"$tmp/out"
    test ! -s "$tmp/out" || bad "requests: tests of operations that were never issued:"
}

test "$MPIRMA_PATH" != shm-packets || arrivals

traced "$bin/lock" # its processes wait for each other by fetch_and_op

# The example in Python of doc/traces.md counts what the C programs counted: bytes that went out and came in.
python_example() {
    tool=$abs_top_builddir/trace/mpi-rma-trace
    test -x "$tool" || { echo "SKIP: the example in doc/traces.md: mpi-rma-trace is not in this build" && return; }
    /usr/bin/python3 -c 'import otf2' 2>/dev/null || { echo "SKIP: the example in doc/traces.md: no python3-otf2" && return; }
    sed -n '/^```python$/,/^```$/p' "$abs_top_srcdir/doc/traces.md" | sed '1d;$d' >"$tmp/example.py"
    traced "$bin/pscw" # the fewest operations of these: Python takes its time over each
    "$tool" --archive "$tmp/trace" >"$tmp/out" 2>&1 || bad "mpi-rma-trace --archive: exit code $?"
    /usr/bin/python3 "$tmp/example.py" "$tmp/trace/traces.otf2" >"$tmp/out" 2>&1 || bad "the example in doc/traces.md: exit code $?"
    test "$(grep -Ec '^process [0-9]* to rank [0-9]* of the window: [1-9][0-9]* bytes$' "$tmp/out")" -ge "$np" ||
        bad "the example in doc/traces.md does not print who has moved how much:"
}
python_example

# By packets through rings, a target that computes has its agent woken by the origin, and serves what it is sent.
case $MPIRMA_PATH in
shm-packets)
    traced "$bin/progress"
    grep -Eq '[1-9][0-9]* operations served' "$tmp/out" || bad "progress: nobody has served anything:"
    grep -Eq '[1-9][0-9]* agents woken' "$tmp/out" || bad "progress: nobody has woken an agent:"
    ;;
net-packets) # the report has each stall for credits that the statistics count
    traced "$bin/volume"
    stalls=$(counter all net_credit_stalls)
    tool=$abs_top_builddir/trace/mpi-rma-trace
    if test -x "$tool"; then
        "$tool" --json "$tmp/trace" >"$tmp/out" 2>&1
        found=$(sed -n 's/^ *"credit_stalls": {.*"number": \([0-9]*\),.*/\1/p' "$tmp/out")
        test "$found" = "$stalls" && test "$stalls" -gt 0 ||
            bad "the statistics have $stalls stalls for credits, the report $found:"
    else
        echo "SKIP: stalls for credits in the report: mpi-rma-trace is not in this build"
    fi
    ;;
esac

# With --trace-all the calls of the host's functions are there too, each with its return, in the order of a stack; what
# the library itself does stays the same. All symbols are bound at once, as where a program was linked with -z now.
all_calls() {
    tool=$abs_top_builddir/trace/mpi-rma-trace
    test -x "$tool" && command -v otf2-print >"$tmp/out" || { echo "SKIP: all calls: no mpi-rma-trace or no otf2-print" && return; }
    test -z "$SANITIZERS" || { echo "SKIP: all calls: a build with sanitizers can't be preloaded" && return; }
    run no "$bin/fence"
    mpirun "$np" env LD_BIND_NOW=1 MPIRMA_STATS="$tmp/stats.csv" "$abs_top_builddir/tools/mpi-rma-run" --trace-all "$tmp/all" "$bin/fence"
    test "$rc" = 0 || bad "--trace-all: exit code $rc"
    statistics >"$tmp/stats.all"
    compare "fence: operations and paths change with --trace-all" "$tmp/stats.no" "$tmp/stats.all"
    "$bin/spool_check" "$tmp/all" "$np" >"$tmp/out" 2>&1 || bad "--trace-all: what is recorded is not right:"
    "$tool" --archive "$tmp/all" >"$tmp/out" 2>&1 || bad "--trace-all: no archive:"
    otf2-print "$tmp/all/traces.otf2" 2>&1 | awk '
        /warning/ { print }
        { name = $0; sub(/.*Region: "/, "", name); sub(/".*/, "", name) }
        $1 == "ENTER" { stack[$2, depth[$2]++] = name; seen[name]++ }
        $1 == "LEAVE" && stack[$2, --depth[$2]] != name { print "LEAVE of " name " inside " stack[$2, depth[$2]] }
        END {
            for (l in depth) if (depth[l]) print "location " l ": " depth[l] " calls without a return"
            n = split("MPI_Comm_set_errhandler MPI_Comm_rank MPI_Win_fence MPI_Put", wanted, " ")
            for (i = 1; i <= n; i++) if (!seen[wanted[i]]) print "no call of " wanted[i]
            if (seen["MPI_Comm_group"]) print "MPI_Comm_group: a call that only the library makes"
        }' >"$tmp/out"
    test ! -s "$tmp/out" || bad "--trace-all: the calls are not right:"
}
test "${MPIRMA_PATH:-auto}" != auto || all_calls

# A later job in the same directory takes its place; nothing of it is left.
mpirun 1 env MPIRMA_TRACE="$tmp/trace" "$bin/win_attr"
test "$rc" = 0 || bad "one process: exit code $rc"
"$bin/spool_check" "$tmp/trace" 1 >"$tmp/out" 2>&1 || bad "after a job of one process:"

# A directory that can't be made is one clear message of each process, and the program goes on.
mpirun "$np" env MPIRMA_TRACE=/dev/null/trace "$bin/win_attr"
test "$rc" = 0 || bad "no directory: exit code $rc"
seen 'MPIRMA_TRACE: the directory /dev/null/trace.* no trace is taken' || bad "no directory: no message:"

# Sessions without MPI_Init: a note, and the program goes on.
mpirun "$np" env MPIRMA_TRACE="$tmp/sessions" "$bin/sessions"
if ! seen 'SKIP: this host does not declare sessions'; then
    test "$rc" = 0 || bad "sessions: exit code $rc"
    seen 'MPIRMA_TRACE: a program that uses sessions without MPI_Init is not traced' || bad "sessions: no note:"
fi

if test -n "$partial"; then
    wait "$partial"
    rc=$?
    cp "$tmp/partial.out" "$tmp/out"
    ended_badly && test "$rc" != 124 || bad "a trace for one process only: exit code $rc"
    seen 'rma.1.: error: MPIRMA_TRACE is set for this process, but .* set it for all processes or for none' ||
        bad "a trace for one process only: no message:"
fi
finish
