#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fabric.sh - check.sh over fabrics that this machine has not. Started by
#
#   sh scripts/check.sh --fabric profiles [CONFIGURE ARGUMENTS]
# runs the programs of test/mpi/testlist-profiles over each fabric of the test provider (test/fabric).
#
#   sh scripts/check.sh --fabric roce [--short | --pair] [CONFIGURE ARGUMENTS]
# runs those of test/mpi/testlist-roce over InfiniBand verbs, in a virtual machine whose kernel has RDMA in software
# (rdma_rxe, RoCE).
#
# Then two such machines, joined by a network of their own, run test/mpi/testlist-roce-pair, in which the second one is switched off.
# --short takes test/mpi/testlist-roce-short, no second machine, and MPICH alone unless HOSTS says otherwise; --pair is the two alone.
#
# The machine is QEMU's, emulated, so that it needs no rights and runs everywhere, some ten times slower than the
# processor. Its kernel is a package of Debian, unpacked in build-fabric and not installed. Its files are this
# machine's own, read-only, with an overlay in memory, so that the builds run there as they are. It is started
# once for each host, and ended after so many seconds as FABRIC_LIMIT says.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

case $1 in -*) unknown_option "$1" ;; roce | profiles) ;; *) die "--fabric ${1:-without a name}: expected roce or profiles" ;; esac
list=testlist-$1
shift
limit=${FABRIC_LIMIT:-3600}
alone=yes
pair=yes
if test "$1" = --short; then
    shift
    list=testlist-roce-short
    pair=
    hosts=mpich
elif test "$1" = --pair; then
    shift
    alone=
fi
where=$top_srcdir/build-fabric
passed=0
failed=0
skipped=0

skip() {
    echo "SKIP: roce: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# The newest kernel of this release with all its modules, in $kernel, which no other step changes.
get_kernel() {
    package=$(apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
    test -n "$package" || skip "this release has no kernel package linux-image-amd64"
    kernel=$where/$package
    test ! -f "$kernel/complete" || return 0
    say "the kernel of $package in build-fabric"
    rm -rf "$kernel" && mkdir -p "$kernel" || exit 1
    (cd "$where" && step "$where/download.log" apt-get -q download "$package") || skip "$package cannot be had"
    dpkg-deb -x "$where/$package"_*.deb "$kernel" || die "can't unpack $package"
    rm -f "$where/$package"_*.deb
    depmod -b "$kernel" "$(ls "$kernel/lib/modules")" || die "depmod fails for $package"
    : >"$kernel/complete"
}

# What the machine begins with: busybox, the modules that it needs, in an order in which they can be loaded, and
# test/roce/init.
make_initrd() {
    release=$(ls "$kernel/lib/modules")
    files=$(for module in virtio_pci virtio_net 9pnet_virtio 9p overlay dummy crc32_generic rdma_rxe rdma_ucm; do
        modprobe -d "$kernel" -S "$release" --show-depends "$module" || echo "no $module"
    done | awk '$1 == "no" { exit 1 } $1 == "insmod" && !seen[$2]++ { print $2 }') || die "a module is missing in $kernel"
    root=$where/initrd
    rm -rf "$root" && mkdir -p "$root/bin" "$root/modules" "$root/proc" "$root/sys" "$root/dev" || exit 1
    # shellcheck disable=SC2086 # a list of names
    cp /bin/busybox "$root/bin/" && cp "$top_srcdir/test/roce/init" "$root/init" && chmod +x "$root/init" &&
        cp $files "$root/modules/" || exit 1
    echo "$files" | sed 's|.*/||' >"$root/modules/order"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$where/initrd.gz" || die "can't pack build-fabric/initrd"
}

# A machine whose files of its own are in $out, with what follows: words for its kernel, then switches of QEMU.
machine() {
    words=$1
    shift
    timeout -k 10 "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 4096 -nographic -no-reboot \
        -kernel "$kernel"/boot/vmlinuz-* -initrd "$where/initrd.gz" -append "console=ttyS0 panic=1 no_timer_check $words" \
        -virtfs local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap \
        -virtfs "local,path=$out,mount_tag=out,security_model=none" "$@" </dev/null
}

# What the machine, or the first of two, is to run: the list of this name on this path. Its report is in $out/tap.
to_run() { # list, path, settings
    rm -rf "$out" && mkdir -p "$out" || exit 1
    cat >"$out/run.sh" <<END
cd '$(build_dir "$host")' || exit 1
${3:+export $3}
TESTLIST='$top_srcdir/test/mpi/$1' MTEST_SLOWER=8 sh '$top_srcdir/test/lists/run-list.sh' $2 >/mnt/tap 2>/mnt/errors
END
}

run_machine() {
    out=$where/$host
    to_run "$list" roce
    say "a machine with software RoCE for $host"
    machine "" -nic none >"$out/console" 2>&1
}

# Two machines, joined by a socket, with one directory for what ranks of both write.
run_pair() {
    out=$where/$host-pair
    to_run testlist-roce-pair roce-pair "MTEST_SHARED=/mnt MTEST_VERBOSE=1"
    say "two machines with software RoCE for $host"
    socket=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-roce.XXXXXX") || exit 1
    card=virtio-net-pci,netdev=link,mac=52:54:00:00:00
    machine node=2 -device "$card:02" -netdev "stream,id=link,server=on,addr.type=unix,addr.path=$socket/link" \
        >"$out/console2" 2>&1 &
    second=$!
    trap end_second EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    until test -S "$socket/link"; do
        kill -0 "$second" || die "the second machine does not start: $out/console2"
        sleep 0.1
    done
    machine node=1 -device "$card:01" -netdev "stream,id=link,server=off,addr.type=unix,addr.path=$socket/link" \
        >"$out/console" 2>&1
    end_second
    trap - EXIT
}

# Nothing of it is left, whatever ends this script; by itself the second machine would wait for the first.
end_second() {
    kill "$second" 2>/dev/null
    wait "$second"
    rm -rf "$socket"
}

# The machine's report: a line for each point that did not simply pass, and the sums. A machine that did not come
# to the end of its list has failed once more.
count() {
    test -s "$out/tap" || : >"$out/tap"
    grep -aE '^(not ok|Bail out!)' -A 40 "$out/tap" | head -n 400
    sed -n "s/^ok [0-9]* - \(.*\) # SKIP \(.*\)/SKIP: $host: \1: \2/p" "$out/tap"
    skips=$(grep -cE '^ok .* # SKIP' "$out/tap")
    good=$(($(grep -c '^ok ' "$out/tap") - skips))
    bad=$(grep -cE '^(not ok|Bail out!)' "$out/tap")
    if ! grep -q '^1\.\.[0-9]' "$out/tap"; then
        echo "$host: the list did not come to its end; the last lines of $out/console:"
        tail -n 20 "$out/console"
        bad=$((bad + 1))
    fi
    echo "$host: $good passed, $bad failed, $skips skipped"
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + skips))
}

