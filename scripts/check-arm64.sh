#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-arm64.sh - what a cross compiler can tell about ARM64: that the sources without MPI compile,
# and that the read-modify-writes which the library takes for a full fence (atomic_rmw_fence in
# src/base/atomic.h, doc/memory-ordering.md) have one on a processor without LSE. Nothing is run.
#
#   sh scripts/check-arm64.sh
# Needs aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross), the headers
# of hwloc and libfabric, and a configured build-mpich or build-openmpi, whose config.h it takes.
# The last line is "N passed, N failed, N skipped".

. "$(dirname "$0")/options.sh"
answer_first "$@"
test $# = 0 || unknown_option "$1"
cd "$(dirname "$0")/.." || exit 1
cc=aarch64-linux-gnu-gcc
passed=0
failed=0
skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    test "$failed" = 0
    exit
}

if ! command -v "$cc" >/dev/null; then
    echo "SKIP: ARM64: no $cc (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
    skipped=1
    finish
fi
for config in build-mpich/config.h build-openmpi/config.h; do
    test ! -r "$config" || break
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# The system's headers come last: those of the cross compiler's C library go first.
compile() {
    "$cc" -std=gnu11 -D_GNU_SOURCE -march=armv8-a -mno-outline-atomics -O2 -Wall -Wextra -Werror \
        -include "$config" -Isrc -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu "$@"
}

# src/mpi, and the few others that include mpi.h, need a host for ARM64.
for source in $(find src -name '*.c' ! -path 'src/mpi/*' | sort); do
    if compile -fsyntax-only "$source" >"$tmp/errors" 2>&1; then
        passed=$((passed + 1))
    elif grep -q 'fatal error: mpi\.h:' "$tmp/errors"; then
        skipped=$((skipped + 1))
    else
        echo "FAIL: $source does not compile for ARM64:"
        head -n 5 "$tmp/errors"
        failed=$((failed + 1))
    fi
done

cat >"$tmp/fences.c" <<'END'
#include "base/fmutex.h"
#include "rma/path/acc_atomic.h"
#include "rma/win/lockword.h"
void unlock_target(_Atomic uint64_t *word);
void unlock_target(_Atomic uint64_t *word) { lockword_release(word, true); }
void unlock_stripe(struct fmutex *mx);
void unlock_stripe(struct fmutex *mx) { fmutex_unlock(mx); }
void leave_accumulate(struct win *w);
void leave_accumulate(struct win *w) { acc_atomic_leave(w); }
END
compile -c "$tmp/fences.c" -o "$tmp/fences.o" && aarch64-linux-gnu-objdump -d "$tmp/fences.o" >"$tmp/code"
for function in unlock_target unlock_stripe leave_accumulate; do
    if awk -v name="<$function>:" '$2 == name { in_it = 1; next } /^$/ { in_it = 0 }
        in_it && /stlxr/ { fence = 0 } in_it && /dmb[ \t]+ish$/ { fence = 1 } END { exit !fence }' "$tmp/code"; then
        passed=$((passed + 1))
    else
        echo "FAIL: $function has no full fence behind its read-modify-write"
        failed=$((failed + 1))
    fi
done
finish
