#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fort_abi.sh - a Fortran program over the standard ABI arrives in the library, where the host has a Fortran binding over it
# (libmpifort_abi.so.1 beside the host's libmpi_abi: Intel MPI), alone and with the library.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test "$MPI_BUILD" = abi || skip_all "this build is not for the standard ABI"
library=${ABI_LIB%/*}/libmpifort_abi.so.1
test -n "$ABI_LIB" && test -f "$library" || skip_all "the host has no Fortran binding over the standard ABI"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded under a program without"
command -v gfortran >"$tmp/out" || skip_all "no gfortran"

gfortran -w -fallow-argument-mismatch -J "$tmp" -o "$tmp/app" "$abs_top_srcdir/test/mpi/fort_abi.f90" \
    "$library" "$ABI_LIB" >"$tmp/out" 2>&1 || {
    bad "the program can't be built:"
    finish
}
mpirun "$np" "$tmp/app"
test "$rc" = 0 || bad "on the host alone: exit code $rc"
mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" "$MPI_RMA_RUN" "$tmp/app"
test "$rc" = 0 || bad "with the library: exit code $rc"
test "$(counter all windows)" = "$np" || bad "with the library: $(counter all windows) windows are counted"
finish
