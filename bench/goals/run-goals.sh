#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run-goals.sh - all that bench/rma/rma measures of the goals, and what becomes of them, one command.
#
# For each build given: the host alone and the library on it with two ranks, all
# sizes (put and get up to 64 MiB, accumulates up to 1 MiB) and all kinds of window;
# then the library with each number of ranks of --np, for what may or may not grow
# with it and for more ranks than processors. At the end: each run held against
# bench/goals/limits.csv (report goals), growth (report growth), and where the library is slower than the better host
# (report compare). Exit code 0, 1 when a run failed; goals not met change nothing.

usage() {
    cat <<'EOF'
Usage: run-goals.sh [OPTIONS] MPIEXEC=BUILD [MPIEXEC=BUILD ...]
  MPIEXEC=BUILD    a launcher and the build directory for its host, for example
                   mpiexec.mpich=build-mpich mpiexec.openmpi=build-openmpi
  --runs N         so many runs of host and library each for the comparison, in turns; the
                   fastest counts (default 1; the goals printed are the first run's)
  --np "LIST"      numbers of ranks for growth (default "2 4 8")
  --out DIR        keep the CSV files and the full output there
  --quick          few sizes and short measurements, 8 B to 1 MiB
  --only LIST      some of compare,growth (default both)
  --help           this text
Environment: MPIEXEC_FLAGS. An idle machine is needed, and about half an hour a host.
EOF
}

top_srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
. "$top_srcdir/bench/common/options.sh"
np="2 4 8"
out=
quick=
only=compare,growth
runs=1
builds=
while [ $# -gt 0 ]; do
    case $1 in
    --np | --out | --only | --runs)
        has_value "$@"
        case $1 in
        --np) np=$2 ;;
        --out) out=$2 ;;
        --only) only=$2 ;;
        --runs) runs=$2 ;;
        esac
        shift
        ;;
    --quick) quick=--quick ;;
    *=*) builds="$builds $1" ;;
    *) unknown_option "$1" --runs --np --out --quick --only ;;
    esac
    shift
done
case $runs in
'' | 0 | *[!0-9]*)
    echo "run-goals.sh: --runs '$runs' is not a number of runs" >&2
    exit 2
    ;;
esac
if [ -z "$builds" ]; then
    usage >&2
    exit 2
fi
for pair in $builds; do
    for need in bench/rma/rma .libs/libmpi-rma.so; do
        if [ ! -r "${pair#*=}/$need" ]; then
            echo "run-goals.sh: no '${pair#*=}/$need' (make it first)" >&2
            exit 2
        fi
    done
done
result_directory
rm -f "$out"/compare-*.csv "$out"/compare-*.txt "$out"/growth-*.csv "$out"/growth-*.txt
failed=0

# run NAME N LIBRARY OPTIONS...: one run of $rma; its CSV and output go to $out/NAME.
run() {
    name=$1
    n=$2
    preload=$3
    shift 3
    [ -t 2 ] && printf '\r%-60s' "$name ..." >&2
    rm -f "$out/$name.csv"
    if ! (
        . "$top_srcdir/bench/common/launch.sh"
        launch "$n" env ${preload:+LD_PRELOAD="$preload"} "$rma" $quick "$@" --csv="$out/$name.csv"
    ) >"$out/$name.txt" 2>&1; then
        printf '\n%s failed:\n' "$name"
        tail -20 "$out/$name.txt"
        failed=1
    fi
    [ -t 2 ] && printf '\r%60s\r' '' >&2
}

for pair in $builds; do
    MPIEXEC=${pair%%=*}
    export MPIEXEC
    build=$(cd "${pair#*=}" && pwd) || exit 2
    rma=$build/bench/rma/rma
    lib=$build/.libs/libmpi-rma.so
    label=$(basename "$MPIEXEC")
    case $only in
    *compare*)
        i=1
        while [ "$i" -le "$runs" ]; do
            more=
            [ "$i" = 1 ] || more=-$i
            run "compare-$label-host$more" 2 "" --suite=latency,acc,atomic,passive,create,memory,calls,active
            run "compare-$label-library$more" 2 "$lib"
            i=$((i + 1))
        done
        ;;
    esac
    case $only in
    *growth*)
        # Short blocks: the shortest then had a processor to itself.
        for n in $np; do
            run "growth-$label-$n" "$n" "$lib" --suite=anchors,calls,active --sizes=8 --acc-sizes=8 --reps=15 \
                --block-ms=1
        done
        ;;
    esac
done

for results in "$out"/compare-*-library.csv "$out"/growth-*.csv; do
    [ -r "$results" ] || continue
    python3 "$top_srcdir/bench/report.py" goals --measured "$results"
    [ $? -le 1 ] || failed=1
    echo
done
set -- "$out"/growth-*.csv
[ -r "$1" ] && python3 "$top_srcdir/bench/report.py" growth "$@"
set -- "$out"/compare-*.csv
if [ -r "$1" ]; then
    echo
    python3 "$top_srcdir/bench/report.py" compare "$@"
    [ $? -le 1 ] || failed=1
fi
exit $failed
