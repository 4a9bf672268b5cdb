#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_messages.sh - with mpi-rma-run --trace-all messages and collective operations are in the archive, matched, with
# their communicators, and the report has what processes wait for in them, as long as one was late, and apart from that what they compute and
# what is RMA. On a loaded machine processes are late by themselves: what is wrong in one run must be right in one of the
# next. TRACE_MESSAGES_NEAR: by how many microseconds each delay may differ.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
command -v python3 >/dev/null || skip_all "no python3 to read the report"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded"
ms=60

# traced ARGUMENTS...: its report in $tmp/report, its archive in $tmp/trace
traced() {
    rm -rf "$tmp/trace"
    mpirun "$np" "$MPI_RMA_RUN" --trace-all "$tmp/trace" "$bin/trace_messages" "$@"
    test "$rc" = 0 || bad "trace_messages $*: exit code $rc"
    mv "$tmp/out" "$tmp/said"
    "$tool" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
}

right_waits() {
    python3 - "$tmp/report" "$np" "$ms" "${TRACE_MESSAGES_NEAR:-6000}" "$abs_top_srcdir/test/mpi/trace_messages.c" "$tmp/right" >"$tmp/out" 2>&1 <<'EOS'
import json, sys
right = set(open(sys.argv[6]).read().split("\n")) # in a run before this one
report, ranks, ms, near, source = json.load(open(sys.argv[1])), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), open(sys.argv[5]).read().split("\n")
def line(words):
    return 1 + next(i for i, text in enumerate(source) if f"/* {words} */" in text)
wrong, others = [], ranks - 1
for pattern, words, n in (("late_sender", "the receive", 1), ("late_sender", "the wait for both", 1), ("late_receiver", "the send that waits", 1),
                          ("wait_at_barrier", "the barrier", others), ("wait_at_nxn", "of all with all", others),
                          ("late_broadcast", "the broadcast", others), ("early_reduce", "the reduction", 1)):
    ns = sum(site["ns"] for site in report["patterns"][pattern]["by_site"] if site["site"] and site["site"]["line"] == line(words))
    if abs(ns / 1000 - 2 * n * ms * 1000) <= 2 * n * near:
        right.add(words)
    elif words not in right:
        wrong.append((pattern, words, ns / 1000, 2 * n * ms * 1000))
open(sys.argv[6], "w").write("\n".join(right))
assert not wrong, wrong
late = {0: 2 * ms * (1 + others), 1: 2 * ms * (2 + others + others + 1)} # the receiver and the barrier; all else
for rank, cost in late.items():
    seen, expected = report["by_rank"][rank]["costs"] / 1e6, cost
    assert seen > 0.9 * expected, (rank, seen, expected)
computing = [cause for cause in report["causes"] if cause["what"].startswith("computing")]
assert sum(cause["cost"] for cause in computing) >= 0.5 * report["waiting"]["total"], report["causes"]
for rank in (0, 1): # its delays and nothing else
    seen, expected = report["by_rank"][rank]["computes"] / 1e6, 2 * ms * (2, 5)[rank]
    assert seen > 0.9 * expected, (rank, seen, expected)
    other = report["by_rank"][rank]["other_mpi"] / 1e6
    assert other > report["by_rank"][rank]["waits"] / 1e6 * 0.9 > 0, report["by_rank"]
EOS
}

# Messages by communicator, source, target and tag: as many are received as sent, and as many as the program says.
right_messages() {
    /usr/bin/python3 -c 'import otf2' 2>/dev/null || { echo "SKIP: the archive: no python3-otf2" && return; }
    /usr/bin/python3 - "$tmp/trace/traces.otf2" "$tmp/said" "$np" >"$tmp/out" 2>&1 <<'EOS' || bad "$1: the archive is not right:"
import collections, re, sys
import otf2
from otf2.events import *
ranks = int(sys.argv[3])
sent, received, posted, cancelled, done = collections.Counter(), collections.Counter(), collections.Counter(), 0, collections.Counter()
open_operations, operations = collections.Counter(), collections.defaultdict(list)
with otf2.reader.open(sys.argv[1]) as trace:
    homes = {location: int(re.match(r"rank (\d+)", location.name).group(1)) for location in trace.definitions.locations}
    def world(comm, rank):
        return int(comm.group.members[rank] if isinstance(comm.group.members[rank], int) else homes[comm.group.members[rank]])
    for location, event in trace.events:
        me = homes[location]
        if isinstance(event, (MpiSend, MpiIsend)):
            sent[event.communicator.name, me, world(event.communicator, event.receiver), event.msg_tag, event.msg_length] += 1
            if isinstance(event, MpiIsend): posted[me, event.request_id] += 1
        elif isinstance(event, (MpiRecv, MpiIrecv)):
            received[event.communicator.name, world(event.communicator, event.sender), me, event.msg_tag, event.msg_length] += 1
            if isinstance(event, MpiIrecv): done[me, event.request_id] += 1
        elif isinstance(event, MpiIrecvRequest):
            posted[me, event.request_id] += 1
        elif isinstance(event, MpiIsendComplete):
            done[me, event.request_id] += 1
        elif isinstance(event, MpiRequestCancelled):
            cancelled += 1
            done[me, event.request_id] += 1
        elif isinstance(event, MpiCollectiveBegin):
            open_operations[me] += 1
        elif isinstance(event, MpiCollectiveEnd):
            open_operations[me] -= 1
            operations[event.communicator.name, me].append((str(event.collective_op), event.root, event.size_sent, event.size_received))
assert sent == received, (sent - received, received - sent)
assert posted == done and set(posted.values()) == {1}, (posted - done, done - posted)
assert not +open_operations and not -open_operations, open_operations
said = {int(m[1]): (int(m[2]), int(m[3])) for m in re.finditer(r"counted (\d+): sent (\d+) received (\d+)", open(sys.argv[2]).read())}
for rank, numbers in said.items():
    seen = sum(n for key, n in sent.items() if key[1] == rank), sum(n for key, n in received.items() if key[2] == rank)
    assert seen == numbers, (rank, seen, numbers)
if said:
    assert len(said) == ranks
    comms = {key[0] for key in sent}
    assert len(comms) == 1 + ranks + 4 + 4 + 4 * 2, comms # the world, selves, duplicates, rings, and two halves each
    assert cancelled == ranks * 14, cancelled
    last = operations["MPI_COMM_WORLD", 0][-3:]
    assert [(name.split(".")[-1], root, a, b) for name, root, a, b in last][:2] == [("GATHER", 0, 4, 4 * ranks), ("SCATTER", 0, 4 * ranks, 4)], last
    assert last[2][2:] == (0, 4 * ranks), last
EOS
    command -v otf2-print >"$tmp/out" || { echo "SKIP: the archive: no otf2-print" && return; }
    otf2-print "$tmp/trace/traces.otf2" 2>&1 | grep -i 'warning\|error' >"$tmp/out"
    test ! -s "$tmp/out" || bad "$1: otf2-print:"
}

try=0
: >"$tmp/right"
while :; do
    try=$((try + 1))
    traced "$ms"
    right_waits && break
    test "$try" -lt 8 || { bad "waiting in messages, in each of $try runs; the last:" && break; }
done
right_messages "waits"
"$tool" "$tmp/trace" >"$tmp/out" 2>&1
seen '^  in other calls of MPI: .* in which .* are waiting$' || bad "the report for people has no messages:"
seen '^  Late Sender: ' || bad "the report for people has no late sender:"

traced 0 count
right_messages "many communicators"
"$bin/spool_check" "$tmp/trace" "$np" >"$tmp/out" 2>&1 || bad "what is recorded is not right:"
finish
