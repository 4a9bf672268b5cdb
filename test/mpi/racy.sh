#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# racy.sh - a program with a data race fails in a build with ThreadSanitizer: the report names the
# library's own copy, so the library is looked at as well as the program.

. "$abs_top_srcdir/test/mpi/mtest.sh"
case $SANITIZERS in
*thread*) ;;
*) skip_all "only a build with --enable-sanitizers=thread notices a race" ;;
esac
mpirun "$np" "$bin/racy"
ended_badly || bad "a program with a data race ended well:"
seen 'WARNING: ThreadSanitizer: data race' || bad "no report of a data race:"
seen 'SUMMARY: .*src/.*copy_whole' || seen '^ *#[0-9]* copy_whole .*src/base/copy\.h' || bad "the report does not name the library's copy:"
finish
