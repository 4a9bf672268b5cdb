# SPDX-License-Identifier: BSD-3-Clause
# tree.sh - a tree of a release of Debian, made by debootstrap from this machine's own
# package source with the proxies and certificates of this machine's apt. Sourced, after
# common.sh and by root, with the variables release and tree set, and a function skip.

# In the tree: whose it is and whether its making came to an end.
marker=.libmpi-rma-tree

# Also there: the certificates that this machine trusts, for pip.
certificates=/etc/ssl/machine.crt

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
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt $ca; do
        test ! -f "$file" || (mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file") || exit 1
    done
    # Under a second name: Debian's package ca-certificates writes its own file when it is installed.
    test ! -f /etc/ssl/certs/ca-certificates.crt || cp -L /etc/ssl/certs/ca-certificates.crt "$tree$certificates" || exit 1
    # The tree is lost with the machine anyway, and no daemon is to start.
    echo force-unsafe-io >"$tree/etc/dpkg/dpkg.cfg.d/unsafe-io"
    printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
    chmod +x "$tree/usr/sbin/policy-rc.d"
}

# Nobody else makes or uses this tree until the process ends.
lock_tree() {
    mkdir -p "$(dirname "$tree")" && exec 9>"$tree.lock" && flock 9 || die "can't lock $tree.lock"
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
    # debootstrap has no script for releases that are newer than itself; that of sid is the one that they take.
    script=
    test -e "${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}/scripts/$release" || script=sid
    if ! debootstrap --variant=minbase --components="$components" "$release" "$tree" "$mirror" $script \
        >"$tree.log" 2>&1 </dev/null; then
        if grep -E 'E: Failed getting release file' "$tree.log" >&2; then
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

# Mounts in directory $1, a tree, seen by this script's processes only. The root is a mount of its own, or
# no name space for mounts can be made in it, as tests do.
mount_tree() {
    mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" &&
        mount --rbind /dev "$1/dev" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || die "can't mount in $1"
}

# in_tree DIRECTORY COMMAND...: run it there.
in_tree() {
    root=$1
    shift
    (
        unset TMPDIR
        test ! -f "$root$certificates" || export PIP_CERT="$certificates" SSL_CERT_FILE="$certificates"
        HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
            exec chroot "$root" "$@"
    )
}
