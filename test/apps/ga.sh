# SPDX-License-Identifier: BSD-3-Clause
# ga.sh - Global Arrays, distributed matrices on ARMCI-MPI: the C tests of its source package,
# linked with the installed library.

# shellcheck disable=SC2034 # read by common.sh
app_title="Global Arrays' C tests"
app_packages="libglobalarrays-dev libarmci-mpi-dev libscalapack-$host-dev liblapack-dev libblas-dev gfortran dpkg-dev"

# Each test with its sources, as its CMakeLists.txt lists them. Tests of what the installed library
# does not have yet are left out, and so is all that is not about communication.
build_ga() {
    sed -n 's/^ *ga_add_parallel_test *( *\([^ ]*\) *"\([^"]*\.c\)"[^F]*$/\1 \2/p' "$1/global/testing/CMakeLists.txt" |
        while read -r name files; do
            # shellcheck disable=SC2046 # lists of words
            "mpicc.$2" -w -O1 -o "$name" -include assert.h -include stdlib.h -I"$1/global/testing" \
                -idirafter "$1/global/src" -idirafter "$1/ma" -idirafter "$1/gaf2c" -idirafter "$1/LinAlg/lapack+blas" \
                '-DF77_FUNC_(x,y)=x##_' '-DF77_FUNC(x,y)=x##_' \
                $(for file in $files; do echo "$1/global/testing/$file"; done) \
                $("/usr/lib/$(gcc -print-multiarch)/ga/$2/bin/ga-config" --ldflags --libs) -lgfortran -lm </dev/null ||
                echo "$name: left out"
        done
    test -x testc
}

app_prepare() {
    fetch_source ga any || return 1
    app_version="$(dpkg-query -W -f '${Version}' libglobalarrays-dev), its tests $source_version"
    built tree build_ga "$source" "$host"
}

app_tests() {
    n=4
    test "$size" != ci || n=2
    for program in "$PWD"/tree/*; do
        name=$(basename "$program")
        case $name in perf* | thread_perf*) continue ;; esac
        case $size-$name in
        full-* | short-elempatch | *-testc | *-ntestc | *-nbtestc | *-testmatmultc | *-lock) ;;
        *) continue ;;
        esac
        test ! -x "$program" || echo "$name $n 120 $program"
    done
}

# Some tests print what is wrong and end as if all were well.
app_judge() {
    judge_by test "$rc-$(grep -ciE 'mismatch|wrong|fail|not identical|not ok|error (in|testing)|error=-?[1-9]' "$tmp/out")" = 0-0
}
