#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace_regions.sh - regions that the program names, and MPI_Pcontrol, are in the archive and in all forms of the report, and
# causes are told apart by the regions: of a program that is linked with the library, of one with the header that needs no
# library, as it is and under the library, and of one in Fortran. On a loaded machine processes are late by themselves: what
# is wrong in one run must be right in one of the next.

. "$abs_top_srcdir/test/mpi/mtest.sh"
tool=$abs_top_builddir/trace/mpi-rma-trace
test -x "$tool" || skip_all "mpi-rma-trace is not in this build"
command -v python3 >/dev/null || skip_all "no python3 to read the report"
ms=20

# traced COMMAND...: its report in $tmp/report (JSON), $tmp/text and $tmp/page, its archive's events in $tmp/print
traced() {
    rm -rf "$tmp/trace"
    mpirun "$np" "$@"
    test "$rc" = 0 || bad "$*: exit code $rc"
    grep -v 'MPIRMA_TRACE: there are too many regions one in another' "$tmp/out" | grep 'error\|warn' >"$tmp/said"
    test ! -s "$tmp/said" || bad "$*: messages:"
    cp "$tmp/out" "$tmp/output"
    "$tool" --html "$tmp/page" --json "$tmp/trace" >"$tmp/report" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
    "$tool" "$tmp/trace" >"$tmp/text" 2>"$tmp/out" || bad "mpi-rma-trace: exit code $?"
}

right_report() {
    python3 - "$tmp/report" "$tmp/page" "$np" "$ms" >"$tmp/out" 2>&1 <<'EOS'
import json, re, sys
report, ranks, ms = json.load(open(sys.argv[1])), int(sys.argv[3]), float(sys.argv[4])
regions = {region["name"]: region for region in report["regions"]}
def most_of(seen, expected, what): # other work on the machine adds to it
    assert seen >= 0.7 * expected, (what, seen, expected)
def times(name, visits):
    assert regions[name]["visits"] == visits * ranks, (name, regions[name])
for name, visits in (("iterations", 1), ("assemble", 3), ("smooth", 3), ("threads", 1), ("thread", 3), ("inner", 3),
                     ("MPI_Put", 1), ("l" * 127, 1), ("deep", 1), ("ends while stopped", 1), ("seen again", 1),
                     ("around the call", 1), ("inside the call", 1), ("never ended", 1)):
    times(name, visits)
assert not {"not seen", "before MPI", "l" * 128, ""} & set(regions), set(regions)
late = {"assemble": (ranks - 1, 2 * ms), "smooth": (0, ms)}
for name, (rank, delay) in late.items():
    region, waiting = regions[name], 3e6 * delay * (ranks - 1)
    most_of(region["waits"], waiting, name)
    most_of(region["costs"], waiting, name)
    most_of(region["computes"], 3e6 * delay, name)
    assert region["waits"] <= region["calls"] <= region["time"], region
    assert region["calls"] + region["computes"] <= region["time"] * 1.01, region
    causes = [cause for cause in report["causes"] if cause["rank"] == rank and cause["region"] == name]
    most_of(sum(cause["cost"] for cause in causes), waiting, causes)
    assert all(f'in "{name}"' in cause["what"] for cause in causes), causes
most_of(regions["iterations"]["time"], ranks * 9e6 * ms, "time of what is inside, too")
assert regions["iterations"]["calls"] == 0, regions["iterations"]
# 7 fences before the stop, 1 behind it; the put of each step.
assert report["functions"]["MPI_Win_fence"]["calls"] == 8 * ranks, report["functions"]
assert report["functions"]["MPI_Put"]["calls"] == 6 * ranks, report["functions"]
assert len(report["windows"]) == 2, report["windows"]
data = json.loads(re.search('id=.data.>(.*?)</script>', open(sys.argv[2]).read(), re.S).group(1))
visits = data["visits"]
names = [data["regions"][i][0] for i in visits[4]]
assert len(names) == sum(region["visits"] for name, region in regions.items() if name) + 63 * ranks, len(names)
level = dict(zip(names, visits[3]))
assert level["iterations"] == 0 and level["smooth"] == 1 and level["inner"] == 1, level
assert data["doings"][3].count(data["own_names"].index("not recorded")) >= ranks, "stops"
EOS
}

