#!/bin/sh
# mpiexec.sh NPROCS PROGRAM [ARGS] - run PROGRAM under the host's own mpiexec, with
# the switches that this host wants here: one place that knows them, for the tests
# and the benches. Needs MPI_HOST and MPIEXEC in the environment (test/env.sh, or
# scripts/halo.sh); MPI_CORES may give the number of cores.

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
exec "$MPIEXEC" "$@"
