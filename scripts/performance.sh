#!/bin/sh
# performance.sh - measure on this machine, both hosts, and print the figures of doc/performance.md.
#
#   sh scripts/performance.sh [OPTIONS]
#
#   --update   write the figures into doc/performance.md as well
#   --table    run nothing, print the figures of the run that is there
#
# Counts instructions (bench/count-instructions.sh), holds the library against the goals and asks
# what memory costs (bench/rma --quick), and exchanges halos with 2 and 4 processes
# (bench/run-halo.sh), each by the host's own one-sided calls and through the library. That takes
# eight to twelve minutes and wants a machine that does nothing else: its load before and after is
# printed with the figures. What is missing is installed, and both builds are made, as by check.sh.
# CSV files and full output stay in build-performance.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

run=yes
update=
while test $# -gt 0; do
    case $1 in
    --update) update=yes ;;
    --table) run= ;;
    *) die "'$1' is no option; see the first lines of $0" ;;
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
        sed -n '1s/.* ranks, \(.*\), one-sided calls by \(.*\);.*/\1, \2/p' "$out/goals-$host.txt"
    done | paste -s -d '|' | sed 's/|/; /g; s/^/hosts and library|/'
}

word_in_use() { # file of the kernel, which puts it in brackets
    sed 's/.*\[\(.*\)\].*/\1/' "/sys/kernel/mm/transparent_hugepage/$1" 2>/dev/null || echo "none"
}

# bench NAME HOST N LIBRARY OPTIONS...: one run of bench/rma; its output goes to NAME-HOST.
bench() {
    name=$out/$1-$2
    host=$2
    n=$3
    preload=$4
    shift 4
    (
        MPIEXEC=mpiexec.$host
        . "$top_srcdir/bench/launch.sh"
        launch "$n" env ${preload:+LD_PRELOAD="$preload"} "$(build_dir "$host")/bench/rma" --quick "$@" --csv="$name.csv"
    ) >"$name.txt" 2>&1 || fail "bench/rma $*, $host" "$name.txt"
}

# A run that gave no figures: its cells say so.
fail() { # what, its output
    echo "performance.sh: failed: $1" >&2
    tail -n 20 "$2" >&2
    failed=1
}

count() { # host, library or nothing, file
    MPIEXEC=mpiexec.$1 RMA=$(build_dir "$1")/bench/rma MPIRMA_LIB=$2 \
        sh "$top_srcdir/bench/count-instructions.sh" >"$3" 2>&1
    test $? -le 1 || fail "count-instructions.sh, $1" "$3"
}

measure() { # host
    lib=$(build_dir "$1")/.libs/libmpi-rma.so
    say "instructions, $1"
    count "$1" "" "$out/instructions-host-$1.txt"
    count "$1" "$lib" "$out/instructions-library-$1.txt"
    say "goals and memory, $1"
    bench goals "$1" 2 "$lib"
    bench memory "$1" 2 "" --suite=memory
    say "halo exchange, $1"
    MPIEXEC=mpiexec.$1 sh "$top_srcdir/bench/run-halo.sh" --out "$out" --lib "$lib" \
        --halo "$(build_dir "$1")/bench/halo" >"$out/halo-$1.txt" 2>&1 ||
        fail "run-halo.sh, $1" "$out/halo-$1.txt"
}

# The tables, in Markdown.
figures() {
    # shellcheck disable=SC2046 # file names without blanks
    awk -F, -f "$top_srcdir/scripts/performance.awk" what=machine "$out/machine" \
        what=instructions $(find "$out" -name 'instructions-*.txt' | sort) \
        what=results $(find "$out" -name 'goals-*.csv' -o -name 'memory-*.csv' | sort)
    for host in $hosts; do
        for n in 2 4; do
            result=$out/$host-$n
            test -f "$result-host.csv" || continue
            printf '\n%s:\n\n' "$(sed -n '1s/, one-sided calls by [^;]*;/;/; 1s/^halo exchange: //p' "$result-host.txt")"
            awk -F, -v markdown=1 -f "$top_srcdir/bench/halo-merge.awk" "$result-host.csv" "$result-library.csv" ||
                failed=1
        done
    done
}

if test -n "$run"; then
    (install_missing) || exit 1
    bootstrap
    make_target="libmpi-rma.la bench/rma bench/halo"
    for host in $hosts; do
        build "$host" || die "the build for $host failed"
    done
    rm -rf "$out"
    mkdir -p "$out" || exit 1
    load >"$out/load"
    machine >"$out/machine"
    start=$(date +%s)
    for host in $hosts; do
        measure "$host"
    done
    host_versions >>"$out/machine"
    echo "load after|$(load)" >>"$out/machine"
    echo "the run took|$((($(date +%s) - start + 30) / 60)) minutes" >>"$out/machine"
fi
test -f "$out/machine" || die "there are no results"
figures >"$out/figures" || failed=1
cat "$out/figures"
test -z "$update" || replace_part "$top_srcdir/doc/performance.md" figures <"$out/figures"
exit "$failed"
