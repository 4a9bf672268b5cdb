#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# papers.sh - measure what the papers measured, on both hosts, and write doc/report/papers.md's part on it.
#
#   sh scripts/papers.sh [OPTIONS]
#
#   --table    run nothing, write the part of the results that are there
#
# The results are CSV files in build-papers, those over the network in its folder net; the papers' own numbers are in
# bench/report/published.csv. Takes under ten minutes for both hosts, and wants a machine that does nothing else. What
# wants more processes than there are processors is not measured, but for what does not depend on time.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

run=yes
while test $# -gt 0; do
    case $1 in
    --table) run= ;;
    *) unknown_option "$1" --table ;;
    esac
    shift
done
out=$top_srcdir/build-papers
processors=$(nproc)
failed=0

fail() { # what, its output
    echo "papers.sh: failed: $1" >&2
    tail -n 20 "$2" >&2
    failed=1
}

# start N PROGRAM ARGUMENTS...: under the launcher of $host.
start() {
    MPIEXEC=mpiexec.$host
    . "$top_srcdir/bench/common/launch.sh"
    launch "$@"
}

# rma NAME N OPTIONS...: bench/rma/rma by the host and through the library.
rma() {
    name=$1
    n=$2
    shift 2
    for who in host library; do
        say "$name, $host, by the $who"
        preload=
        test "$who" = host || preload=$(build_dir "$host")/.libs/libmpi-rma.so
        (start "$n" env ${preload:+LD_PRELOAD="$preload"} "$(build_dir "$host")/bench/rma/rma" --memory=malloc,allocate \
            --reps=5 --block-ms=5 "$@" --csv="$out/$name-$host-$who.csv") >"$out/$name-$host-$who.txt" 2>&1 ||
            fail "$name, $host, $who" "$out/$name-$host-$who.txt"
    done
}

# example NAME N ARGUMENTS...: an example by the host and through the library, each process on a processor of its own
# where there are enough. Its file of values gets the columns host and library in front.
example() {
    name=$1
    n=$2
    shift 2
    for who in host library; do
        say "$name, $n processes, $host, by the $who"
        to=$out/$name-$n-$host-$who
        disable=1
        test "$who" = host || disable=0
        # shellcheck disable=SC2016 # for the shell that is started
        pin='exec taskset -c "${OMPI_COMM_WORLD_LOCAL_RANK:-$MPI_LOCALRANKID}" "$@"'
        # shellcheck disable=SC2016
        test "$n" -le "$processors" || pin='exec "$@"'
        (start "$n" env MPIRMA_DISABLE=$disable sh -c "$pin" sh \
            "$(build_dir "$host")/examples/$name" "$@" csv="$to.values") >"$to.txt" 2>&1 || fail "$name, $host, $who" "$to.txt"
        test ! -f "$to.values" || sed "1s/^/host,library,/; 2,\$s/^/$host,$((1 - disable)),/" "$to.values" >"$to.csv"
    done
}

halo() { # folder, processes, options
    folder=$1
    n=$2
    shift 2
    mkdir -p "$folder" || exit 1
    MPIEXEC=mpiexec.$host sh "$top_srcdir/bench/halo/run-halo.sh" --np "$n" --out "$folder" \
        --lib "$(build_dir "$host")/.libs/libmpi-rma.so" --halo "$(build_dir "$host")/bench/halo/mpi-rma-halo" "$@" \
        -- --sizes=16,64,256,1K,16K,64K,256K --modes=fence_assert,pscw,lock --memory=malloc,allocate --reps=5 --block-ms=10 \
        >"$folder/halo-$host-$n.txt" 2>&1 || fail "run-halo.sh $*, $host" "$folder/halo-$host-$n.txt"
}

# As many as there may be, at most.
at_most() { # number
    test "$1" -le "$processors" && echo "$1" || echo "$processors"
}

measure() {
    for n in 2 4; do
        test "$n" -le "$processors" || continue
        halo "$out" "$n"
        halo "$out/net" "$n" --net
    done
    rma latency 2 --suite=latency --sizes=8,1K,16K,64K,4M
    rma bw 2 --suite=bw --sizes=1K,16K,64K,256K,512K,1M
    rma skew 2 --suite=skew,overlap
    rma origins "$(at_most 8)" --suite=origins
    for n in 1 2 4 8; do
        test "$n" -le "$processors" || continue
        example automaton "$n" rows=512 steps=20
    done
    for n in 1 2 4; do
        test "$n" -le "$processors" || continue
        example stencil3d "$n" from=64 to=128 steps=5 repeats=5
    done
    example poisson 2 from=128 to=1024
    example spline_table 4 evaluations=2000
    example pcg 4 nx=32 ny=32 nz=64
}

if test -n "$run"; then
    make_target="libmpi-rma.la bench/rma/rma bench/halo/mpi-rma-halo examples/automaton examples/stencil3d examples/poisson
        examples/spline_table examples/pcg"
    bootstrap
    for host in $hosts; do
        (build "$host") || die "the build for $host failed"
    done
    rm -rf "$out"
    mkdir -p "$out/net" || exit 1
    for host in $hosts; do
        measure
    done
fi
test -d "$out" || die "there are no results"
python3 "$top_srcdir/bench/report" published --processors "$processors" "$out" >"$out/part" || exit 1
replace_part "$top_srcdir/doc/report/papers.md" papers <"$out/part"
exit "$failed"
