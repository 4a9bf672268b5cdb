#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_sites.sh - the report names file and line of each call, and tells two fences on one window apart by them, in wait
# states and in causes: of a program that is linked with the library, of one under which it is preloaded, and of one in
# Fortran, where the host's bindings stand between. Of a program without debug information it has the offsets, and says so.
# On a loaded machine processes are late by themselves: what is wrong in one run must be right in one of the next.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
command -v python3 >/dev/null || skip_all "no python3 to read the report"
command -v addr2line >/dev/null || skip_all "no addr2line"
ms=40

# traced COMMAND...: its report in $tmp/report (JSON) and $tmp/text
traced() {
    rm -rf "$tmp/trace"
    mpirun "$np" "$@"
    test "$rc" = 0 || bad "$*: exit code $rc"
    "$tool" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/notes" || { cp "$tmp/notes" "$tmp/out" && bad "mpi-rma-trace: exit code $?"; }
    "$tool" "$tmp/trace" >"$tmp/text" 2>>"$tmp/notes"
}

# The waiting, the causes and the window of trace_sites, by the lines in the source that have these comments.
right_report() {
    python3 - "$tmp/report" "$np" "$ms" "$abs_top_srcdir/test/mpi/trace_sites.c" >"$tmp/out" 2>&1 <<'EOS'
import json, sys
report, ranks, ms, source = json.load(open(sys.argv[1])), int(sys.argv[2]), float(sys.argv[3]), open(sys.argv[4]).read().split("\n")
def line(words):
    return 1 + next(i for i, text in enumerate(source) if f"/* {words} */" in text)
# Binutils 2.40 names the file that includes it.
def is_at(site, words):
    return site and site["file"].endswith(("test/mpi/trace_sites.c", "test/mpi/trace_sites_plain.c")) and site["line"] == line(words)
def most_of(seen, expected, what): # other work on the machine adds to it
    assert seen >= 0.5 * expected, (what, seen, expected)
waiting = 3 * (ranks - 1) * ms * 1e6
fences = report["patterns"]["wait_at_fence"]["by_site"]
assert all(fence["call"] == "MPI_Win_fence" for fence in fences), fences
for words, function, ns in (("the first fence", "begin_exchange", waiting), ("the second fence", "main", 2 * waiting)):
    there = [fence for fence in fences if is_at(fence["site"], words)]
    assert len(there) == 1 and there[0]["site"]["function"] == function, (words, fences)
    most_of(there[0]["ns"], ns, words)
for words in ("the first fence", "the second fence"):
    calls = [call for call in report["sites"] if call["call"] == "MPI_Win_fence" and is_at(call["site"], words)]
    assert len(calls) == 1 and calls[0]["number"] == 3 * ranks, (words, report["sites"])
puts = [call for call in report["sites"] if call["call"] == "MPI_Put"]
assert len(puts) == 1 and is_at(puts[0]["site"], "the put") and puts[0]["number"] == 3 * ranks, puts
late = [cause for cause in report["causes"] if cause["rank"] == ranks - 1 and is_at(cause["before_site"], "the second fence")]
most_of(sum(cause["cost"] for cause in late), 2 * waiting, "the last rank's computation before the second fence")
late = [cause for cause in report["causes"] if cause["rank"] == 0 and is_at(cause["before_site"], "the first fence")]
most_of(sum(cause["cost"] for cause in late), waiting, "rank 0's computation before the first fence")
assert report["windows"][0]["name"] == "two fences (window 0, allocated)", report["windows"]
EOS
}

# Until a run gives the right report.
in_some_run() { # what, command...
    what=$1
    shift
    try=0
    while test "$try" -lt 5; do
        try=$((try + 1))
        traced "$@"
        right_report && return
    done
    bad "$what, in each of $try runs; the last:"
}

# The lines of both fences of a Fortran program, whose files' names end as given.
right_lines() {
    python3 - "$tmp/report" "$abs_top_srcdir/test/mpi/fort_sites.f90" >"$tmp/out" 2>&1 <<'EOS'
import json, sys
report, source = json.load(open(sys.argv[1])), open(sys.argv[2]).read().split("\n")
expected = {1 + i for i, text in enumerate(source) if text.endswith("! the first fence") or text.endswith("! the second fence")}
fences = [call for call in report["sites"] if call["call"] == "MPI_Win_fence"]
assert {fence["site"]["line"] for fence in fences} == expected and len(expected) == 2, (fences, expected)
assert all(fence["site"]["file"].endswith("test/mpi/fort_sites.f90") for fence in fences), fences
assert report["windows"][0]["name"] == "two fences (window 0, created)", report["windows"]
EOS
}

in_some_run "linked" env MPIRMA_TRACE="$tmp/trace" "$bin/trace_sites" "$ms"
grep -Eq 'in MPI_Win_fence at trace_sites\.c:[0-9]+ \(begin_exchange\), [0-9]+ times?$' "$tmp/text" ||
    { cp "$tmp/text" "$tmp/out" && bad "the report for people does not name the first fence:"; }
grep -Eq "^ +rank $((np - 1)), computing between MPI_Put at trace_sites\.c:[0-9]+ and MPI_Win_fence at trace_sites\.c:[0-9]+: " "$tmp/text" ||
    { cp "$tmp/text" "$tmp/out" && bad "the report for people does not name the cause:"; }

if test -z "$SANITIZERS"; then
    in_some_run "preloaded" "$MPI_RMA_RUN" --trace "$tmp/trace" "$bin/trace_sites_plain" "$ms"
    # With all calls of MPI, the calls of the host's functions have their places, too.
    in_some_run "with all calls" "$MPI_RMA_RUN" --trace-all "$tmp/trace" "$bin/trace_sites_plain" "$ms"

    # Without debug information, and without any symbols.
    if command -v strip >/dev/null; then
        strip -o "$tmp/stripped" "$bin/trace_sites_plain"
        traced "$MPI_RMA_RUN" --trace "$tmp/trace" "$tmp/stripped" 1
        cp "$tmp/text" "$tmp/out"
        seen '  MPI_Win_fence at stripped\+0x[0-9a-f]+$' || bad "stripped: no offset in the program:"
        seen 'note.*/stripped has no debug information .*: places of calls in it are given as offsets' ||
            bad "stripped: the report does not say why there are no lines:"
        test "$(grep -Ec '^ +[0-9]+ .* %.*  MPI_Win_fence at stripped\+0x[0-9a-f]+$' "$tmp/text")" = 2 || bad "stripped: the two fences are not told apart:"
        # Another program in its place: its lines would be wrong.
        rm -f "$tmp/trace/traces.otf2"
        cp "$tool" "$tmp/stripped"
        "$tool" "$tmp/trace" >"$tmp/out" 2>&1
        seen 'note.*/stripped was changed after the run: places of calls in it' || bad "a changed program is not noticed:"
    else
        echo "SKIP: a program without debug information: no strip"
    fi
else
    echo "SKIP: preloaded: a build with sanitizers can't be preloaded"
fi

if test -x "$bin/fort_sites"; then
    traced env MPIRMA_TRACE="$tmp/trace" "$bin/fort_sites"
    right_lines || bad "Fortran:"
else
    echo "SKIP: Fortran: not in this build"
fi
finish
