#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme.sh - run every command of README.md as printed, in order, in a tree of Debian 12 that has nothing else (tree.sh).
#
#   sh scripts/readme.sh [--check]
#
# Of scripts/check.sh only the short lists run (CHECK=short), unless --check is given. The tree has git and sudo, as a machine of
# a user has, and lies in /var/tmp/libmpi-rma-clean-bookworm, or where RELEASE_TREE says; the commands run in a copy of it that
# is removed in the end. That needs root. The last line is "N passed, N failed, N skipped": one for each command.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

skip() {
    echo "SKIP: README's commands: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

inside=
check=short
while test $# -gt 0; do
    case $1 in
    --inside) inside=yes ;;
    --check) check= ;;
    *) unknown_option "$1" --check ;;
    esac
    shift
done
command -v apt-config >/dev/null || skip "the tree is made from apt's package source, and there is no apt"
test "$(id -u)" = 0 || skip "making a tree of Debian needs root"
if test -z "$inside"; then
    exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
        sh "$0" --inside $(test -n "$check" || echo --check)
fi
trap 'exit 130' INT
trap 'exit 143' TERM HUP
release=bookworm
tree=${RELEASE_TREE:-/var/tmp/libmpi-rma-clean-$release}
. "$top_srcdir/scripts/tree.sh"
lock_tree
use_settings
make_tree
clean=$tree.readme
trap 'umount -R "$clean" 2>/dev/null; rm -rf --one-file-system "$clean"' EXIT
rm -rf --one-file-system "$clean" && cp -a "$tree" "$clean" || die "can't copy $tree to $clean"
mount_tree "$clean"
log=$(mktemp "${TMPDIR:-/tmp}/mpi-rma-readme.XXXXXX") || exit 1
step "$log" in_tree "$clean" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install git sudo' ||
    die "can't install git and sudo in $clean"

# What a user has: the files as they are now, in a repository at $ADDRESS and in a checkout of it.
mkdir -p "$clean/srv/origin" &&
    if git -C "$top_srcdir" rev-parse --show-toplevel >/dev/null 2>&1; then
        git -C "$top_srcdir" ls-files -z --cached --others --exclude-standard | tar -C "$top_srcdir" -c --null -T - 
    else
        tar -C "$top_srcdir" -c --exclude='./build*' .
    fi | tar -C "$clean/srv/origin" -x --no-same-owner || die "can't copy the source to $clean"
in_tree "$clean" sh -c 'cd /srv/origin && git init -q && git add -A && git -c user.name=README -c user.email=readme@localhost commit -q -m source &&
    git clone -q /srv/origin /srv/checkout' || die "can't make a repository in $clean"

# One shell runs them all, as a user's does; behind each it says what came out.
sh "$top_srcdir/test/product/readme-commands.sh" >"$log.commands"
while IFS= read -r command; do
    printf '%s\n' "$command"
    # shellcheck disable=SC2016 # for the shell in the tree
    printf 'echo "README: exit code $?"\n'
done <"$log.commands" >"$clean/srv/commands"
echo 'APT::Get::Assume-Yes "true";' >"$clean/etc/apt/apt.conf.d/91yes"
DEBIAN_FRONTEND=noninteractive CHECK=$check ADDRESS=/srv/origin in_tree "$clean" bash -c \
    'cd /srv/checkout && bash -v /srv/commands' >"$log.out" 2>&1 </dev/null
passed=$(grep -c '^README: exit code 0$' "$log.out")
all=$(wc -l <"$log.commands")
if test "$passed" != "$all"; then
    echo "README's commands and what they said:"
    tail -n 300 "$log.out"
else
    rm -f "$log" "$log.out" "$log.commands"
fi
echo "$passed passed, $((all - passed)) failed, 0 skipped"
test "$passed" = "$all"
