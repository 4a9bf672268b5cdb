#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian-package.sh - make the Debian packages and look at them: from an export of the
# source, dpkg-buildpackage; then lintian; then, with --install, install the packages
# here, side by side, run programs of both hosts with them, and purge them again.
#
#   sh scripts/debian-package.sh [--install] [DIRECTORY]
#
# The packages are left in DIRECTORY (build-debian). Takes about five minutes; --install needs root.
# The exit code is not zero if anything failed, or if lintian has a tag at level warning or above.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
install=
if test "$1" = --install; then
    install=yes
    shift
fi
mkdir -p "${1:-$top_srcdir/build-debian}" && out=$(cd "${1:-$top_srcdir/build-debian}" && pwd) || exit 1
packages="$packages build-essential debhelper dpkg-dev fakeroot lintian"
install_missing

# Tracked files only, as they are now; without git what was unpacked.
export_source() {
    rm -rf "${out:?}/source"
    mkdir "$out/source" || exit 1
    if git -C "$top_srcdir" rev-parse --show-toplevel >/dev/null 2>&1; then
        git -C "$top_srcdir" ls-files -z | tar -C "$top_srcdir" -c --null -T - | tar -C "$out/source" -x
    else
        tar -C "$top_srcdir" -c --exclude='./build*' . | tar -C "$out/source" -x
    fi || die "can't copy the source to $out/source"
}

say "dpkg-buildpackage"
export_source
rm -f "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
(
    unset CI MAKEFLAGS
    cd "$out/source" && step "$out/build.log" dpkg-buildpackage -us -uc -b -j"$jobs"
) || exit 1

say "lintian"
as_user=
test "$(id -u)" != 0 || as_user=--allow-root
lintian $as_user --fail-on warning "$out"/*.changes || die "lintian has complaints"
rm -rf "$out/source"
ls "$out"/*.deb
test -n "$install" || exit 0

test "$(id -u)" = 0 || die "--install needs root"
names=$(for deb in "$out"/*.deb; do dpkg-deb -f "$deb" Package; done | grep -v -- -dbgsym)
for name in $names; do
    ! is_installed "$name" || die "$name is installed here already"
done
test_dir=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-package.XXXXXX") || exit 1
end() {
    # shellcheck disable=SC2086 # names
    dpkg --purge $names >"$test_dir/purge" 2>&1 || cat "$test_dir/purge" >&2
    rm -rf "$test_dir"
}
trap end EXIT
trap 'exit 143' INT TERM HUP
say "install"
# shellcheck disable=SC2046 # files
step "$test_dir/install" dpkg -i $(ls "$out"/*.deb | grep -v -- -dbgsym) || exit 1

cat >"$test_dir/a.c" <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, *cell;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    const int bad = *cell != 1 - rank;
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
EOF
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
code=0
# used HOST COMMAND...: two processes of it, each with the statistics line of the library.
used() {
    host=$1
    shift
    MPIRMA_STATS=1 timeout 60 "mpiexec.$host" -n 2 "$@" >"$test_dir/out" 2>&1 </dev/null &&
        test "$(grep -c '^libmpi-rma.* stats: windows 1' "$test_dir/out")" = 2 && return
    echo "$host: $*: failed, or libmpi-rma was not in use:" >&2
    cat "$test_dir/out" >&2
    code=1
}
for host in $hosts; do
    say "programs of $host"
    "mpicc.$host" -o "$test_dir/plain" "$test_dir/a.c" || exit 1
    used "$host" mpi-rma-run "$test_dir/plain"
    # shellcheck disable=SC2046 # flags
    "mpicc.$host" -o "$test_dir/linked" "$test_dir/a.c" $(pkg-config --cflags --libs "mpi-rma-$host") || exit 1
    used "$host" "$test_dir/linked"
    timeout 60 mpi-rma-run --host="$host" --check >"$test_dir/out" 2>&1 </dev/null || code=1
    grep '^library .*/mpi-rma/'"$host/" "$test_dir/out" || code=1
done
man libmpi-rma >/dev/null 2>&1 || test -f /usr/share/man/man7/libmpi-rma.7.gz || code=1
test "$code" = 0 && say "all is well"
exit "$code"
