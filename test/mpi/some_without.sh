#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# some_without.sh - ranks 1 and 3 of four have been started without the library: the first window of any kind, and the first
# MPI_Comm_split_type, end the job with a message that names them. A rank that only comes late is waited for. All at the same time,
# since each takes its time in waiting. Where the host alone makes no shared windows, ranks 1 and 3 end the job by
# its error, and that kind is left out.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded under a program without"
MPI_CORES=0
export MPI_CORES

# start NAME RANKS-WITHOUT ARGUMENTS...: output and exit code to files of that name
start() {
    name=$1
    without=$2
    shift 2
    {
        # shellcheck disable=SC2016 # for the program's shell
        timeout -k 5 80 sh "$abs_top_srcdir/test/run/mpiexec.sh" 4 sh -c '
            case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in
            ['"$without"']) exec "$@" ;;
            esac
            exec "$MPI_RMA_RUN" "$@"' sh "$bin/some_without" "$@" >"$tmp/$name" 2>&1 </dev/null
        echo $? >"$tmp/$name.rc"
    } &
}

look() { # name
    mv "$tmp/$1" "$tmp/out"
    read -r rc <"$tmp/$1.rc"
    echo "$1: exit code $rc"
}

start host 0123 shared 0
start late 9 allocate 12
start late_split 9 split 12
start handled 13 allocate 0 handled
start handled_split 13 split 0 handled
for kind in create allocate shared dynamic split; do
    start "$kind" 13 "$kind" 0
done
wait
look host
kinds="create allocate shared dynamic split handled handled_split"
if test "$rc" != 0 && seen 'same shared memory domain'; then
    echo "SKIP: the host makes no shared window, without the library too"
    kinds="create allocate dynamic split handled handled_split"
fi
for late in late late_split; do
    look $late
    test "$rc" = 0 && seen 'some_without: ok' || bad "$late: a late rank is not waited for:"
done
for kind in $kinds; do
    look "$kind"
    ended_badly && test "$rc" != 124 || bad "$kind: exit code $rc"
    seen 'error: MPI_[WC][a-z_]*: MPI_ERR_OTHER: of the 4 processes of the communicator, these ranks do not have this library.*: 1 3; start' ||
        bad "$kind: no message names the ranks without the library:"
    seen 'signal 11|segmentation' && bad "$kind: crashed:"
    case $kind in
    handled*) seen 'rank [02]: no (window|split)' || bad "$kind: the error did not come back to the program:" ;;
    esac
done
finish
