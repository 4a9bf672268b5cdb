#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ctypes_global.sh - ctypes_global.py under mpi-rma-run: where a program that loads MPI by itself finds the library's functions.

. "$abs_top_srcdir/test/mpi/mtest.sh"
case $MPI_HOST in mpich | openmpi) ;; *) skip_all "no name of this host's libmpi is known" ;; esac
command -v python3 >/dev/null || skip_all "no python3"
mpirun "$np" "$abs_top_builddir/tools/mpi-rma-run" --host="$MPI_HOST" python3 "$abs_top_srcdir/test/mpi/ctypes_global.py"
test "$rc" = 0 || bad "exit code $rc:"
seen 'FAILED|ctypes_global.py:' && bad "functions are not those of whom the user guide says:"
finish
