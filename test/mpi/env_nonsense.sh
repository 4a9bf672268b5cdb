#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# env_nonsense.sh - bad values of the environment, and too little of everything.
#
# A value that is not understood gives one line for the job naming the variable, the value and
# what was expected, and a non-zero exit on the spot; a name that no setting has, and an old name, one line. A segment directory that is
# too small, and too few descriptors, are MPI errors and no crash, and the message
# names the limit; afterwards nothing is left in /dev/shm or in the directory.

. "$abs_top_srcdir/test/mpi/mtest.sh"
export MPIRMA_LOG=info # the programs handle their errors
shm_before

refused() { # variable, value, processes
    # Open MPI takes two seconds more for each job that fails: so none does.
    mpirun "$3" env "$1=$2" sh -c '"$0" || echo "exit code $?"' "$bin/alloc_mem"
    seen 'exit code' || bad "$1=$2: exit code 0"
    test "$rc" != 124 || bad "$1=$2: the program did not end"
    seen 'signal 11|segmentation|exit code 139' && bad "$1=$2: crashed:"
    lines=$(grep -F "$1" "$tmp/out" | grep -F -e "$2" | grep -ci expected)
    test "$lines" = 1 ||
        bad "$1=$2: $lines lines name the variable, the value and what was expected, not one for the job:"
}

refused MPIRMA_DISABLE maybe 1
refused MPIRMA_PATH warp 1
refused MPIRMA_PATH warp 2
refused MPIRMA_RANKS_PER_NODE -1 1
refused MPIRMA_RANKS_PER_NODE 2x 1
refused MPIRMA_STATS maybe 3
refused MPIRMA_PROGRESS fast 1
refused MPIRMA_STRICT yes 1
refused MPIRMA_HANG_REPORT soon 1
refused MPIRMA_HANG_REPORT -2 1
refused MPIRMA_LOG loud 1
refused MPIRMA_TUNE stage=12 1
refused MPIRMA_TUNE cma_queue=1,stage=12 3
refused MPIRMA_TUNE stage 1
refused MPIRMA_STAGE 127 1

# Whether or not rank 0 has a window.
for part in all last; do
    mpirun 3 env MPIRMA_STRIKT=1 MPIRMA_LOG=warn MPIRMA_PATH=warp "$bin/part_window" "$part"
    test "$(grep -c 'error: MPIRMA_PATH="warp" is not understood' "$tmp/out")" = 1 ||
        bad "MPIRMA_PATH=warp, windows of $part: not told once:"
    test "$(grep -c 'warning: MPIRMA_STRIKT is set.*the nearest is MPIRMA_STRICT$' "$tmp/out")" = 1 ||
        bad "MPIRMA_STRIKT, windows of $part: not told once:"
done

# Names that no setting has, and old names of tuning parameters: a line each for the job, and the job goes on.
told_once() { # what, pattern
    test "$(grep -cE "libmpi-rma.0.: warning: $2" "$tmp/out")" = 1 || bad "$1: not told once:"
}
mpirun 3 env MPIRMA_LOG=warn MPIRMA_WINDOW_KIND=1 MPIRMA_TUNE=stag=1,cma_queue=64 MPIRMA_STAGE=256 MPIRMA_DEFER_WAIT=0 "$bin/win_attr"
test "$rc" = 0 || bad "names that no setting has: exit code $rc:"
told_once MPIRMA_WINDOW_KIND 'MPIRMA_WINDOW_KIND is set, but this library has no such variable$'
told_once stag 'stag stands in MPIRMA_TUNE, but this library has no such tuning parameter; the nearest is stage$'
told_once "old names" 'the next release will not know these old variables: MPIRMA_STAGE MPIRMA_DEFER_WAIT; set MPIRMA_TUNE=stage=256,defer_wait=0,stag=1,cma_queue=64 instead$'
test "$(grep -c 'warning: ' "$tmp/out")" = 3 || bad "names that no setting has: other warnings:"
mpirun 3 env MPIRMA_LOG=warn MPIRMA_TUNE=stage=256,defer_wait=0 "$bin/win_attr"
seen 'warning' && bad "MPIRMA_TUNE: warnings:"

# Where it is asked for, rank 0 says that the library is in use.
for path in auto shm-packets; do
    case $path in auto) paths='paths: mapped, cma and shm-packets within a node, net-packets between nodes' ;; *) paths="path: $path" ;; esac
    mpirun 2 env MPIRMA_LOG=info MPIRMA_PATH=$path "$bin/win_attr"
    test "$(grep -c "libmpi-rma.0.: info: libmpi-rma [0-9.]* is in use, on .*MPI.*; $paths" "$tmp/out")" = 1 ||
        bad "MPIRMA_LOG=info, MPIRMA_PATH=$path: not told once that the library is in use:"
