#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# performance.sh - measure on this machine, both hosts, and print the figures of doc/report/full-report.md.
#
#   sh scripts/performance.sh [OPTIONS]
#
#   --full     all three times, the halo exchange over tcp too, and up to 8 origins; the figures are left in
#              doc/report/full-report.md, and the plots beside it
#   --update   leave them there of any run, and write the table of gains into README.md
#   --table    run nothing, print the figures of the run that is there
#
# Counts instructions (bench/goals/count-instructions.sh), holds the library against the goals, asks what
# memory costs and repeats the measurements of the papers (bench/rma/rma), and exchanges halos with 2 and
# 4 processes (bench/halo/run-halo.sh), each by the host's own one-sided calls and through the library. What
# weak unlocks save (bench/net/net) is the library's alone.
# That takes under ten minutes, with --full half an hour, and wants a machine that does nothing else:
# its load before and after is printed with the figures. A time is the median of the rounds, and a
# case counts as slower only if it is so in each of them. What is missing is installed, and both
# builds are made, as by check.sh. In build-performance stay the CSV files (of each round in
# round1 and so on), the full output, the plots (SVG), and the report as report.md and report.html.
# "make bench" and "make bench-full" run this.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

run=yes
update=
full=
while test $# -gt 0; do
    case $1 in
    --full) full=yes ;;
    --update) update=yes ;;
    --table) run= ;;
    *) unknown_option "$1" --full --update --table ;;
    esac
    shift
done
out=$top_srcdir/build-performance
failed=0

# How many processes wanted to run in the last minute, on average.
load() {
    cut -d ' ' -f 1 /proc/loadavg
}

# What the figures depend on, a line "name|value" each.
machine() {
    echo "date|$(date +%Y-%m-%d)"
    echo "processor|$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) of them"
    lscpu | sed -n 's/^Hypervisor vendor: */virtual machine|/p'
    lscpu | sed -n 's/^L\([23]\) cache: */cache, level \1|/p'
    echo "huge pages|private memory $(word_in_use enabled), shared memory $(word_in_use shmem_enabled)"
    echo "kernel|$(uname -sr)"
    echo "compiler|$($(sed -n 's/^CC = //p' "$(build_dir mpich)/Makefile") --version | head -n 1), $(sed -n 's/^CFLAGS = //p' "$(build_dir mpich)/Makefile")"
    echo "load before|$(cat "$out/load")"
}

# From the first line of what the bench prints.
host_versions() {
    for host in $hosts; do
        sed -n '1s/.* ranks, \(.*\), one-sided calls by \(.*\);.*/\1, \2/p' "$out/round1/goals-$host-library.txt"
    done | paste -s -d '|' | sed 's/|/; /g; s/^/hosts and library|/'
}

word_in_use() { # file of the kernel, which puts it in brackets
    sed 's/.*\[\(.*\)\].*/\1/' "/sys/kernel/mm/transparent_hugepage/$1" 2>/dev/null || echo "none"
}

# The program that makes tables of results.
report_of() {
    python3 "$top_srcdir/bench/report" "$@"
}

# bench NAME HOST N WHO OPTIONS...: one run of bench/rma/rma, WHO being host or library; its output goes
# to NAME-HOST-WHO.
bench() {
    name=$to/$1-$2-$4
    host=$2
    n=$3
    preload=
    test "$4" = host || preload=$(build_dir "$host")/.libs/libmpi-rma.so
    say "$1, $host, by the $4"
    shift 4
    (
        MPIEXEC=mpiexec.$host
        . "$top_srcdir/bench/common/launch.sh"
        launch "$n" env ${preload:+LD_PRELOAD="$preload"} "$(build_dir "$host")/bench/rma/rma" --quick "$@" --csv="$name.csv"
    ) >"$name.txt" 2>&1 || fail "bench/rma/rma $*, $host" "$name.txt"
}

# unlocks HOST: lock, put, unlock to two targets in turn, with and without mpirma_weak_unlock, by the
# packets of a node and over the network.
unlocks() {
    host=$1
    for path in shm-packets net-packets; do
        name=$to/unlock-$path-$host-library
        say "unlock, $host, $path"
        (
            MPIEXEC=mpiexec.$host
            . "$top_srcdir/bench/common/launch.sh"
            export MPIRMA_PATH="$path" MPIRMA_OFI_INTERFACE=lo
            launch 3 env LD_PRELOAD="$(build_dir "$host")/.libs/libmpi-rma.so" \
                "$(build_dir "$host")/bench/net/net" --suites=unlock --csv="$name.csv"
        ) >"$name.txt" 2>&1 || fail "bench/net/net, $path, $host" "$name.txt"
    done
}

# halo HOST WHERE OPTIONS...: run-halo.sh into the directory WHERE. Where send and receive differed by
# more than half between the host's run and the library's, which a "!" marks, the runs are repeated,
# twice at most; where there are more rounds their medians serve.
halo() {
    host=$1
    where=$2
    shift 2
    mkdir -p "$where" || exit 1
    for attempt in $attempts; do
        MPIEXEC=mpiexec.$host sh "$top_srcdir/bench/halo/run-halo.sh" --out "$where" \
            --lib "$(build_dir "$host")/.libs/libmpi-rma.so" --halo "$(build_dir "$host")/bench/halo/mpi-rma-halo" "$@" \
            >"$where/halo-$host.txt" 2>&1 ||
            fail "run-halo.sh $*, $host" "$where/halo-$host.txt"
        grep -q '[0-9]!' "$where/halo-$host.txt" || return
        test "$attempt" = "${attempts##* }" || say "halo exchange, $host, again: send and receive differed between two runs"
    done
}

