#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stats.sh [late] - MPIRMA_STATS: the table of a job, as text, CSV and JSON, has what the program "stats" is known to
# do; processes that end before MPI_Finalize, or that take no part, are told of in bounded time; a file that can't be
# written is a message, and the job goes on. With "late": a rank comes to MPI_Finalize more than a minute late.

. "$abs_top_srcdir/test/mpi/mtest.sh"
python=$(command -v python3) || skip_all "no python3"

# Jobs in which rank 1 takes no part: it has not the library, or not the variable. They take their time, in the background.
partial=
if test "$np-$MPI_PATH" = 2-auto; then
    partial=variable
    test -n "$SANITIZERS" || partial="variable library"
    for lacks in $partial; do
        {
            # shellcheck disable=SC2016 # for the program's shell
            timeout -k 5 $((60 * MT_SLOW)) sh "$abs_top_srcdir/test/run/mpiexec.sh" 2 sh -c '
                case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK}-$1 in
                0-variable) MPIRMA_STATS=1 exec "$2/stats" ;;
                1-variable) exec "$2/stats" ;;
                0-library) MPIRMA_STATS=1 exec "$MPI_RMA_RUN" "$2/plain_rma" ;;
                1-library) MPIRMA_STATS=1 exec "$2/plain_rma" ;;
                esac' sh "$lacks" "$bin" >"$tmp/$lacks" 2>&1 </dev/null
            echo $? >"$tmp/$lacks.rc"
        } &
    done
fi

cat >"$tmp/check.py" <<'END'
import csv, json, sys

path, n, text, csv_name, json_name = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
kind = {"auto": "mapped", "packets": "shm_packets", "net": "net_packets"}[path]
# Of all targets but the process itself, whose memory is mapped; one of these.
routes = {"auto": {"stage > ready > joint > mapped"}, "packets": {"ready > shm-packets"}, "net": {"ready > rdma", "ready > net-packets"}}[path]
wrong = []

def check(good, *what):
    if not good:
        wrong.append(" ".join(map(str, what)))

# What rank r of the program does.
def known(r):
    return {"windows": 1, kind + "_ops": r + 3, kind + "_bytes": 8 * (r + 1) + 8,
            "alloc_mem_calls": 3, "alloc_mem_bytes": 300 * (r + 1)}

# Counters that depend on time.
def varies(name):
    return name in ("alloc_mem_ns", "futex_sleeps", "agent_wakeups") or path != "auto" and name.startswith(
        ("packets_sent", "packets_rec", "packets_q", "packets_p", "acks", "net_")) and name not in ("net_dropped", "net_peers_lost")

def check_rows(rows, form):
    check([int(row["rank"]) for row in rows] == list(range(n)), form, "ranks", [row["rank"] for row in rows])
    for row in rows:
        r = int(row["rank"])
        check(row["host"] == open("/proc/sys/kernel/hostname").read().strip() or path == "netns2", form, "host", row["host"])
        check(routes & set(row["routes"].split("; ")), form, "routes", row["routes"])
        check((row["network"] != "") == (path == "net"), form, "network", row["network"])
        check(int(row["alloc_mem_ns"]) > 0, form, "alloc_mem_ns")
        for name, value in row.items():
            if name not in ("rank", "host", "routes", "network") and not varies(name):
                check(int(value) == known(r).get(name, 0), form, "rank", r, name, value)

rows = list(csv.DictReader(open(csv_name, newline="", encoding="ascii")))
check_rows(rows, "CSV")
names = list(rows[0])[2:-2]
total = {name: sum(int(row[name]) for row in rows) for name in names}
if path != "auto":
    check(total["packets_sent"] >= total["packets_received"] > 0, "packets", total["packets_sent"], total["packets_received"])

with open(json_name, encoding="utf-8", errors="strict") as file:
    data = json.load(file)
check_rows(data["ranks"], "JSON")
check(data["processes"] == n and data["missing"] == [] and data["version"], "JSON: processes, missing, version")
check([c["name"] for c in data["counters"]] == names, "JSON and CSV have different counters")
for c in data["counters"]:
    values = [row[c["name"]] for row in data["ranks"]]
    check((c["sum"], c["least"], c["most"]) == (sum(values), min(values), max(values)), "JSON: summary of", c["name"])
    check(values.index(max(values)) == c["rank_with_most"], "JSON: rank with most", c["name"])
    check(c["meaning"] and c["unit"] in ("", "bytes", "ns") and (c["unit"] == "" or c["name"].endswith(c["unit"])), c["name"], "unit")

lines = open(text).read().split("\n")
title = f"libmpi-rma: statistics of {n} processes"
check(lines.count(title) == 1 and not any("error" in line for line in lines), "table: title")
table = {}
for line in lines[lines.index(title) + 2:] if title in lines else []:
    words = line.split()
    if len(words) == 5 and words[0] in names:
        table[words[0]] = tuple(map(int, words[1:]))
for name in names:
    values = [known(r).get(name, 0) for r in range(n)]
    if not varies(name):
        check(table.get(name) == (None if max(values) == 0 else
                                  (sum(values), min(values), max(values), values.index(max(values)))), "table:", name, table.get(name))
