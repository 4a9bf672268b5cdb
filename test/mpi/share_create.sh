#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# share_create.sh - with MPIRMA_SHARE_CREATE=1 the mapped path carries what goes to malloc memory, as the statistics
# say; a refusal is told; shared pages in a directory's files, too, and nothing stays there, nor of a process that is killed.

. "$abs_top_srcdir/test/mpi/mtest.sh"
MT_LIMIT=100
shm_before
MPIRMA_STATS=$tmp/stats.csv
MPIRMA_SHARE_CREATE=1
export MPIRMA_STATS MPIRMA_SHARE_CREATE

# By the statistics of all processes together, and of each.
shared() {
    test "$(counter all share_windows)" -gt 0 && test "$(counter all share_bytes)" -gt 0
}

not_shared() {
    test "$(counter all share_windows)-$(counter all share_bytes)" = 0-0 && test "$(counter all share_refused)" -gt 0
}

each_shared_and_refused() {
    rank=0
    while test "$rank" -lt "$np"; do
        for name in share_windows share_bytes share_refused; do
            test "$(counter "$rank" "$name")" -gt 0 || return 1
        done
        rank=$((rank + 1))
    done
}

mpirun "$np" "$bin/share_create" open
test "$rc" = 0 || bad "exit code $rc"
if test "$SHARE_CREATE" = no; then
    test "$(grep -c 'warning: window .* do not become shared memory.*: .*--disable-share-create' "$tmp/out")" = "$np" ||
        bad "not one note for each of $np processes that this library cannot share memory in place:"
    test "$(grep -c 'do not become shared memory' "$tmp/out")" = "$np" || bad "more than one note for a process:"
    not_shared && test "$(counter all cma_ops)" -gt 0 ||
        bad "the statistics do not say that the kernel did it:"
    test "$mt_bad" != 0 || skip_all "all else: this build was configured with --disable-share-create"
    finish
    exit
fi
if seen 'SKIP: .*trace'; then
    skip_all "a process may not trace its own threads here, so no memory becomes shared"
fi
each_shared_and_refused ||
    bad "the statistics of $np processes do not say what was shared in place:"
seen 'warning: window .* do not become shared memory.*: it is a stack' || bad "no note on the stack:"
seen 'warning: window .* do not become shared memory.*: it is static memory' || bad "no note on static memory:"

# Nothing of a program with malloc windows goes by the kernel or by packets any more.
mpirun "$np" env MTEST_ROUNDS=20 "$bin/lock"
test "$rc" = 0 || bad "lock: exit code $rc"
shared || bad "lock: nothing was shared:"

# Files of a directory: a tmpfs has room for files as long as all addresses.
dir=$(mktemp -d /dev/shm/mpi-rma-share.XXXXXX) || exit 1
mpirun "$np" env MPIRMA_SEGMENT_DIR="$dir" "$bin/share_create" open
test "$rc" = 0 || bad "in $dir: exit code $rc"
shared || bad "in $dir: nothing was shared:"
dir_is_empty "$dir" "the end of the program"
rmdir "$dir"
shm_after "the end of the program"

# A file size limit is a reason to refuse.
mpirun "$np" sh -c "ulimit -f 1000000; exec '$bin/put_get'"
test "$rc" = 0 || bad "with ulimit -f: exit code $rc"
seen 'do not become shared memory.*ulimit -f' || bad "with ulimit -f: no note:"
not_shared || bad "with ulimit -f: the statistics do not say so:"
finish
