#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# coverage.sh - how many branches of the library the tests take: the unit tests, the simulation, the model and the
# MPI tests together, on one host.
#
#   sh scripts/coverage.sh             build in build-mpich-coverage, run all tests, print the table
#   sh scripts/coverage.sh --table     only the table of what was run before
#   sh scripts/coverage.sh --update    the same, and write it into doc/report/coverage.md
#
# HOSTS=openmpi for the other host. A branch is one way out of a condition, as gcov counts them. What nothing takes is listed
# by file and line in build-HOST-coverage/untaken; of src/rma and src/ch3 each such line needs a reason in test/untaken, and
# a second table counts them. Lines without a reason, and entries that fit no line any more, are listed behind it, and the
# exit status is 1; then --update writes nothing. Takes about half an hour.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
what=
case ${1-} in
'' | --table | --update) what=${1-} ;;
*) unknown_option "$1" --table --update ;;
esac
BUILD_SUFFIX=coverage
host=${HOSTS:-mpich}
dir=$(build_dir "$host")
if test -z "$what"; then
    install_missing
    bootstrap
    build "$host" CFLAGS='-O1 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage || die "the build failed"
    cd "$dir" || exit 1
    find . -name '*.gcda' -exec rm -f {} +
    say "make check"
    make -k -j "$jobs" check-unit >unit.log 2>&1 </dev/null || say "some unit tests failed; see $dir/unit.log"
    make -k check-scripts check-lists >rest.log 2>&1 </dev/null || say "some tests failed; see $dir/rest.log"
fi
test -d "$dir" || die "there is no $dir; run this without --table first"
python3 "$top_srcdir/scripts/coverage.py" "$top_srcdir" "$dir" >"$dir/coverage.md"
code=$?
cat "$dir/coverage.md"
test "$code" = 0 || exit "$code"
test "$what" != --update || replace_part "$top_srcdir/doc/report/coverage.md" coverage <"$dir/coverage.md"
