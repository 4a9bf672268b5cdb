#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian-package.sh - make the Debian packages and look at them: from an export of the
# source, dpkg-buildpackage; then lintian; then, with --install, install the packages in
# a tree of this machine's release that has nothing else (tree.sh), with apt, which finds
# what they depend on, run programs of both hosts there, and purge the packages again.
#
#   sh scripts/debian-package.sh [--install] [DIRECTORY]
#
# The packages are left in DIRECTORY (build-debian). --install needs root, and makes its
# tree in /var/tmp/libmpi-rma-clean-RELEASE, or where RELEASE_TREE says; what is installed
# goes to a copy of it that is removed in the end. The last line is "N passed, N failed,
# N skipped", and the exit code is not zero if anything failed.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

install=
inside=
while test $# -gt 0; do
    case $1 in
    --install) install=yes ;;
    --inside) inside=yes ;;
    -*) unknown_option "$1" --install ;;
    *) break ;;
    esac
    shift
done
if test -n "$install" && test -z "$inside" && test "$(id -u)" = 0; then
    exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
        sh "$0" --inside --install "$@"
fi
mkdir -p "${1:-$top_srcdir/build-debian}" && out=$(cd "${1:-$top_srcdir/build-debian}" && pwd) || exit 1

passed=0
failed=0
skipped=0
clean=

end() {
    test -z "$clean" || rm -rf --one-file-system "$clean"
    echo "$passed passed, $failed failed, $skipped skipped"
    test "$failed" = 0
    exit
}

# check NAME COMMAND...: one thing that passes or fails.
check() {
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        say "$name: as it should be"
        return 0
    fi
    failed=$((failed + 1))
    echo "FAIL: $name"
    return 1
}

skip() {
    echo "SKIP: packages in a clean tree: $*"
    skipped=$((skipped + 1))
    end
}

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

build_packages() (
    unset CI MAKEFLAGS
    cd "$out/source" && step "$out/build.log" dpkg-buildpackage -us -uc -b -j"$jobs"
)

# Without complaints: tags at level error and at level warning.
look_with_lintian() {
    as_user=
    test "$(id -u)" != 0 || as_user=--allow-root
    lintian $as_user --fail-on error,warning "$out"/*.changes
}

install_packages() {
    mkdir -p "$clean/var/cache/packages" && cp "$out"/*.deb "$clean/var/cache/packages" &&
        rm -f "$clean"/var/cache/packages/*-dbgsym_*.deb &&
        step "$out/update.log" in_tree "$clean" apt-get -q update &&
        step "$out/launchers.log" in_tree "$clean" env DEBIAN_FRONTEND=noninteractive \
            apt-get -q -y --no-install-recommends install mpich openmpi-bin &&
        step "$out/install.log" in_tree "$clean" sh -c \
            'DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install /var/cache/packages/*.deb'
}

write_program() {
    cat >"$clean/tmp/a.c" <<'END'
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
END
}

# The compiler is this machine's: the tree has what a user of the packages has.
compile() { # host, output, flags
    host=$1
    output=$2
    shift 2
    "mpicc.$host" -o "$clean/tmp/$output" "$clean/tmp/a.c" "$@"
}

# The flags of pkg-config name places of the tree, which a run path does not.
compile_linked() { # host
    flags=$(env PKG_CONFIG_SYSROOT_DIR="$clean" PKG_CONFIG_LIBDIR="$(echo "$clean"/usr/lib/*/pkgconfig)" \
        pkg-config --cflags --libs "mpi-rma-$1" | sed "s|-rpath,$clean|-rpath,|g") &&
        # shellcheck disable=SC2086 # words
        compile "$1" "linked-$1" $flags
}

# Two processes of HOST, with one window of the library each, by its statistics.
used() { # host, command
    host=$1
    shift
    in_tree "$clean" env MPIRMA_STATS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_rmaps_base_oversubscribe=1 timeout -k 5 60 "mpiexec.$host" -n 2 "$@" >"$out/run.log" 2>&1 </dev/null &&
        grep -q '^windows  *2  *1  *1  ' "$out/run.log" && return
    cat "$out/run.log"
    return 1
}

checks_itself() { # host
    in_tree "$clean" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout -k 5 60 mpi-rma-run --host="$1" --check >"$out/run.log" 2>&1 </dev/null &&
        grep "^library .*/mpi-rma/$1/" "$out/run.log" && return
    cat "$out/run.log"
    return 1
}

# Paths of all that the packages have brought, in the tree.
list_files() {
    # shellcheck disable=SC2086 # names
    in_tree "$clean" dpkg -L $names | sort -u | while read -r file; do
        test ! -f "$clean$file" && test ! -L "$clean$file" || echo "$clean$file"
    done
}

purge() {
    # shellcheck disable=SC2086 # names
    list_files >"$out/files.log" && test -s "$out/files.log" &&
        step "$out/purge.log" in_tree "$clean" dpkg --purge $names || return 1
    while read -r file; do
        test ! -e "$file" || echo "$file is left"
    done <"$out/files.log" | grep . && return 1
    ! in_tree "$clean" dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null | grep 'mpi-rma'
}

packages="$packages build-essential debhelper dpkg-dev fakeroot lintian"
install_missing
export_source
rm -f "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
say "dpkg-buildpackage"
check "the packages are built" build_packages || end
check "lintian has no errors and no warnings" look_with_lintian
rm -rf "$out/source"
ls "$out"/*.deb
test -n "$install" || end

test -n "$inside" || skip "making it needs root"
trap 'exit 130' INT
trap 'exit 143' TERM HUP
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
tree=${RELEASE_TREE:-/var/tmp/libmpi-rma-clean-$release}
. "$top_srcdir/scripts/tree.sh"
lock_tree
use_settings
make_tree
names=$(for deb in "$out"/*.deb; do dpkg-deb -f "$deb" Package; done | grep -v -- -dbgsym)
clean=$tree.copy
rm -rf --one-file-system "$clean" && cp -a "$tree" "$clean" || die "can't copy $tree to $clean"
mount_tree "$clean"
say "packages in $clean"
if check "apt installs the packages" install_packages; then
    write_program
    for host in $hosts; do
        check "$host: a program is compiled" compile "$host" "plain-$host" &&
            check "$host: mpi-rma-run preloads the library" used "$host" mpi-rma-run "/tmp/plain-$host"
        check "$host: a program is linked by pkg-config" compile_linked "$host" &&
            check "$host: the linked program uses the library" used "$host" "/tmp/linked-$host"
        check "$host: mpi-rma-run --check" checks_itself "$host"
    done
    check "the packages are purged and leave nothing" purge
fi
umount -R "$clean"
end
