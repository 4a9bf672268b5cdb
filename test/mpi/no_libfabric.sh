#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# no_libfabric.sh - on a machine whose libfabric cannot be loaded: jobs within one node run as
# ever, and a window that needs the network is refused with a message that says why.

. "$abs_top_srcdir/test/mpi/mtest.sh"
libraries=$(ldconfig -p 2>/dev/null | sed -n 's/.* => \(.*\/libfabric\.so\..*\)/\1/p')
test -n "$libraries" || skip_all "no libfabric in the dynamic linker's cache"
ldd "$bin/plain_rma" 2>/dev/null | grep -q libfabric && skip_all "the host itself cannot be loaded without libfabric"
unshare -m true 2>/dev/null || skip_all "needs a mount namespace of its own"

# Run the command where an empty file is in the place of each libfabric.
without() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare -m sh -c 'for file in $0; do mount --bind /dev/null "$file" || exit 99; done; exec "$@"' \
        "$libraries" "$@"
}

without env MPIRMA_PATH= sh "$abs_top_srcdir/test/run/mpiexec.sh" 2 "$bin/put_get" >"$tmp/out" 2>&1 </dev/null
rc=$?
test "$rc" = 0 || bad "a job within a node: exit code $rc"

without env MPIRMA_RANKS_PER_NODE=1 MPIRMA_LOG=info sh "$abs_top_srcdir/test/run/mpiexec.sh" 2 "$bin/put_get" >"$tmp/out" 2>&1 </dev/null
rc=$?
test "$rc" != 0 || bad "a window over two nodes was made without a network"
seen 'the network needs libfabric, which cannot be loaded: .*libfabric' || bad "no message tells why:"

without env MPIRMA_PATH= "$abs_top_builddir/tools/mpi-rma-info" >"$tmp/out" 2>&1 </dev/null
rc=$?
test "$rc" = 0 || bad "mpi-rma-info: exit code $rc"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/line" && mv "$tmp/line" "$tmp/out"
seen 'net-packets no .*libfabric' || bad "mpi-rma-info does not say why there is no network:"
finish
