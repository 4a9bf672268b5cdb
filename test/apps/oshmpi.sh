# SPDX-License-Identifier: BSD-3-Clause
# oshmpi.sh - OSHMPI, OpenSHMEM on MPI: the symmetric heap and the globals are windows that are locked for the whole run. The
# tests are the unit tests of the OpenSHMEM test suite (tests-sos). Neither is in Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="OpenSHMEM's tests on OSHMPI"
app_packages="autoconf automake libtool"

# OSHMPI takes its atomics, openpa, from a folder of its own source.
build_oshmpi() { # sources, of which each has a name of its own; host, jobs
    cp -R "$1/oshmpi" src && cp -R "$1/openpa/." src/src/openpa && (cd src && ./autogen.sh) &&
        mkdir build && (cd build && ../src/configure --prefix="$PWD/../inst" CC="mpicc.$2" CXX="mpicxx.$2" --enable-threads=multiple &&
        make -j "$3" install)
}

# What does not link needs functions that OSHMPI does not have.
build_sos() { # tests
    mkdir bin
    for file in "$1"/unit/*.c; do
        name=$(basename "$file" .c)
        case $name in
        mt_lock) continue ;; # a part of mt_lock_test
        mt_lock_test) file="$file $1/unit/mt_lock.c" ;;
        esac
        # shellcheck disable=SC2086 # one file or two
        inst/bin/oshcc -w -O1 -I"$1/include" -o "bin/$name" $file -lpthread -lm </dev/null || echo "$name: left out"
    done
    test -x bin/pingpong
}

app_prepare() {
    given_source oshmpi && given_source openpa && given_source tests-sos || return 1
    app_version=$(sed -n 's/^AC_INIT(\[*OSHMPI\]*, *\[*\([^])]*\).*/\1/p' "$given/oshmpi/configure.ac")
    built tree eval 'build_oshmpi "$given" "$host" "$jobs" && build_sos "$given/tests-sos/test"'
}

# global_exit ends with an exit code that is not zero, as it is meant to.
app_tests() {
    for program in "$PWD"/tree/bin/*; do
        name=$(basename "$program")
        case $size-$name in
        full-global_exit) continue ;;
        full-* | *-pingpong | *-cswap | *-put_signal | *-bcast_flood | *-set_lock | *-rma_coverage | *-many-ctx) ;;
        *) continue ;;
        esac
        echo "$name 2 60 $program"
    done
}
