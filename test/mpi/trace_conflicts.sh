#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_conflicts.sh - mpi-rma-trace finds the conflicting accesses of the wrong programs of trace_conflicts_*.c and none in the
# right ones. One of the wrong ones it cannot see: its accesses are loads and stores.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded"
MT_LIMIT=100

mpirun "$np" "$MPI_RMA_RUN" --trace "$tmp/trace" --conflicts "$bin/trace_conflicts"
test "$rc" = 0 || bad "trace_conflicts: exit code $rc"
mv "$tmp/out" "$tmp/said"
"$bin/spool_check" "$tmp/trace" "$np" >"$tmp/out" 2>&1 || bad "what is recorded is not right:"
"$tool" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
python3 - "$tmp/report" "$tmp/said" "$abs_top_srcdir/test/mpi" >"$tmp/out" 2>&1 <<'EOS' || bad "what is found is not what is there:"
import json, os, sys
found = json.load(open(sys.argv[1]))["conflicts"]["found"]
cases = [line.split() for line in open(sys.argv[2]) if line.startswith(("right ", "wrong "))]
assert len(cases) == 71 and sum(how == "right" for how, name in cases) == 37, cases
named = {conflict[side]["window"].split(" ")[0] for conflict in found for side in ("first", "second") if conflict[side]["window"]}
wrong = {name for how, name in cases if how == "wrong"}
assert not named - wrong, ("false alarms", named - wrong)
assert wrong - named == {"shared_stores"}, ("not found", wrong - named)
# Each side's place in the program is that of a call of this function.
for conflict in found:
    for side in (conflict["first"], conflict["second"]):
        file = os.path.basename(side["site"]["file"])
        assert file.startswith("trace_conflicts_"), side
        line = open(os.path.join(sys.argv[3], file)).read().split("\n")[side["site"]["line"] - 1]
        assert side["call"] in line, (side, line)
# What the report says of one of them.
one = [conflict for conflict in found if (conflict["window"] or "").startswith("fence_put_put ")]
assert len(one) == 1 and one[0]["displacement"] == 12 and one[0]["bytes"] == 4 and one[0]["rank"] == 2, one
for side in (one[0]["first"], one[0]["second"]):
    assert side["access"] == "put" and side["epoch"] == side["end"] == "MPI_Win_fence", side
assert {one[0]["first"]["rank"], one[0]["second"]["rank"]} == {0, 1}, one
# A message has no window and no epoch: what is said of it, and where it is complete.
one = [conflict for conflict in found if (conflict["window"] or "").startswith("receive_put ")]
assert len(one) == 1 and one[0]["displacement"] == 12 and one[0]["bytes"] == 4 and one[0]["rank"] == 2, one
message = one[0]["first"]
assert message["access"] == "store" and message["call"] == "MPI_Irecv" and message["end"] == "MPI_Wait", one
assert message["window"] is None and message["epoch"] is None and message["rank"] == 2, one
assert one[0]["second"]["access"] == "put" and one[0]["second"]["rank"] == 1, one
EOS
"$tool" "$tmp/trace" >"$tmp/out" 2>&1 || bad "mpi-rma-trace: exit code $?"
seen '  bytes 12 to 15 of rank 2, fence_put_put \(window [0-9]+, allocated\), 1 time$' || bad "the report for people does not say where:"
seen '    rank 0 at [0-9.]+ s: MPI_Put at trace_conflicts_epochs\.c:[0-9]+ \(fence_put_put\)$' || bad "the report for people does not say who:"
seen '      in the epoch of MPI_Win_fence at trace_conflicts_epochs\.c:[0-9]+, complete in MPI_Win_fence at trace_conflicts_epochs\.c:[0-9]+$' ||
    bad "the report for people does not say in which epoch:"
seen '    rank 2 at [0-9.]+ s: the buffer that MPI_Irecv at trace_conflicts_messages\.c:[0-9]+ \(receive_while\) writes$' ||
    bad "the report for people does not say that a message is received there:"

# Without the option nothing of it is recorded, and the report says nothing; nor does it without what orders accesses.
mpirun "$np" "$MPI_RMA_RUN" --trace "$tmp/trace" "$bin/trace_conflicts" 2
"$tool" --json "$tmp/trace" >"$tmp/out" 2>&1
seen '"conflicts": null' || bad "without the option there is something about conflicts:"
mpirun "$np" env MPIRMA_TRACE="$tmp/trace" MPIRMA_TRACE_CONFLICTS=1 "$bin/trace_conflicts" 2
seen 'MPIRMA_TRACE_CONFLICTS: libmpi-rma-calls is not loaded' || bad "that the calls are not recorded is not said:"
"$tool" --json "$tmp/trace" >"$tmp/out" 2>&1
seen '"conflicts": null' || bad "without what orders accesses there is something about conflicts:"
finish
