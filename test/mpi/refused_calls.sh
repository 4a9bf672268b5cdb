#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused_calls.sh - system calls are refused, one by one, as by an old kernel or a container's profile
# (test/support/refuse-calls.c): what is indispensable gives an error that names it, all else has a way around.
# Nothing hangs. A job in which pidfd_open is refused is in lose_rank.sh.

. "$abs_top_srcdir/test/mpi/mtest.sh"
why=$("$abs_top_builddir/test/support/refuse-calls" getrandom=ENOSYS true 2>&1) || skip_all "no seccomp filter here: $why"

for call in memfd_create=ENOSYS memfd_create=EPERM getrandom=ENOSYS pidfd_open=ENOSYS membarrier=ENOSYS; do
    mpirun "$np" "$abs_top_builddir/test/support/refuse-calls" "$call" env MPIRMA_LOG=info "$bin/win_carrier" each
    case $call in
    memfd_create=*) words='cannot create a shared segment \(memfd_create\)' ;;
    getrandom=*) words='no random numbers for a secret' ;;
    *) words= ;;
    esac
    test "$rc" != 124 && test "$rc" != 137 || bad "$call: the job hangs"
    if test -z "$words"; then
        test "$rc" = 0 || bad "$call: exit code $rc"
    else
        test "$rc" != 0 || bad "$call: no error"
        seen "$words" || bad "$call: no message '$words':"
    fi
done
finish