# The list of one host over the test provider.
run_profiles() {
    out=$where/$host-profiles
    rm -rf "$out" && mkdir -p "$out" || exit 1
    say "the fabrics of the test provider for $host"
    (cd "$(build_dir "$host")" &&
        TESTLIST="$top_srcdir/test/mpi/$list" sh "$top_srcdir/test/lists/run-list.sh" fabric >"$out/tap" 2>"$out/console")
}

# The programs of lists.
programs_of() {
    cat "$@" | awk '/^[a-z]/ {
        sub(/\.sh$/, "", $1); print $1 ~ /\// ? $1 : "test/mpi/" $1 }' | sort -u
}

if test "$list" = testlist-profiles; then
    install_missing
    mkdir -p "$where" || exit 1
    bootstrap
    make_target="libmpi-rma.la test/fabric/libcard-fi.la $(programs_of "$top_srcdir/test/mpi/$list" | tr '\n' ' ')"
    for host in ${HOSTS:-$hosts}; do
        build "$host" "$@" || die "the build for $host failed"
        run_profiles
        count
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    test "$failed" = 0
    exit
fi
test "$(uname -m)" = x86_64 || skip "the machine is emulated on x86-64 only"
command -v apt-get >/dev/null || skip "its kernel is a package of Debian, and there is no apt"
packages="$packages qemu-system-x86 busybox-static kmod cpio ibverbs-providers"
install_missing
mkdir -p "$where" || exit 1
get_kernel
make_initrd
bootstrap
make_target="libmpi-rma.la libmpi-rma-calls.la libmpi-rma-dlsym.la libmpi-rma-malloc.la tools/mpi-rma-run tools/mpi-rma-info test/mpi/spool_check test/mpi/kill_victim $(
    programs_of ${alone:+"$top_srcdir/test/mpi/$list"} ${pair:+"$top_srcdir/test/mpi/testlist-roce-pair"} | tr '\n' ' ')"
for host in ${HOSTS:-$hosts}; do
    if ! build "$host" "$@"; then
        echo "$host: the build failed"
        failed=$((failed + 1))
        continue
    fi
    if test -n "$alone"; then
        run_machine
        count
    fi
    if test -n "$pair"; then
        run_pair
        count
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
