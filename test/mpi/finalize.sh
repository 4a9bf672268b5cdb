#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# finalize.sh - MPI_Abort in the middle of epochs leaves nothing behind.
#
# Runs "finalize abort" (some ranks asleep in lock calls, one computing nothing in
# an epoch), with anonymous segments and with a segment directory; then the job
# must end with an exit code that is not 0, no rank may live on, and neither
# /dev/shm nor the directory may hold anything new of ours.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=30
MT_ABORTS=yes
shm_before

for dir in "" "$tmp/segments"; do
    what="MPI_Abort${dir:+ with a segment directory}"
    if test -n "$dir"; then
        mkdir "$dir"
        MPIRMA_SEGMENT_DIR=$dir
        export MPIRMA_SEGMENT_DIR
    fi
    mpirun "$np" "$bin/finalize" abort
    test "$rc" != 0 || bad "$what: exit code 0"
    test "$rc" != 124 && test "$rc" != 137 || bad "$what: the job did not end"
    seen 'failed checks|TIMEOUT|expected' && bad "$what: a check failed before it"
    tries=50
    while test -n "$(job_alive)" && test "$tries" -gt 0; do
        sleep 0.1
        tries=$((tries - 1))
    done
    left=$(job_alive)
    test -z "$left" || bad "$what: still alive: $left"
    shm_after "$what"
    test -z "$dir" || dir_is_empty "$dir" "$what"
done
finish
