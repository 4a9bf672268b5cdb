#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh TREE AS_KERNEL LIMIT PROGRAM - run a unit test for ARM64 under qemu-user with the libraries of TREE,
# for at most LIMIT seconds, with AS_KERNEL (as_kernel.c) preloaded. Reports in TAP as test/run/unit.sh does; a failure
# that test/arm64/known has with its reason is the emulator's and becomes a skipped point.

here=$(dirname "$0")
tree=$1
as_kernel=$2
limit=$3
program=$4
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
# The emulator keeps a word for every page that is mapped: a mapping of terabytes takes all of the machine's memory,
# one that is a little larger than the memory does not.
most=$(awk '/^MemTotal:/ { printf "%.0f\n", 2 * 1024 * $2 }' /proc/meminfo)
sh "$here/../run/unit.sh" -k 10 "$limit" prlimit --as="$most" \
    env MTEST_WATCHDOG_TIMES=4 qemu-aarch64 -L "$tree" -E LD_PRELOAD="$as_kernel" "$program" >"$out"
awk -v program="${program##*/}" -v code=$? '
    NR == FNR {
        if ($1 == program) {
            name = $2
            $1 = $2 = ""
            reason[name] = substr($0, 3)
        }
        next
    }
    /^not ok [0-9]+ - / && $5 in reason {
        print "ok " $3 " # SKIP " $5 ": " reason[$5]
        forgiven++
        next
    }
    { print }
    END { exit code == forgiven + 0 ? 0 : code }' "$here/known" "$out"