# Enter and Leave are in the order of a stack, the recording stops and resumes once, and a region that ends in a call ends
# where the call does.
right_archive() {
    command -v otf2-print >"$tmp/out" || { echo "SKIP: the archive: no otf2-print" && return; }
    otf2-print "$tmp/trace/traces.otf2" 2>&1 | awk -v np="$np" '
        /warning|error/ { print }
        { name = $0; sub(/.*Region: "/, "", name); sub(/".*/, "", name) }
        $1 == "ENTER" { stack[$2, depth[$2]++] = name }
        $1 == "LEAVE" {
            if (stack[$2, --depth[$2]] != name) print "LEAVE of " name " inside " stack[$2, depth[$2]]
            if (name == "around the call") { around++; if (last[$2] != "MPI_Win_free") print "around the call: behind " last[$2] }
            if (name == "inside the call") { inside++; if (stack[$2, depth[$2] - 1] != "MPI_Win_free") print "not inside the call" }
            last[$2] = name
        }
        $1 == "MEASUREMENT_ON_OFF" { turned[$2] = turned[$2] $NF; if ($NF ~ /OFF/) off++ }
        END {
            for (l in depth) if (depth[l]) print "location " l ": " depth[l] " regions without an end"
            for (l in turned) if (turned[l] !~ /^"?OFF"?"?ON"?$/) print "location " l ": recording " turned[l]
            if (around != np || inside != np || off < np) print around " around, " inside " inside, " off " stops"
        }' >"$tmp/out"
    test ! -s "$tmp/out" || bad "the archive is not right:"
    otf2-print -G "$tmp/trace/traces.otf2" >"$tmp/out" 2>&1
    seen '^REGION .*Name: "smooth" .*Role: CODE, Paradigm: USER' || bad "a region is not defined as the program's:"
}

# Until a run gives the right report.
in_some_run() { # what, command...
    what=$1
    shift
    try=0
    while test "$try" -lt 5; do
        try=$((try + 1))
        traced "$@"
        right_report && right_archive && return
    done
    bad "$what, in each of $try runs; the last:"
}

in_some_run "linked" env MPIRMA_TRACE="$tmp/trace" "$bin/trace_regions" "$ms"
cp "$tmp/output" "$tmp/out"
test "$(grep -c 'warn.*too many regions one in another' "$tmp/out")" = "$np" || bad "too many regions one in another: not said once:"
cp "$tmp/text" "$tmp/out"
seen "^ +rank $((np - 1)), computing in \"assemble\" between MPI_Win_fence at .* and MPI_Put at " || bad "text: no cause by its region:"
seen "^ +$((3 * np)) +.* smooth\$" || bad "text: no region:"
"$bin/spool_check" "$tmp/trace" "$np" >"$tmp/out" 2>&1 || bad "what is recorded is not right:"

# Without a trace, and without the library, the same functions return the same.
mpirun "$np" "$bin/trace_regions" 0
test "$rc" = 0 || bad "without a trace: exit code $rc"
mpirun "$np" "$bin/trace_regions_plain" 0
test "$rc" = 0 || bad "without the library: exit code $rc"
if test -z "$SANITIZERS"; then
    in_some_run "preloaded" "$MPI_RMA_RUN" --trace "$tmp/trace" "$bin/trace_regions_plain" "$ms"
    in_some_run "with all calls" "$MPI_RMA_RUN" --trace-all "$tmp/trace" "$bin/trace_regions_plain" "$ms"
else
    echo "SKIP: preloaded: a build with sanitizers can't be preloaded"
fi

if test -x "$bin/fort_regions"; then
    traced env MPIRMA_TRACE="$tmp/trace" "$bin/fort_regions"
    python3 - "$tmp/report" "$np" >"$tmp/out" 2>&1 <<'EOS' || bad "Fortran:"
import json, sys
report, ranks = json.load(open(sys.argv[1])), int(sys.argv[2])
regions = {region["name"]: region["visits"] for region in report["regions"]}
assert regions == {"steps": ranks, "step": 3 * ranks, "m" * 127: ranks, None: 0}, regions
assert report["functions"]["MPI_Win_fence"]["calls"] == 3 * ranks, report["functions"]
EOS
else
    echo "SKIP: Fortran: not in this build"
fi
finish
