# SPDX-License-Identifier: BSD-3-Clause
# dash.sh - DASH, C++ containers over processes, on its layer DART, which makes a dynamic window of a team and attaches each
# container's memory to it: DASH's own tests. It is not in Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="DASH's tests"
app_packages="cmake g++ libgtest-dev googletest"

app_prepare() {
    given_source dash || return 1
    app_version=$(sed -n 's/^ *set(DASH_VERSION_\(MAJOR\|MINOR\|PATCH\) *\([0-9]*\).*/\2/p' "$given/dash/CMakeLists.txt" | paste -sd.)
    # The tests expect googletest's source inside.
    built tree sh -c 'cp -R "$1" src && rm -rf src/vendor/googletest && cp -R /usr/src/googletest src/vendor/googletest &&
        mkdir build && cd build && CC="mpicc.$2" CXX="mpicxx.$2" cmake ../src -DCMAKE_BUILD_TYPE=Release -DENVIRONMENT_TYPE=default \
            -DDART_IMPLEMENTATIONS=mpi -DBUILD_TESTS=ON -DBUILD_EXAMPLES=OFF -DBUILD_DOCS=OFF -DENABLE_HWLOC=OFF -DENABLE_PAPI=OFF \
            -DENABLE_HDF5=OFF -DENABLE_LAPACK=OFF -DENABLE_SCALAPACK=OFF -DENABLE_THREADSUPPORT=OFF -DENABLE_NANOBENCHMARK=OFF \
            -DMPI_C_COMPILER="mpicc.$2" -DMPI_CXX_COMPILER="mpicxx.$2" -DCMAKE_CXX_FLAGS=-w && make -j "$3"' sh "$given/dash" "$host" "$jobs"
}

# HaloTest reads what others still write, over any network: it fails on the host alone as well.
app_tests() {
    program=$(find "$PWD/tree/build" -type f -executable -name 'dash-test-mpi*' | head -n 1)
    for n in 2 4; do
        echo "dash-$n $n 900 $program --gtest_filter=-HaloTest*"
    done
}

# Rank 0 tells of each test.
app_judge() {
    sed -n "s/.*\[ *\(OK\|FAILED\|SKIPPED\) *\] *\([A-Za-z]*Test[A-Za-z]*\.[A-Za-z0-9_]*\) (.*/\1 $test:\2/p" "$tmp/out" |
        sed 's/^OK/pass/; s/^FAILED/fail/; s/^SKIPPED/skip/' | sort -u
    judge_by test "$rc" = 0
}
