#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh - install what is missing, build for both hosts, run all tests of both.
# The last line is "N passed, N failed, N skipped", summed over every single test
# of both hosts; the exit code is not zero if any failed.
#
#   sh scripts/check.sh [CONFIGURE ARGUMENTS]
#   sh scripts/check.sh --release RELEASE [CONFIGURE ARGUMENTS]
# does the same on another release of Debian, in a tree of its own; see debian-release.sh.
#   sh scripts/check.sh --host NAME [CONFIGURE ARGUMENTS]
# does it over an MPI library that this release does not have; see host.sh.
#   sh scripts/check.sh --fabric profiles|roce [--short] [CONFIGURE ARGUMENTS]
# runs a list over the fabrics of the test provider, or over InfiniBand verbs in a virtual machine with software RoCE; see
# fabric.sh.
# The argument --apps behind these has check-apps.sh run there in place of the tests, with the
# arguments that follow.
# The argument --short, before those for configure, or CHECK=short in the environment
# runs only test/mpi/testlist-short, which tells in a few minutes whether the library
# works on a host.
# The argument --threads in their place, with BUILD_SUFFIX=tsan and --enable-sanitizers=thread, runs
# only test/mpi/testlist-threads: the programs in which several threads call MPI.
# Warnings are errors where CI is set in the environment, or with --enable-werror.
# With HOSTS="mpich" only one host, with CHECK=unit only the unit tests, with CHECK=share only the list on the path "share", with FORTRAN=no (host.sh) no Fortran of a short list; with
# BUILD_SUFFIX=asan and the argument --enable-sanitizers=address,undefined a build of
# its own with sanitizers (all tests of both hosts then take about half an hour).

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
if test "$1" = --release; then
    shift
    exec sh "$top_srcdir/scripts/debian-release.sh" "$@"
elif test "$1" = --host; then
    shift
    exec sh "$top_srcdir/scripts/host.sh" "$@"
elif test "$1" = --fabric; then
    shift
    exec sh "$top_srcdir/scripts/fabric.sh" "$@"
elif test "$1" = --apps; then
    shift
    exec sh "$top_srcdir/scripts/check-apps.sh" "$@"
elif test "$1" = --short; then
    shift
    CHECK=short
elif test "$1" = --threads; then
    shift
    CHECK=threads
fi
. "$top_srcdir/scripts/common.sh"

passed=0
failed=0
skipped=0

# One host's results.
count() {
    show_points 'FAIL|XPASS|ERROR' "$host"
    show_points 'SKIP|XFAIL' "$host"
    results=$(count_points)
    # shellcheck disable=SC2086 # three numbers
    set -- $results
    if test "$(($1 + $2 + $3))" = 0; then
        echo "$host: no test gave a result"
        set -- 0 1 0
    elif test -n "$broken" && test "$2" = 0; then
        echo "$host: make failed where no test did, so that tests may be missing; see $dir/check.log"
        set -- "$1" 1 "$3"
    fi
    echo "$host: $1 passed, $2 failed, $3 skipped"
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

# Unit tests and scripts several at a time: they wait, or one process computes. What runs under mpiexec by the lists keeps every
# processor busy by itself.
run_tests() {
    if test "$CHECK" = short; then
        # Without check_PROGRAMS and check_DATA, all of which would be built.
        TESTLIST=$short_list make -k check-TESTS check_PROGRAMS= check_DATA= \
            TESTS="test/source/check-exports.sh $(test "$host" != abi || echo test/product/abi-hosts.tap) test/lists/mpi-auto.tap"
        return
    fi
    if test "$CHECK" = threads; then
        TESTLIST=$threads_list make -k check-TESTS check_PROGRAMS= check_DATA= \
            TESTS='test/lists/mpi-auto.tap test/lists/mpi-packets.tap'
        return
    fi
    if test "$CHECK" = share; then
        make -k check-lists check_PROGRAMS="$list_programs" mpi_taps=test/lists/mpi-share.tap
        return
    fi
    code=0
    if is_later; then
        make -k -j "$jobs" check-unit check_PROGRAMS= unit_tests="$(units_of_host)" || code=1
        test "$CHECK" != unit || return "$code"
        make -k -j "$jobs" check-scripts check_PROGRAMS="$list_programs" source_tests= || code=1
        MTEST_LATER=yes make -k check-lists check_PROGRAMS="$list_programs" || code=1
    else
        make -k -j "$jobs" check-unit || code=1
        test "$CHECK" != unit || return "$code"
        make -k -j "$jobs" check-scripts || code=1
        make -k check-lists || code=1
    fi
    return "$code"
}

# What says the same with every host runs with the first: scripts that look at the source alone, unit tests without mpi.h, and of the
# lists what test/mpi/testlist calls so. With MTEST_FULL=yes all runs with each.
is_later() {
    test -z "$MTEST_FULL" || return 1
    case "$built " in " $host "*) return 1 ;; esac
}
# What is made for the lists, by make's own variables.
# shellcheck disable=SC2016
list_programs='$(mpi_tests) test/support/cma-probe test/support/refuse-calls test/fuzz/make_corpus'

