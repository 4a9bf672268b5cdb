#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh - measure on this machine, on both hosts, by the host's own one-sided calls and through the library, and print one
# table of it.
#
#   sh scripts/bench.sh [--full | --table]
#
#   --full     all sizes and three runs of each: about an hour; without it about ten minutes
#   --table    run nothing, print the table of the results that are there
#
# The halo exchange with 2 and 4 processes, also over tcp (bench/halo/run-halo.sh), puts, gets, accumulates, atomic operations and
# the creation of windows with 2 processes (bench/goals/run-goals.sh). The machine should do nothing else meanwhile: its load before
# and after is told. What is missing is installed, and both builds are made, as by check.sh. In build-bench stay the CSV files, the
# full output, and plots of the halo exchange (SVG). With HOSTS="mpich" only one host. "make bench" runs this.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

full=
run=yes
case ${1-} in
'') ;;
--full) full=yes ;;
--table) run= ;;
*) unknown_option "$1" --full --table ;;
esac
out=$top_srcdir/build-bench
failed=0

# How many processes wanted to run in the last minute, on average.
load() {
    cut -d ' ' -f 1 /proc/loadavg
}

# logged NAME COMMAND...: its output goes to build-bench/NAME.txt, the end of it is shown where it fails.
logged() {
    name=$1
    shift
    say "$name"
    "$@" >"$out/$name.txt" 2>&1 && return
    echo "bench.sh: failed: $name; the last lines of $out/$name.txt:" >&2
    tail -n 20 "$out/$name.txt" >&2
    failed=1
}

halo() { # name, host, options
    name=$1
    dir=$(build_dir "$2")
    mkdir -p "$out/$name" || exit 1
    MPIEXEC=mpiexec.$2
    export MPIEXEC
    shift 2
    logged "$name" sh "$top_srcdir/bench/halo/run-halo.sh" --lib "$dir/.libs/libmpi-rma.so" --halo "$dir/bench/halo/mpi-rma-halo" \
        --out "$out/$name" ${full:+--long} "$@"
}

if test -n "$run"; then
    (install_missing) || exit 1
    bootstrap
    make_target="libmpi-rma.la bench/rma/rma bench/halo/mpi-rma-halo"
    builds=
    for host in ${HOSTS:-$hosts}; do
        build "$host" || die "the build for $host failed"
        builds="$builds mpiexec.$host=$dir"
    done
    rm -rf "$out"
    mkdir -p "$out" || exit 1
    before=$(load)
    for host in ${HOSTS:-$hosts}; do
        halo "halo-$host" "$host"
        halo "halo-tcp-$host" "$host" --net
    done
    quick=--quick
    test -z "$full" || quick="--runs 3"
    # Exit code 1 says that a run failed; what is slower than a host is told in the output.
    # shellcheck disable=SC2086 # lists of words
    logged goals sh "$top_srcdir/bench/goals/run-goals.sh" $quick --out "$out/goals" $builds
    echo "load before $before, after $(load); $(nproc) processors; $(uname -sr)" >"$out/machine"
fi
test -f "$out/machine" || die "there are no results; run this without --table first"
python3 "$top_srcdir/bench/report.py" table "$out" || failed=1
python3 "$top_srcdir/bench/report.py" plots "$out" >"$out/plots" || failed=1
echo
cat "$out/machine"
echo "CSV files, all output and $(grep -c . "$out/plots") plots are in $out"
exit "$failed"
