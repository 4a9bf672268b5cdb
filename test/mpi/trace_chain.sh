#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_chain.sh - mpi-rma-trace names the cause of a chain of waiting: what the last process computes, though only one other
# waits for that process itself. On a loaded machine processes are late by themselves: what is wrong in one run must be
# right in one of the next.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
command -v python3 >/dev/null || skip_all "no python3 to read the report"
ms=100
try=0
while :; do
    try=$((try + 1))
    mpirun "$np" env MPIRMA_TRACE="$tmp/trace" "$bin/trace_chain" "$ms"
    test "$rc" = 0 || bad "exit code $rc"
    "$tool" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
    # Two rounds; as many processes wait as there are but the last. One of them waits for that one, the others for these.
    python3 - "$tmp/report" "$np" "$ms" >"$tmp/out" 2>&1 <<'EOS' && finish
import json, sys
report, ranks, delay = json.load(open(sys.argv[1])), int(sys.argv[2]), 2e6 * float(sys.argv[3])
first, waiting = report["causes"][0], report["waiting"]
def near(seen, expected, what):
    assert abs(seen - expected) <= 0.1 * expected, (what, seen, expected)
assert first["rank"] == ranks - 1, first
assert (first["after"], first["before"]) == ("MPI_Win_start", "MPI_Put"), first
near(first["direct"], delay, "direct")
near(first["passed_on"], (ranks - 2) * delay, "passed on")
assert waiting["unknown"] <= 0.05 * waiting["total"], waiting
near(report["by_rank"][ranks - 1]["costs"], (ranks - 1) * delay, "of the rank")
EOS
    test "$try" -lt 12 || break
done
bad "in each of $try runs; the last:"
finish
