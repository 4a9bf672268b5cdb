#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# preload.sh - a binary that is linked with the host's MPI alone gives its RMA to the
# library when preloaded, by mpi-rma-run and by LD_PRELOAD itself; the statistics
# at MPI_Finalize (MPIRMA_STATS) show it, on standard error or in a file.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded under a program without"
plain=$bin/plain_rma
if ldd "$plain" | grep -q 'libmpi-rma\.so'; then
    echo "FAILED: plain_rma is linked with the library: it must not be"
    exit 1
fi

# Without the library: the host's own, and no word of ours.
mpirun "$np" env MPIRMA_STATS=1 "$plain"
seen '^libmpi-rma' && bad "without the library there are statistics:"

# plain_rma uses a window over a global array: not possible on the mapped path.
if test "$MPIRMA_PATH" = mapped; then
    mpirun "$np" "$MPI_RMA_RUN" "$plain"
    ended_badly && ! seen "^plain_rma: ok" || bad "MPIRMA_PATH=mapped and a window over a global array: exit code 0"
    seen MPI_Win_create || bad "the message does not name MPI_Win_create:"
    finish
fi

stats_of() { # what
    test "$rc" = 0 || bad "$1: exit code $rc"
    seen '^plain_rma: ok' || bad "$1: the program did not end well:"
    seen "^windows +$((3 * np)) +3 +3 +0\$" || bad "$1: the statistics have not the three windows of each process:"
}

mpirun "$np" env MPIRMA_STATS=1 "$MPI_RMA_RUN" "$plain"
stats_of "mpi-rma-run"
case ${MPIRMA_PATH:-auto} in
auto) used=mapped ;;
cma) used=cma ;;
net-packets) used=net_packets ;;
*) used=shm_packets ;;
esac
seen "^${used}_ops +[1-9]" || bad "statistics don't show the path ${MPIRMA_PATH:-auto}:"

mpirun "$np" env MPIRMA_STATS=1 LD_PRELOAD="$MPI_RMA_LIB" "$plain"
stats_of "LD_PRELOAD"

mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" "$MPI_RMA_RUN" "$plain"
seen '^libmpi-rma' && bad "statistics went to standard error and not to the file:"
test "$(counter all windows)" = $((3 * np)) || bad "MPIRMA_STATS=FILE: the windows are not in the file:"

mpirun "$np" env MPIRMA_STATS=0 "$MPI_RMA_RUN" "$plain"
seen '^plain_rma: ok' || bad "MPIRMA_STATS=0: the program did not end well:"
seen '^libmpi-rma' && bad "MPIRMA_STATS=0 and there are statistics:"

# MPIRMA_DISABLE=1: every call goes to the host, which never sees our paths.
# A host that makes no shared window says so in most runs.
host_fails=
for _ in 1 2 3; do
    mpirun "$np" env MPIRMA_DISABLE=1 MPIRMA_STATS=1 MPIRMA_PATH= "$MPI_RMA_RUN" "$plain"
    test "$rc" != 0 || break
    ! seen 'same shared memory domain' || host_fails=yes
done
if test "$rc" != 0 && test -n "$host_fails"; then
    echo "SKIP: MPIRMA_DISABLE=1: the host makes no shared window"
else
    test "$rc" = 0 || bad "MPIRMA_DISABLE=1: exit code $rc"
    seen '^plain_rma: ok' || bad "MPIRMA_DISABLE=1: the program did not end well:"
fi
seen '^(mapped|cma|shm_packets|net_packets)_ops' &&
    bad "MPIRMA_DISABLE=1 and the library carried operations:"
finish
