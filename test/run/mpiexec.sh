#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec.sh NPROCS PROGRAM [ARGS] - run PROGRAM under the host's own mpiexec, with
# the switches that this host wants here: one place that knows them, for the tests
# and the benches. Needs MPI_HOST and MPIEXEC in the environment (test/run/env.sh, or
# scripts/halo.sh); MPI_CORES may give the number of cores. On the machines of
# netns/netns.sh (NETNS_HOSTS) the ranks are spread over all of them, and on those of
# scripts/fabric.sh, with MACHINES=roce. With MPIEXEC_KEEP=1 those that are left are not ended when one of them dies.

test $# -ge 2 && test -n "$MPI_HOST" && test -n "$MPIEXEC" || {
    echo "usage: MPI_HOST=mpich|openmpi MPIEXEC=FILE sh mpiexec.sh NPROCS PROGRAM [ARGS]" >&2
    exit 2
}
nprocs=$1
shift

# Cores, not hardware threads: Open MPI counts its slots so.
if test -z "$MPI_CORES"; then
    MPI_CORES=$(nproc)
    cores=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
    test "$cores" -gt 0 && test "$cores" -lt "$MPI_CORES" && MPI_CORES=$cores
fi

# The host's own leaks are not ours to report.
case $SANITIZERS in
*address*) ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" && export ASAN_OPTIONS ;;
esac

tests=$(cd "$(dirname "$0")/.." && pwd)
# The hosts are built without instrumentation, so what they order and access is not judged (what this
# library copies and frees is, by src/base/tsan_libc.h). UCX's hooks in the allocator run in threads that the
# sanitizer does not know yet, and it crashes.
case $SANITIZERS in
*thread*)
    TSAN_OPTIONS="ignore_noninstrumented_modules=1:history_size=7${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
    UCX_MEM_EVENTS=no
    export TSAN_OPTIONS UCX_MEM_EVENTS
    ;;
esac
keep=
case $MPIEXEC_KEEP-$MPI_HOST in
1-mpich) keep=-disable-auto-cleanup ;;
1-openmpi) keep=--enable-recovery ;;
esac
if test -n "$NETNS_HOSTS"; then
    launch=$tests/${MACHINES:-netns}/launch.sh
    set -- -n "$nprocs" "$@"
    test -z "$keep" || set -- "$keep" "$@"
    case $MPI_HOST in
    mpich) set -- -launcher ssh -launcher-exec "$launch" -hosts "$NETNS_HOSTS" "$@" ;;
    openmpi)
        slots=$(echo "$NETNS_HOSTS" | sed "s/,/:$nprocs,/g;s/\$/:$nprocs/")
        set -- --mca plm_rsh_agent "$launch" --mca btl_tcp_if_include eth0 \
            --mca oob_tcp_if_include eth0 -H "$slots" --map-by node --bind-to none "$@"
        test "$(id -u)" = 0 && set -- --allow-run-as-root "$@"
        ;;
    esac
    exec "$MPIEXEC" "$@"
fi

case $MPI_HOST in
openmpi)
    if test "$nprocs" -gt "$MPI_CORES"; then
        set -- --oversubscribe --bind-to none -n "$nprocs" "$@"
    else
        set -- -n "$nprocs" "$@"
    fi
    test "$(id -u)" = 0 && set -- --allow-run-as-root "$@"
    ;;
mpich) set -- -n "$nprocs" "$@" ;;
*)
    echo "mpiexec.sh: MPI_HOST is '$MPI_HOST', expected mpich or openmpi" >&2
    exit 2
    ;;
esac
test -z "$keep" || set -- "$keep" "$@"
exec "$MPIEXEC" "$@"
