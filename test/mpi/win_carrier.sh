#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# win_carrier.sh - the host's window behind each of ours, where the host would rather not give one: Open
# MPI with a selection of components for one-sided communication that lacks sm, however it is said, and
# MPICH without a communicator left. A refusal says what failed and what to do.

. "$abs_top_srcdir/test/mpi/mtest.sh"
export MPIRMA_LOG=info

works() { # what, then the command
    what=$1
    shift
    mpirun "$@"
    test "$rc" = 0 || bad "$what: exit code $rc"
}

if test "$MPI_HOST" = openmpi; then
    works "the component ucx alone" "$np" env OMPI_MCA_osc=ucx "$bin/win_carrier"
    works "all components but sm, after MPI_T_init_thread" 1 env OMPI_MCA_osc=^sm "$bin/win_carrier" tool
    mkdir -p "$tmp/home/.openmpi" && echo 'osc = rdma' >"$tmp/home/.openmpi/mca-params.conf" || exit 1
    works "the component rdma alone, in a file" 1 env "HOME=$tmp/home" "$bin/win_carrier"
    # Other components of Open MPI 6 make such windows, too.
    mpirun 1 env OMPI_MCA_osc=ucx "$bin/win_carrier" behind
    case $MPI_BUILD:$MPI_HOST_VERSION in
    abi:* | openmpi:[6-9].*)
        if seen 'expected MPI_ERR_OTHER, saw MPI_SUCCESS'; then
            echo "SKIP: a selection that was settled before: the host's component ucx makes the window"
            finish
        fi
        ;;
    esac
    test "$rc" = 0 || bad "a selection that was settled before: exit code $rc"
    seen 'MPI_Win_allocate: MPI_ERR_OTHER: .*refused.*osc="ucx": add sm' || bad "no message says what failed and what to do:"
else
    works "windows without end" "$np" "$bin/win_carrier" many
    if seen '^2500 windows'; then
        echo "SKIP: windows without end: the host has no limit of communicators that they come to"
        finish
    fi
    seen 'MPI_Win_allocate: MPI_ERR_OTHER: .*no further communicator.*free windows or communicators' ||
        bad "no message says what failed and what to do:"
fi
finish
