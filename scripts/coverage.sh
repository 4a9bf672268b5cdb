#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# coverage.sh - how many lines and branches of the library the tests take: the unit tests, the simulation, the model and the MPI
# tests together, on one host, as lcov counts them. Prints the total, and the files of which less than 85 % of the lines are taken.
#
#   sh scripts/coverage.sh             build in build-mpich-coverage, run all tests, print the table
#   sh scripts/coverage.sh --table     only the table of what was run before
#
# HOSTS=openmpi for the other host. Takes about half an hour. genhtml BUILD/coverage.info shows single lines.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
run=yes
case ${1-} in
'') ;;
--table) run= ;;
*) unknown_option "$1" --table ;;
esac
BUILD_SUFFIX=coverage
host=${HOSTS:-mpich}
dir=$(build_dir "$host")
packages="$packages lcov"
(install_missing) || exit 1
if test -n "$run"; then
    bootstrap
    build "$host" CFLAGS='-O1 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage || die "the build failed"
    cd "$dir" || exit 1
    find . -name '*.gcda' -exec rm -f {} +
    say "make check"
    make -k -j "$jobs" check-unit >unit.log 2>&1 </dev/null || say "some unit tests failed; see $dir/unit.log"
    make -k check-scripts check-lists >rest.log 2>&1 </dev/null || say "some tests failed; see $dir/rest.log"
fi
test -d "$dir" || die "there is no $dir; run this without --table first"
cd "$dir" || exit 1
step lcov.log lcov --quiet --capture --rc lcov_branch_coverage=1 --directory . --base-directory . --output-file all.info &&
    step lcov.log lcov --quiet --rc lcov_branch_coverage=1 --extract all.info "$top_srcdir/src/*" --output-file coverage.info ||
    die "lcov failed; see $dir/lcov.log"
lcov --rc lcov_branch_coverage=1 --summary coverage.info 2>&1 | grep -E 'lines|functions|branches'
echo "Files of which less than 85 % of the lines are taken:"
awk -F '[:,]' -v top="$top_srcdir/" '
    $1 == "SF" { file = substr($0, 4); sub(top, "", file) }
    $1 == "LF" { lines = $2 }
    $1 == "LH" && lines { share = 100 * $2 / lines; if (share < 85) printf "  %5.1f %%  %s\n", share, file }' coverage.info | sort -n
