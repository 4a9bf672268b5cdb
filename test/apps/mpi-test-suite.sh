# SPDX-License-Identifier: BSD-3-Clause
# mpi-test-suite.sh - the one-sided part of Open MPI's mpi-test-suite: each test on each communicator and datatype of the suite.
# It is not in Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="mpi-test-suite, one-sided"
app_packages="autoconf automake gengetopt"

app_prepare() {
    given_source mpi-test-suite || return 1
    app_version=-
    # Its tests of partitioned communication, which do not run here, need functions that MPI 3 does not have.
    built tree sh -c 'cp -R "$1" src && cd src && ./autogen.sh &&
        ./configure CC="mpicc.$2" LDFLAGS=-Wl,--unresolved-symbols=ignore-all && make -j "$3"' \
        sh "$given/mpi-test-suite" "$host" "$jobs"
}

# One type is left out: its extent is 0, and the suite makes a window with that as displacement unit, which hosts refuse as well.
app_tests() {
    n=4
    test "$size" = full || n=2
    echo "one-sided $n 600 $PWD/tree/src/mpi_test_suite -t One-sided -d all,^MPI_TYPE_MIX_LB_UB -r full -x relaxed -n 1000"
}

# A line for each combination, and one with the number of those that failed.
app_judge() {
    judge_by eval 'test "$rc" = 0 && grep -q "Number of failed tests: *0" "$tmp/out"'
}
