#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian-release.sh - check.sh on another release of Debian: make a tree of it, then build
# and run the tests there. Started by
#
#   sh scripts/check.sh --release RELEASE [--short] [CONFIGURE ARGUMENTS]
#
# which takes what check.sh takes, in the environment too. The tree comes from this
# machine's own package source, by debootstrap, with the proxies and certificates of
# this machine's apt. It lies in /var/tmp/libmpi-rma-RELEASE, or where RELEASE_TREE
# says, and is used again by the next run; the source is copied to srv/libmpi-rma in
# it, and the builds and their logs stay there.
#
# All is done in namespaces of its own for mounts and processes: whatever ends the
# run, nothing stays mounted and nothing stays running. That needs root. Where the
# package source does not have the release, the run is skipped with the reason, as
# the last line says.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

copy=/srv/libmpi-rma

if test "$1" != --inside; then
    test -n "$1" || die "which release?"
    command -v apt-config >/dev/null || die "--release makes its tree from apt's package source, and there is no apt"
    test "$(id -u)" = 0 || die "--release needs root: debootstrap, mounts and chroot"
    exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
        sh "$0" --inside "$@"
fi
trap 'exit 130' INT
trap 'exit 143' TERM HUP
release=$2
shift 2
tree=${RELEASE_TREE:-/var/tmp/libmpi-rma-$release}

skip() {
    echo "SKIP: $release: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# The tree's own autoconf makes what autogen.sh makes, and nothing built here is taken along.
copy_source() {
    rm -rf "${tree:?}$copy" && mkdir -p "$tree$copy" &&
        tar -C "$top_srcdir" -c --exclude-vcs --exclude='./build*' --exclude=./autom4te.cache \
            --exclude=./configure --exclude=./aclocal.m4 --exclude=./Makefile.in --exclude='./config.h.in*' \
            --exclude=./m4/libtool.m4 --exclude='./m4/lt*.m4' . | tar -C "$tree$copy" -x ||
        die "can't copy the source to $tree$copy"
}

. "$top_srcdir/scripts/tree.sh"
lock_tree
use_settings
make_tree
mount_tree "$tree"
copy_source
say "$release in $tree"
in_tree "$tree" sh "$copy/scripts/check.sh" "$@"