# The unit tests that were compiled with mpi.h in the first build.
units_of_host() {
    set -- $built
    (cd "$(build_dir "$1")" && find test/unit -path '*/.deps/*' -name 'test_*.Po' -exec grep -l '/mpi\.h' {} +) |
        sed 's|/\.deps/|/|; s|-[^/]*$||; s|\.Po$||' | sort -u | tr '\n' ' '
}

# The runs under mpiexec that took longest, from the comments of test/lists/run-list.sh.
slowest() {
    find test -name 'mpi-*.log' -exec awk '
        /^ok / { name = $0; sub(/^ok [0-9]+ - /, "", name); sub(/: in part .*/, "", name) }
        /^# [0-9.]+ s$/ { path = FILENAME; gsub(/.*mpi-|\.log$/, "", path); print $2, path ": " name }' {} + |
        sort -rn | sed "s/^/$host: seconds: /;$1q"
}

# Of the hosts that were built; make check installs both into one prefix.
check() {
    host=$1
    dir=$(build_dir "$host")
    cd "$dir" || exit 1
    INSTALL_ALSO=
    for other in $built; do
        test "$other" = "$host" || INSTALL_ALSO=$(build_dir "$other")
    done
    export INSTALL_ALSO
    say "make check for $host"
    find . -name '*.trs' -exec rm -f {} +
    broken=
    if ! run_tests >check.log 2>&1 </dev/null; then
        broken=yes
        echo "$host: make check failed; from $dir/check.log:"
        grep -E 'error:|need cmocka|No rule to make' check.log | head -n 40
        find . -name '*.trs' -exec grep -lE '^:global-test-result: (FAIL|ERROR)' {} + | while read -r trs; do
            echo "--- $host: ${trs%.trs}.log"
            grep -a -A 40 -E '^(not ok|Bail out!)|exited with status' "${trs%.trs}.log" | head -n 120
        done
    fi
    count
    slowest 10
}

short_list=$top_srcdir/test/mpi/testlist-short
threads_list=$top_srcdir/test/mpi/testlist-threads
case $CHECK in
threads) make_target="libmpi-rma.la $(awk '/^[a-z]/ { sub(/\.sh$/, "", $1); print "test/mpi/" $1 }' "$threads_list" |
    sort -u | tr '\n' ' ')" ;;
unit) make_target=unit-programs ;;
short)
    # Scripts have a program of the same name, and preload.sh has plain_rma.
    make_target="libmpi-rma.la libmpi-rma-calls.la libmpi-rma-dlsym.la libmpi-rma-malloc.la tools/mpi-rma-run tools/mpi-symbols $(awk -v fortran="${FORTRAN:-yes}" 'fortran == "no" && /^fort_/ { next }
        /^[a-z]/ { sub(/\.sh$/, "", $1); sub(/^preload$/, "plain_rma", $1);
        print "test/mpi/" $1 }' "$short_list" | sort -u | tr '\n' ' ')"
    ;;
esac
case $CHECK in
short) packages=$short_packages ;;
threads) ;;
*) packages="$packages $viewers" ;;
esac
install_missing
bootstrap
built=
for host in ${HOSTS:-$hosts}; do
    if build "$host" "$@"; then
        built="$built $host"
    else
        echo "$host: the build failed"
        failed=$((failed + 1))
    fi
done
for host in $built; do
    check "$host"
done
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
