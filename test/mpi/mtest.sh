# mtest.sh - what the shell tests here share; sourced by them, started by run-list.sh.
#
# Needs test/env.sh's variables (abs_top_builddir, MPI_HOST, MPIEXEC, ...). A test
# calls ok or bad once per check, and finish at the end: exit code 1 if any was bad.
# Everything goes to a private directory $tmp that is removed at the end.

set -f
bin=${abs_top_builddir:?started by run-list.sh}/test/mpi
np=${MPI_NPROCS:-2}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-mtest.XXXXXX") || exit 1
mt_bad=0
trap 'rm -rf "$tmp"' EXIT
trap 'exit 143' INT TERM HUP

# mpirun NPROCS COMMAND...: under mpiexec, output to $tmp/out, exit code in $rc.
mpirun() {
    mt_n=$1
    shift
    timeout -k 5 "${MT_LIMIT:-40}" sh "$abs_top_srcdir/test/mpiexec.sh" "$mt_n" "$@" \
        >"$tmp/out" 2>&1 </dev/null
    rc=$?
}

show() {
    sed 's/^/    /' "$tmp/out" | tail -n 25
}

bad() {
    mt_bad=$((mt_bad + 1))
    echo "FAILED: $*"
    show
}

# seen PATTERN (extended regular expression, any case) in the output of the last mpirun
seen() {
    grep -Eqi -e "$1" "$tmp/out"
}

skip_all() {
    echo "SKIP: $*"
    exit 77
}

# What names shared memory may not have got since the test began. The hosts have
# objects of their own there, and leave them when killed: those are not ours.
shm_names() {
    ls -A /dev/shm 2>/dev/null |
        grep -Ev '^(vader_segment|osc_rdma|ompi|open_mpi|psm|ucx_shm|mpich|MPICH|sem\.|pmix|PMIX)' | sort
}

shm_before() {
    shm_names >"$tmp/shm.before"
}

shm_after() { # what had been done
    shm_names >"$tmp/shm.after"
    comm -13 "$tmp/shm.before" "$tmp/shm.after" >"$tmp/out"
    test ! -s "$tmp/out" || bad "$1: left in /dev/shm:"
}

dir_is_empty() { # directory, what had been done
    ls -A "$1" >"$tmp/out"
    test ! -s "$tmp/out" || bad "$2: left in the segment directory:"
}

finish() {
    echo "${0##*/}: $mt_bad failed checks"
    test "$mt_bad" = 0
    exit $?
}
