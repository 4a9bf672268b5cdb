#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run-halo.sh - the halo exchange on one host, without and with libmpi-rma.
#
# Runs the same program twice for each number of ranks, plain and with the
# library preloaded, and prints tables for each number of ranks that have the ratios
# to isend/irecv of both, and what they show. The program itself verifies all contents: a
# cell whose data were wrong says so. Exit code 0, or 1 when the library's run failed or
# gave wrong data, or the library was not in use in it; what the host's does wrong is shown only.

usage() {
    cat <<'EOF'
Usage: run-halo.sh [OPTIONS] [-- OPTIONS OF halo]
  --np "LIST"      numbers of ranks (default "2 4", or $NP)
  --halo PROGRAM   the benchmark, linked with the host only ($HALO, default
                   ./bench/halo/mpi-rma-halo)
  --lib FILE       libmpi-rma.so built for this host ($MPIRMA_LIB)
  --out DIR        keep the CSV files and the full output there
  --net            over the network's path: the host's tcp on loopback, and
                   libmpi-rma's network between all ranks
  --short          only the kinds of epochs and of memory that programs have most: a minute
                   for both hosts
  --long           all sizes and long measurements: 14 minutes for both hosts (or LONG=1)
  --no-pin         do not pin ranks where there are enough processors
  --help           this text
Environment: MPIEXEC (default that of the build, else mpiexec), MPIEXEC_FLAGS.
EOF
}

top_srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
. "$top_srcdir/bench/common/options.sh"
np=${NP:-2 4}
halo=${HALO:-./bench/halo/mpi-rma-halo}
lib=${MPIRMA_LIB:-}
out=
long=${LONG:-0}
short=0
pin=--pin
net=0
only_read=
while [ $# -gt 0 ]; do
    case $1 in
    --np | --halo | --lib | --out)
        has_value "$@"
        case $1 in
        --np) np=$2 ;;
        --halo) halo=$2 ;;
        --lib) lib=$2 ;;
        --out) out=$2 ;;
        esac
        shift
        ;;
    --net) net=1 ;;
    --short) short=1 ;;
    --long) long=1 short=0 ;;
    --no-pin) pin= ;;
    --only-read) only_read=yes ;; # of halo.sh, before it installs anything
    --)
        shift
        break
        ;;
    *) unknown_option "$1" --np --halo --lib --out --net --short --long --no-pin ;;
    esac
    shift
done
[ -z "$only_read" ] || exit 0
if [ ! -x "$halo" ]; then
    echo "run-halo.sh: no program '$halo' (use --halo or HALO)" >&2
    exit 2
fi
if [ -z "$lib" ] || [ ! -r "$lib" ]; then
    echo "run-halo.sh: cannot read libmpi-rma.so: '$lib' (use --lib or MPIRMA_LIB)" >&2
    exit 2
fi
case $lib in
/*) ;;
*) lib=$PWD/$lib ;;
esac
[ "$long" = 1 ] || pin="$pin --quick"
# As many columns as a terminal has room for.
[ "$short" = 0 ] || pin="$pin --modes=fence_assert,fence,pscw,lock,lock_all --memory=malloc,allocate"

benchmark=$halo
. "$top_srcdir/bench/common/launch.sh"

# Both the host's sends and its one-sided calls over tcp, as between machines. Open MPI's own windows
# would stay in shared memory (osc/sm), or take the network by a library that its sends do not use
# (osc/ucx). osc/rdma refuses tcp, which leaves osc/pt2pt; Debian's settings switch that off, so it is
# named here. Not in the library's run, whose window handles are small windows of osc/sm. Memory of
# MPI_Alloc_mem is like that of MPI_Win_allocate there.
host_env=
if [ "$net" = 1 ]; then
    export MPIRMA_PATH=net-packets MPIRMA_OFI_INTERFACE=lo
    set -- --modes=isend,fence_assert,fence,fence_one,pscw,lock,lock_all,fence_msgs,pscw_msgs,lock_msgs,lock_all_msgs \
        --memory=malloc,allocate "$@"
    case $launcher in
    mpich) export UCX_TLS=tcp,self UCX_NET_DEVICES=lo ;;
    openmpi)
        export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
        host_env="env OMPI_MCA_osc=^sm,ucx"
        ;;
    esac
fi

result_directory
failed=0

# run LABEL N PREFIX... : one run; its CSV and output go to $out.
run() {
    label=$1
    n=$2
    shift 2
    set -- "$@" --csv="$out/$launcher-$n-$label.csv"
    if [ -t 2 ]; then # where it is told how far it is, errors are seen there as well
        launch "$n" "$@" --progress >"$out/$launcher-$n-$label.txt"
    else
        launch "$n" "$@" >"$out/$launcher-$n-$label.txt" 2>&1
    fi
    if [ $? != 0 ]; then
        [ "$label" = host ] || failed=1
        grep -q 'wrong: ' "$out/$launcher-$n-$label.csv" 2>/dev/null && return # the table says it
        printf '\nhalo failed, %s ranks, %s:\n' "$n" "$label"
        cat "$out/$launcher-$n-$label.txt"
    fi
}

legend=--legend
for n in $np; do
    start=$(date +%s)
    rm -f "$out/$launcher-$n-host.csv" "$out/$launcher-$n-library.csv"
    # shellcheck disable=SC2086
    run host "$n" $host_env "$halo" $pin "$@"
    middle=$(date +%s)
    # shellcheck disable=SC2086
    run library "$n" env LD_PRELOAD="$lib" "$halo" $pin "$@"
    end=$(date +%s)
    for label in host library; do
        [ -f "$out/$launcher-$n-$label.csv" ] || : >"$out/$launcher-$n-$label.csv"
    done
    printf '\n%s\n' "$(sed -E '/^(Other work|There are|Measured) /,$d' "$out/$launcher-$n-host.txt")"
    # The greater of both.
    cat "$out/$launcher-$n-host.txt" "$out/$launcher-$n-library.txt" | grep '^Other work keeps' | sort | tail -n 1
    python3 "$top_srcdir/bench/report.py" halo $legend "$out/$launcher-$n-host.csv" "$out/$launcher-$n-library.csv" || failed=1
    legend=
    printf '\nrun took %s s by the host, %s s with the library\n' $((middle - start)) $((end - middle))
done
exit $failed
