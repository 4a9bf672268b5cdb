#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# memcheck.sh - valgrind's Memcheck finds nothing in a program that has no mistake (memcheck.c), on this path, but for what it
# finds in the same program on the host alone; and it finds the mistake of a program that has one.

. "$abs_top_srcdir/test/mpi/mtest.sh"
command -v valgrind >/dev/null || skip_all "no valgrind"
test -z "$SANITIZERS" || skip_all "a build with sanitizers does not run under valgrind"
echo '#include <valgrind/memcheck.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || skip_all "the library was built without valgrind/memcheck.h"

# check NAME COMMAND...: run it with the logs $tmp/NAME.PID.
check() {
    name=$1
    shift
    MT_LIMIT=180 mpirun "$np" valgrind -q --log-file="$tmp/$name.%p" --gen-suppressions=all $suppressions "$@"
    test "$rc" = 0 || bad "$name: exit code $rc"
    set +f
    sed 's/^[=-][=-][0-9]*[=-][=-] /== /' "$tmp/$name".* >"$tmp/log-$name"
    set -f
}

suppressions=
export MPIRMA_DISABLE=1 MTEST_HOST_ONLY=1
check host "$bin/memcheck"
unset MPIRMA_DISABLE MTEST_HOST_ONLY
grep '^== WARNING' "$tmp/log-host" >"$tmp/warnings"
grep -v '^==' "$tmp/log-host" | sed '/insert_a_suppression_name_here/s/.*/   of-the-host/' >"$tmp/host.supp"

suppressions=--suppressions=$tmp/host.supp
check library "$bin/memcheck"
if grep -vxF -f "$tmp/warnings" "$tmp/log-library" | grep -v '^== $' >"$tmp/said"; then
    head -n 60 "$tmp/said"
    bad "Memcheck has something to say"
fi
# Which path it takes does not matter to this.
test "$MPI_PATH" = cma || finish
check wrong "$bin/memcheck" wrong
grep -q 'depends on uninitialised value' "$tmp/log-wrong" || bad "Memcheck does not find memory that nobody has written"
finish