check(all(row[2] > 0 for row in table.values()), "table: a row of zeros")
check(any(line.startswith("routes of rank 0: ") and any(route in line for route in routes) for line in lines), "table: routes")
check(any(line.startswith("network of rank 0: ") for line in lines) == (path == "net"), "table: network")

print("\n".join(wrong))
sys.exit(bool(wrong))
END

run() { # MPIRMA_STATS, arguments
    stats=$1
    shift
    mpirun "$np" env MPIRMA_STATS="$stats" "$bin/stats" "$@"
}

known() {
    run 1
    test "$rc" = 0 || bad "table: exit code $rc"
    cp "$tmp/out" "$tmp/table"
    for form in csv json; do
        mkdir "$tmp/$form"
        echo "something else" >"$tmp/$form/stats.$form" # is replaced
        run "$tmp/$form/stats.$form"
        test "$rc" = 0 || bad "$form: exit code $rc"
        seen 'libmpi-rma' && bad "$form: a table on standard error, too:"
        test "$(ls "$tmp/$form")" = "stats.$form" || bad "$form: other files: $(ls "$tmp/$form")"
    done
    "$python" "$tmp/check.py" "$MPI_PATH" "$np" "$tmp/table" "$tmp/csv/stats.csv" "$tmp/json/stats.json" \
        >"$tmp/out" 2>&1 || bad "what the program did is not what is counted:"
}

# One message of the job, and nothing left behind.
unwritable() {
    for name in "$tmp/none/stats.csv" "$tmp/table/stats.json" /dev/full; do
        run "$name"
        test "$rc" = 0 && seen 'stats: passed' || bad "$name: exit code $rc"
        test "$(grep -c "libmpi-rma.*error: MPIRMA_STATS: cannot write $name: " "$tmp/out")" = 1 || bad "$name: not one message:"
        test "$(grep -c 'libmpi-rma' "$tmp/out")" = 1 || bad "$name: more than one message:"
    done
}

written() {
    test -s "$tmp/die.csv"
}

# The last rank ends itself; the host may wait for it in its own part of MPI_Finalize.
dies() {
    MPIEXEC_KEEP=1 MPIRMA_STATS="$tmp/die.csv" sh "$abs_top_srcdir/test/run/mpiexec.sh" 3 sh -c 'trap "" USR1; "$@"; exit 0' \
        sh "$bin/stats" die >"$tmp/out" 2>&1 </dev/null &
    launcher=$!
    wait_for 20 written || bad "a rank has ended before MPI_Finalize: no table:"
    wait_for 5 launcher_gone || kill "$launcher"
    wait "$launcher"
    seen "MPIRMA_STATS: these ranks have ended before MPI_Finalize.* are not counted: 2\$" ||
        bad "a rank has ended before MPI_Finalize: no message names it:"
    cut -d, -f1 "$tmp/die.csv" >"$tmp/out"
    test "$(xargs <"$tmp/out")" = "rank 0 1" ||
        bad "a rank has ended before MPI_Finalize: not all others are in the table:"
}

late() {
    MT_LIMIT=100
    run 1 late 15
    test "$rc" = 0 && seen "statistics of $np processes" || bad "15 s late: exit code $rc"
    seen "warning: MPI_Finalize waits for the statistics of ranks $((np - 1))\$" || bad "15 s late: no message:"
    run 1 late 65
    test "$rc" = 0 && seen "statistics of $((np - 1)) of $np process" || bad "65 s late: exit code $rc"
}

# Each process of a program with sessions has a table by itself.
sessions() {
    mkdir "$tmp/sessions"
    mpirun "$np" env MPIRMA_STATS="$tmp/sessions/s.csv" "$bin/sessions"
    seen 'SKIP: this host does not declare sessions' && return
    test "$rc" = 0 || bad "sessions: exit code $rc"
    find "$tmp/sessions" -name 's.*.*.csv' -exec cat {} + | grep -v '^rank,host,' | cut -d, -f1 | sort >"$tmp/out"
    test "$(xargs <"$tmp/out")" = "$(seq -s ' ' 0 $((np - 1)))" || bad "sessions: not one table for each process:"
    test "$(find "$tmp/sessions" -type f | wc -l)" = "$np" || bad "sessions: $(ls "$tmp/sessions")"
}

if test "$1" = late; then
    late
    finish
fi
known
if test "$np-$MPI_PATH" = 2-auto; then
    unwritable
    dies
    sessions
fi
for lacks in $partial; do
    while test ! -s "$tmp/$lacks.rc"; do
        sleep 0.1
    done
    read -r rc <"$tmp/$lacks.rc"
    mv "$tmp/$lacks" "$tmp/out"
    ended_badly && test "$rc" != 124 || bad "rank 1 lacks the $lacks: exit code $rc"
    seen 'error: MPIRMA_STATS is set for this process, but .* set it for all processes or for none' ||
        bad "rank 1 lacks the $lacks: no message:"
done
finish