# A run that gave no figures: its cells say so.
fail() { # what, its output
    echo "performance.sh: failed: $1" >&2
    tail -n 20 "$2" >&2
    failed=1
}

count() { # host, library or nothing, file
    MPIEXEC=mpiexec.$1 RMA=$(build_dir "$1")/bench/rma/rma MPIRMA_LIB=$2 \
        sh "$top_srcdir/bench/goals/count-instructions.sh" >"$3" 2>&1
    test $? -le 1 || fail "count-instructions.sh, $1" "$3"
}

# They do not vary, once is enough.
count_instructions() { # host
    say "instructions, $1"
    count "$1" "" "$out/instructions-host-$1.txt"
    count "$1" "$(build_dir "$1")/.libs/libmpi-rma.so" "$out/instructions-library-$1.txt"
}

# One-sided calls by both in turns, suite by suite, into $to.
measure() { # host
    for suites in latency,bw acc,atomic,passive skew,overlap create,memory,calls; do
        bench "${suites%%,*}" "$1" 2 host --suite="$suites"
        bench "${suites%%,*}" "$1" 2 library --suite="$suites"
    done
    bench goals "$1" 2 library --suite=anchors,latency,acc,atomic,passive,skew,create,memory,calls,active
    for n in 2 4 8; do
        for who in host library; do
            bench "active$n" "$1" "$n" "$who" --suite=active
        done
    done
    for who in host library; do
        bench origins "$1" "$origins" "$who" --suite=origins
    done
    unlocks "$1"
    say "halo exchange, $1"
    halo "$1" "$to"
    test -z "$full" || halo "$1" "$to/net" --net
}

# The medians of the rounds, file by file.
merge_rounds() {
    for file in "$out"/round1/*.csv "$out"/round1/net/*.csv; do
        test -f "$file" || continue
        name=${file#"$out"/round1/}
        mkdir -p "$(dirname "$out/$name")"
        report_of median "$out"/round[0-9]*/"$name" >"$out/$name" || failed=1
    done
    for file in "$out"/round1/*-[24]-*.txt "$out"/round1/net/*-[24]-*.txt; do # the first line says what it is
        test ! -f "$file" || cp "$file" "$out/${file#"$out"/round1/}"
    done
}

# The curves, as SVG files in the directory performance, and a list of them.
plots() {
    mkdir -p "$out/performance"
    report_of plots "$out" >"$out/plots" || failed=1
    while IFS='|' read -r id title x y logs styles; do
        gnuplot -e "data='$out/performance/$id.dat'; out='$out/performance/$id.svg'; name='$title'; xname='$x'; yname='$y'; logs='$logs'; styles='$styles'" \
            "$top_srcdir/scripts/plot.gp" || fail "gnuplot, $id" "$out/performance/$id.dat"
        rm -f "$out/performance/$id.dat"
    done <"$out/plots"
}

# report.md and report.html: the figures by themselves.
report() {
    { printf '# Performance of libmpi-rma\n'; cat "$out/figures"; } >"$out/report.md"
    {
        cat <<'EOF'
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Performance of libmpi-rma</title><style>
:root { color-scheme: light dark }
body { font: 15px/1.45 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto }
td, th { border: 1px solid #8888; padding: 0.2em 0.6em }
img { max-width: 100% }
</style></head><body>
EOF
        cmark-gfm -e table "$out/report.md"
        echo '</body></html>'
    } >"$out/report.html"
}

rounds=1
origins=4
attempts="1 2 3"
if test -n "$full"; then
    rounds="1 2 3"
    origins=8
    attempts=1
fi
packages="$packages gnuplot-nox cmark-gfm"
if test -n "$run"; then
    (install_missing) || exit 1
    bootstrap
    make_target="libmpi-rma.la bench/rma/rma bench/halo/mpi-rma-halo bench/net/net"
    for host in $hosts; do
        build "$host" || die "the build for $host failed"
    done
    rm -rf "$out"
    mkdir -p "$out" || exit 1
    load >"$out/load"
    machine >"$out/machine"
    start=$(date +%s)
    for host in $hosts; do
        count_instructions "$host"
    done
    for round in $rounds; do
        to=$out/round$round
        mkdir -p "$to" || exit 1
        say "round $round of ${rounds##* }"
        for host in $hosts; do
            measure "$host"
        done
    done
    merge_rounds
    host_versions >>"$out/machine"
    echo "load after|$(load)" >>"$out/machine"
    echo "rounds|${rounds##* }" >>"$out/machine"
    echo "the run took|$((($(date +%s) - start + 30) / 60)) minutes" >>"$out/machine"
fi
test -f "$out/machine" || die "there are no results"
plots
report_of figures --processors "$(nproc)" "$out" >"$out/figures" || failed=1
cat "$out/figures"
report
if test -n "$full$update"; then
    replace_part "$top_srcdir/doc/report/full-report.md" figures <"$out/figures"
    rm -rf "$top_srcdir/doc/report/performance"
    cp -r "$out/performance" "$top_srcdir/doc/report/performance"
fi
if test -n "$update"; then
    report_of gains "$out" "$top_srcdir/doc/report/real-programs.md" >"$out/gains" || die "there is no table of gains"
    replace_part "$top_srcdir/README.md" gains <"$out/gains"
fi
exit "$failed"
