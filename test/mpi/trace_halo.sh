#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_halo.sh - the halo exchange under mpi-rma-run --trace: its report names what the ranks did and where they waited, as
# text and as JSON, and a browser draws the page.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
test -z "$SANITIZERS" || skip_all "the sanitizers' libraries must be loaded before any other"

mpirun "$np" "$MPI_RMA_RUN" --trace "$tmp/trace" "$abs_top_builddir/bench/halo/mpi-rma-halo" --sizes=1K --modes=fence,pscw,lock_all \
    --notify=barrier --memory=allocate --reps=3 --block-ms=1
test "$rc" = 0 || bad "halo: exit code $rc"

"$tool" --html "$tmp/page.html" "$tmp/trace" >"$tmp/out" 2>"$tmp/notes" || bad "mpi-rma-trace: exit code $?"
for part in "$np ranks" 'MPI_Win_fence ' 'MPI_Win_complete ' 'MPI_Win_flush_all ' 'MPI_Put ' 'Wait at Fence: ' \
    'in MPI_Win_fence.*, because of rank'; do
    grep -q -e "$part" "$tmp/out" || bad "the report does not have '$part':"
done
"$tool" --json "$tmp/trace" >"$tmp/json" 2>"$tmp/notes" || bad "mpi-rma-trace --json: exit code $?"
python3 - "$tmp/json" "$np" >"$tmp/out" 2>&1 <<'EOS' || bad "the JSON report is not right:"
import json, sys
report, ranks = json.load(open(sys.argv[1])), int(sys.argv[2])
puts, found = report["operations"]["MPI_Put"], report["patterns"]
assert report["ranks"] == ranks and puts["bytes"] == 1024 * puts["operations"] > 0, puts
assert sum(pair["operations"] for pair in report["pairs"]) >= puts["operations"]
assert all(pair["from"] != pair["to"] for pair in report["pairs"])
of_messages = {"late_sender", "late_receiver", "wait_at_barrier", "wait_at_nxn", "late_broadcast", "early_reduce"}
assert {name for name in found if not found[name]["visible"]} == of_messages, found
assert found["wait_at_fence"]["total"] > 0 and len(report["rma_ns"]) == ranks
assert sum(report["rma_ns"]) < report["length"] * ranks
EOS

if command -v chromium >"$tmp/out"; then
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser" --dump-dom \
        "file://$tmp/page.html" >"$tmp/dom" 2>"$tmp/out"
    grep 'id="shown"' "$tmp/dom" >"$tmp/out"
    seen 'From 0 ns to .*: [1-9][0-9,]* calls, [1-9][0-9,]* transfers, [1-9][0-9,]* wait states' ||
        bad "the browser has not drawn the page:"
else
    echo "SKIP: the page: no chromium"
fi
finish