done
mpirun 2 env MPIRMA_LOG=warn "$bin/win_attr"
seen 'is in use' && bad "MPIRMA_LOG=warn: told that the library is in use:"

# No word is taken for the name of a file.
(cd "$tmp" && mpirun 1 env MPIRMA_STATS=yes "$bin/win_attr")
test ! -e "$tmp/yes" || bad "MPIRMA_STATS=yes makes a file of that name"

# Well-formed, but not possible here: refused with the name.
for setting in MPIRMA_SEGMENT_DIR=/nonexistent/dir MPIRMA_SEGMENT_DIR=/dev/null; do
    mpirun 1 env "$setting" sh -c '"$0" || echo "exit code $?"' "$bin/alloc_mem"
    seen 'exit code' || bad "$setting: exit code 0"
    seen "${setting%%=*}.*${setting#*=}" || bad "$setting: no message names it:"
    seen 'signal 11|segmentation|exit code 139' && bad "$setting: crashed:"
done

# A network that is not there: all processes are told so, by the same window.
for setting in MPIRMA_OFI_PROVIDER=nonesuch MPIRMA_OFI_INTERFACE=nonesuch0; do
    mpirun 2 env MPIRMA_PATH=net-packets "$setting" sh -c '"$0" || echo "exit code $?"' "$bin/alloc_mem"
    seen 'exit code' || bad "$setting: exit code 0"
    seen "${setting#*=} \(${setting%%=*}\)" || bad "$setting: no message names it:"
    seen 'signal 11|segmentation|exit code 139' && bad "$setting: crashed:"
done
# Processes that would choose different paths for the same pair.
mpirun 2 sh -c 'MPIRMA_RANKS_PER_NODE=$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} + 1)) "$0" || echo "exit code $?"' \
    "$bin/alloc_mem"
seen 'exit code' || bad "different MPIRMA_RANKS_PER_NODE: exit code 0"
seen 'must be the same for all processes' || bad "different MPIRMA_RANKS_PER_NODE: no message says so:"

# Empty means unset; nonsense of others is none of our business.
mpirun 1 env MPIRMA_PATH= MPIRMA_LOG= MPIRMA_STATS= MPIRMA=x XMPIRMA_PATH=warp "$bin/alloc_mem"
test "$rc" = 0 || bad "empty variables: exit code $rc"

# A segment directory on a file system of 64 MiB, in a mount name space of its own.
mkdir "$tmp/small" || exit 1
if unshare -m true 2>/dev/null; then
    cat >"$tmp/in-small" <<'END'
mount -t tmpfs -o size=64m tmpfs "$1" || exit 78
MPIRMA_SEGMENT_DIR=$1 sh "$abs_top_srcdir/test/run/mpiexec.sh" "$2" "$3" 512 memory
rc=$?
ls -A "$1" >"$4"
exit $rc
END
    timeout 60 unshare -m sh "$tmp/in-small" "$tmp/small" 2 "$bin/segment_room" "$tmp/left" >"$tmp/out" 2>&1
    rc=$?
    if test "$rc" = 78; then
        echo "SKIP: tiny segment directory: tmpfs can't be mounted here"
    else
        test "$rc" = 0 || bad "tiny segment directory: exit code $rc"
        cp "$tmp/left" "$tmp/out"
        test ! -s "$tmp/left" || bad "tiny segment directory: left there:"
    fi
else
    echo "SKIP: tiny segment directory: needs root, for a mount name space"
fi

# More than the machine has, without a directory.
mpirun 2 "$bin/segment_room" 16777216 memory
test "$rc" = 0 || bad "16 TiB: exit code $rc"

# A segment directory that works, and is empty afterwards.
mkdir "$tmp/segments"
mpirun 2 env "MPIRMA_SEGMENT_DIR=$tmp/segments" "$bin/win_attr"
test "$rc" = 0 || bad "MPIRMA_SEGMENT_DIR: exit code $rc"
dir_is_empty "$tmp/segments" "after a program that ended"

# Descriptors run out after MPI_Init, or (with very few) inside it.
for limit in 96 64 48; do
    mpirun 2 sh -c 'ulimit -n "$0" && exec "$@"' "$limit" "$bin/segment_room" 64 descriptors
    seen 'signal 11|segmentation|signal 7|bus error' && bad "ulimit -n $limit: crashed:"
    test "$rc" != 124 || bad "ulimit -n $limit: the program did not end"
    if test "$limit" = 96; then
        test "$rc" = 0 || bad "ulimit -n $limit: exit code $rc"
    fi
    if test "$limit" = 96 || seen 'windows, then an error'; then
        seen "too few file descriptors: .*the limit is $limit \(ulimit -n\).*a window needs" ||
            bad "ulimit -n $limit: no message says what was wrong and what is needed:"
    fi
done
shm_after "all of this"
finish
