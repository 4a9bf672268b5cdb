#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# release.sh - check.sh on another release of Debian: make a tree of it, then build
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

# In the tree: whose it is and whether its making came to an end.
marker=.libmpi-rma-tree
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

# The archive that this machine's own release comes from in $mirror, its components in $components.
find_mirror() {
    own=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016 # apt's own variables
    targets=$(apt-get indextargets --format '$(CODENAME)|$(RELEASE)|$(REPO_URI)|$(COMPONENT)' \
        'Created-By: Packages' | awk -F'|' -v own="$own" '$1 == own || $2 == own' | sort -u)
    mirror=$(echo "$targets" | head -n 1 | cut -d'|' -f3)
    test -n "$mirror" || die "this machine's apt has no package source for its own release, $own"
    components=$(echo "$targets" | awk -F'|' -v mirror="$mirror" '$3 == mirror { print $4 }' | sort -u | paste -sd,)
}

# What this machine's apt needs to reach its package source, for debootstrap's wget and for the tree's apt.
use_settings() {
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy \
        ca Acquire::https::CaInfo)"
    test -z "$http_proxy" || export http_proxy
    test -z "$https_proxy" || export https_proxy
}

copy_settings() {
    apt-config dump | grep -E '^Acquire::(https?::|Retries|Check-)' >"$tree/etc/apt/apt.conf.d/90machine"
    for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt $ca; do
        test ! -f "$file" || (mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file") || exit 1
    done
    # The tree is lost with the machine anyway, and no daemon is to start.
    echo force-unsafe-io >"$tree/etc/dpkg/dpkg.cfg.d/unsafe-io"
    printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
    chmod +x "$tree/usr/sbin/policy-rc.d"
}

make_tree() {
    if test -e "$tree" && test ! -f "$tree/$marker" && test -n "$(ls -A "$tree")"; then
        die "$tree is there and is no tree of this script's; RELEASE_TREE names another place"
    fi
    test "$(cat "$tree/$marker" 2>/dev/null)" != "$release" || return 0
    # What is mounted there by hand would be removed with it.
    ! grep -qF " $tree/" /proc/self/mounts || die "something is mounted in $tree"
    command -v debootstrap >/dev/null || {
        packages=debootstrap
        install_missing
    }
    find_mirror
    say "debootstrap of $release in $tree"
    rm -rf "$tree"
    mkdir -p "$tree" && : >"$tree/$marker" || exit 1
    if ! debootstrap --variant=minbase --components="$components" "$release" "$tree" "$mirror" \
        >"$tree.log" 2>&1 </dev/null; then
        if grep -E 'E: (Failed getting release file|No such script)' "$tree.log" >&2; then
            rm -rf "$tree" "$tree.log"
            skip "the package source of this machine does not have it"
        fi
        tail -n 20 "$tree.log" >&2
        die "debootstrap failed, see $tree.log"
    fi
    copy_settings
    rm -f "$tree.log"
    echo "$release" >"$tree/$marker"
}

# Seen by this script's processes only. The root is a mount of its own, or no name space for mounts
# can be made in it, as tests do.
mount_tree() {
    mount --bind "$tree" "$tree" && mount -t proc proc "$tree/proc" && mount --rbind /sys "$tree/sys" &&
        mount --rbind /dev "$tree/dev" && mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm" || die "can't mount in $tree"
}

# The tree's own autoconf makes what autogen.sh makes, and nothing built here is taken along.
copy_source() {
    rm -rf "${tree:?}$copy" && mkdir -p "$tree$copy" &&
        tar -C "$top_srcdir" -c --exclude-vcs --exclude='./build*' --exclude=./autom4te.cache \
            --exclude=./configure --exclude=./aclocal.m4 --exclude=./Makefile.in --exclude='./config.h.in*' \
            --exclude=./m4/libtool.m4 --exclude='./m4/lt*.m4' . | tar -C "$tree$copy" -x ||
        die "can't copy the source to $tree$copy"
}

mkdir -p "$(dirname "$tree")" && exec 9>"$tree.lock" && flock 9 || die "can't lock $tree.lock"
use_settings
make_tree
mount_tree
copy_source
say "$release in $tree"
unset TMPDIR
HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    chroot "$tree" sh "$copy/scripts/check.sh" "$@"
