#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-arm64.sh - build the library and its unit tests, with the models and the simulation, by a cross compiler
# for ARM64 and MPICH, run those tests under qemu-user, and look whether the read-modify-writes which the library
# takes for a full fence (atomic_rmw_fence in src/base/atomic.h, which argues why) have one on a processor
# without LSE.
#
#   sh scripts/check-arm64.sh
#
# Installs what is missing on Debian. The libraries of ARM64 come from this machine's own package source into
# build-arm64/tree and nowhere else; the build is in build-arm64. The last line is "N passed, N failed, N skipped",
# and the exit code is not zero if anything failed. A point that the emulator cannot pass is skipped with the
# reason that test/arm64/known has.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
test $# = 0 || unknown_option "$1"
triplet=aarch64-linux-gnu
build=$top_srcdir/build-arm64
tree=$build/tree
passed=0
failed=0
skipped=0
limit=900 # seconds for a program

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    test "$failed" = 0
    exit
}

fail() {
    echo "FAIL: ARM64: $*"
    failed=$((failed + 1))
}

skip() {
    echo "SKIP: ARM64: $*"
    skipped=$((skipped + 1))
    finish
}

# apt with an architecture, lists and archives of its own, and with this machine's sources, keys and proxies.
configure_apt() {
    rm -rf "$build/apt" && mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial" &&
        : >"$build/apt/status" || exit 1
    {
        apt-config dump | grep '^Acquire::'
        cat <<END
Dir::Etc::Main "/dev/null";
Dir::Etc::Parts "/dev/null";
Dir::State "$build/apt";
Dir::State::Lists "$build/apt/lists";
Dir::State::Status "$build/apt/status";
Dir::Cache "$build/apt";
Dir::Cache::Archives "$build/apt/archives";
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
END
    } >"$build/apt/apt.conf"
    export APT_CONFIG="$build/apt/apt.conf"
}

# What the tree's packages depend on comes, too; compilers for ARM64 do not go into the tree.
make_tree() (
    test ! -f "$tree/complete" || exit 0
    say "libraries of ARM64 in $tree"
    configure_apt
    step "$build/update.log" apt-get -q update || exit 1
    apt-cache show libmpich-dev >/dev/null 2>&1 || exit 2
    step "$build/download.log" apt-get -q -y --download-only install \
        libc6-dev libcmocka-dev libhwloc-dev libfabric-dev libmpich-dev || exit 1
    rm -rf "$tree" && mkdir "$tree" || exit 1
    for package in "$build"/apt/archives/*.deb; do
        case ${package##*/} in g++* | gcc* | gfortran* | cpp* | binutils*) continue ;; esac
        dpkg-deb -x "$package" "$tree" || exit 1
    done
    rm -rf "$build/apt"
    : >"$tree/complete"
)

# configure asks a wrapper for the flags of the host.
write_wrapper() {
    include=$(find "$tree/usr" -name mpi.h -path "*$triplet*" -exec dirname {} + | sort | head -n 1)
    test -n "$include" || return 1
    printf '#!/bin/sh\necho "%s-gcc -I%s -lmpich"\n' "$triplet" "$include" >"$build/mpicc" && chmod +x "$build/mpicc"
}

build_all() {
    if test ! -f config.status || test ../configure -nt config.status; then
        say "configure for ARM64"
        PKG_CONFIG_SYSROOT_DIR=$tree PKG_CONFIG_LIBDIR=$tree/usr/lib/$triplet/pkgconfig:$tree/usr/share/pkgconfig \
            step configure.log ../configure --build="$(sh ../build-aux/config.guess)" --host="$triplet" \
            CC="$triplet-gcc --sysroot=$tree" MPICC="$build/mpicc" MPIEXEC=mpiexec.mpich \
            --without-otf2 --enable-werror || return 1
    fi
    say "make for ARM64"
    step make.log make -j "$jobs" libmpi-rma.la unit-programs &&
        step as_kernel.log "$triplet-gcc" --sysroot="$tree" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror \
            -fPIC -shared -fvisibility=hidden ../test/arm64/as_kernel.c -o as_kernel.so
}

run_tests() {
    say "unit tests for ARM64"
    find . -name '*.trs' -exec rm -f {} +
    if ! make -k -j "$jobs" check-unit "LOG_COMPILER=sh ../test/arm64/run.sh" \
        "AM_LOG_FLAGS=$tree $build/as_kernel.so $limit" check_PROGRAMS= check_LTLIBRARIES= check_DATA= \
        >check.log 2>&1 </dev/null; then
        find . -name '*.trs' -exec grep -lE '^:global-test-result: (FAIL|ERROR)' {} + | while read -r trs; do
            echo "--- ${trs%.trs}.log"
            grep -a -A 40 -E '^(not ok|Bail out!)|exited with status' "${trs%.trs}.log" | head -n 120
        done
    fi
    show_points 'FAIL|XPASS|ERROR' ARM64
    show_points 'SKIP|XFAIL' ARM64
    # shellcheck disable=SC2046 # three numbers
    set -- $(count_points)
    test "$(($1 + $2 + $3))" != 0 || fail "no test gave a result"
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

look_for_fences() {
    cat >fences.c <<'END'
#include "sys/fmutex.h"
#include "rma/path/acc_atomic.h"
#include "rma/win/lockword.h"
void unlock_target(_Atomic uint64_t *word);
void unlock_target(_Atomic uint64_t *word) { lockword_release(word, true); }
void unlock_stripe(struct fmutex *mx);
void unlock_stripe(struct fmutex *mx) { fmutex_unlock(mx); }
void leave_accumulate(struct win *w);
void leave_accumulate(struct win *w) { acc_atomic_leave(w); }
END
    step fences.log "$triplet-gcc" --sysroot="$tree" -std=gnu11 -D_GNU_SOURCE -march=armv8-a -mno-outline-atomics -O2 \
        -Wall -Wextra -Werror -include config.h -I../src -c fences.c -o fences.o
    "$triplet-objdump" -d fences.o >fences.code
    for function in unlock_target unlock_stripe leave_accumulate; do
        if awk -v name="<$function>:" '$2 == name { in_it = 1; next } /^$/ { in_it = 0 }
            in_it && /stlxr/ { fence = 0 } in_it && /dmb[ \t]+ish$/ { fence = 1 } END { exit !fence }' fences.code; then
            passed=$((passed + 1))
        else
            fail "$function has no full fence behind its read-modify-write"
        fi
    done
}

command -v apt-get >/dev/null || skip "its libraries come from a package source of Debian"
packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
install_missing
bootstrap
mkdir -p "$build" && cd "$build" || exit 1
make_tree
case $? in
0) ;;
2) skip "the package source of this machine does not have it" ;;
*) fail "its libraries cannot be fetched" && finish ;;
esac
if write_wrapper && build_all; then
    passed=$((passed + 1))
    run_tests
    look_for_fences
else
    fail "the build failed"
fi
finish
