#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# request_refused.sh - an R-operation whose generalized request the host refuses waits until it is complete: that is said once,
# and a long wait is reported as any other.

. "$abs_top_srcdir/test/mpi/mtest.sh"

mpirun "$np" env MPIRMA_HANG_REPORT=0.4 "$bin/request_host" long
test "$rc" = 0 || bad "exit code $rc"
n=$(grep -c 'warning: MPI_Rget: the host refuses a generalized request' "$tmp/out")
test "$n" = 1 || bad "$n warnings of two refused requests:"
seen 'error: MPI_Rget waits for [0-9.]* s for its operation to be complete: the host has refused' || bad "the long wait is not reported:"
finish
