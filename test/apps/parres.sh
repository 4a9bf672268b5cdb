# SPDX-License-Identifier: BSD-3-Clause
# parres.sh - the Parallel Research Kernels by one-sided communication, by shared memory, and in Fortran. They are not in
# Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="Parallel Research Kernels"
app_packages="gfortran"

app_prepare() {
    given_source Kernels || return 1
    app_version=$(cat "$given/Kernels/common/PRKVERSION" 2>/dev/null | sed -n 's/.*"\(.*\)".*/\1/p')
    built tree build_kernels "$given/Kernels" "$host"
}

# Each kernel's own Makefile; the Fortran ones share a folder.
build_kernels() ( # source, host
    cp -R "$1" src && cd src || return 1
    printf 'MPICC=mpicc.%s\nMPIRUN=true\n' "$2" >common/make.defs
    printf 'CC=mpicc.%s\nFC=mpifort.%s\nMPIFORT=mpifort.%s\nDEFAULT_OPT_FLAGS=-O2\n' "$2" "$2" "$2" >>common/make.defs
    for kernel in MPIRMA/Stencil MPIRMA/Synch_p2p MPIRMA/Transpose MPISHM/Stencil MPISHM/Synch_p2p MPISHM/Transpose; do
        name=$(basename $kernel | tr '[:upper:]' '[:lower:]' | sed 's/synch_//')
        make -C $kernel "$name" || echo "$kernel: left out"
    done
    make -C FORTRAN transpose-get-mpi transpose-acc-mpi || echo "FORTRAN: left out"
    test -x MPIRMA/Stencil/stencil
)

app_tests() {
    at=$PWD/tree/src
    for room in MPIRMA MPISHM; do
        group=
        test $room = MPIRMA || group=4 # processes that share memory
        echo "$room-stencil 4 120 $at/$room/Stencil/stencil $group 20 1000"
        echo "$room-p2p 4 120 $at/$room/Synch_p2p/p2p $group 20 500 500"
        echo "$room-transpose 4 120 $at/$room/Transpose/transpose $group 20 800"
    done | while read -r name nprocs seconds program rest; do
        test ! -x "$program" || echo "$name $nprocs $seconds $program $rest"
    done
    for name in transpose-get-mpi transpose-acc-mpi; do
        test ! -x "$at/FORTRAN/$name" || echo "FORTRAN-$name 4 120 $at/FORTRAN/$name 20 800"
    done
}

app_judge() {
    judge_by eval 'test "$rc" = 0 && grep -q "Solution validates" "$tmp/out"'
}
