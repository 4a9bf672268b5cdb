# SPDX-License-Identifier: BSD-3-Clause
# mpi4py.sh - mpi4py, MPI for Python. On Open MPI, the only host that Debian builds it on: its tests of windows, one-sided
# communication and memory, from the source of its version, on the installed module. Over the standard ABI: all of its tests,
# on a module that is built with the ABI's header from the archive of the Python package index.

# shellcheck disable=SC2034 # read by common.sh
app_title="mpi4py's tests"
app_hosts="openmpi abi"
app_packages="python3 python3-mpi4py python3-pip python3-setuptools dpkg-dev"

# The release for the ABI, and what makes C of it.
abi_release=4.1.2
abi_cython=3.1.6

if test "$MPI_BUILD" = abi; then
    app_packages="python3 python3-dev python3-pip python3-setuptools dpkg-dev"
fi

# On Open MPI the source package, or the archive of the same version from the Python package index.
app_prepare() {
    why=
    if test "$MPI_BUILD" = abi; then
        fetch_sdist mpi4py "$abi_release" && built module module_build || return 1
        path=$PWD/module/lib:$source/test
    else
        fetch_source mpi4py || fetch_sdist mpi4py "$(/usr/bin/python3 -c 'import mpi4py; print(mpi4py.__version__)')" || return 1
        path=$source/test
    fi
    why=
    app_version=$source_version
    # A file for each process: their lines must not mix.
    echo 'exec /usr/bin/python3 -m unittest -v "$1" 2>"out.$$"' >run.sh
}

# mpi4py in the directory lib, compiled with the header of the standard ABI. The source is copied, since C is written into it.
# Without optimization, since the file of C that Cython writes is compiled for minutes otherwise.
module_build() {
    abi_wrapper abi-mpicc && cp -R "$source" source && rm -f source/src/mpi4py/MPI.c || return 1
    /usr/bin/python3 -m pip download -q --no-cache-dir --no-deps --only-binary :all: -d . "cython==$abi_cython" &&
        /usr/bin/python3 -m zipfile -e cython-*.whl cython || return 1
    wrapper=$PWD/abi-mpicc
    lib=$PWD/lib
    (cd source && PYTHONPATH="$(dirname "$lib")/cython" CFLAGS=-O0 /usr/bin/python3 setup.py build --mpicc="$wrapper" --build-lib="$lib")
}

app_tests() {
    modules="test_win test_rma test_rma_nb test_memory"
    if test "$MPI_BUILD" = abi; then
        modules="test_win test_rma test_rma_nb test_mpimem $(cd "$source/test" && ls test_*.py |
            grep -vxE '(test_win|test_rma|test_rma_nb|test_mpimem)\.py' | sed 's/\.py$//' | tr '\n' ' ')"
    fi
    for module in $modules; do
        for nprocs in 1 2; do
            echo "$module-$nprocs $nprocs 120 PYTHONPATH=$path sh run.sh $module"
        done
    done
}

# "name (module.class) ... ok" for each test, of each process, or "(module.class.name)" from Python 3.11 on,
# with a line of text before the dots where the test has one; skipped ones say so. What the host says meanwhile stands
# between the dots and the result, which then begins a line. A test passes if all processes say ok.
app_judge() {
    cat out.* >>"$tmp/out" 2>/dev/null
    rm -f out.*
    awk -v test="$test" -v nprocs="$nprocs" '
        match($0, /^test[A-Za-z0-9_]* \([a-z0-9_]*\.[A-Za-z0-9_]*/) {
            name = substr($0, 1, RLENGTH)
            class = name
            sub(/ .*/, "", name)
            sub(/.*\./, "", class)
            name = test ":" class "." name
            if (!(name in seen)) order[++n] = name
            seen[name]
        }
        /(^|\.\.\. )ok$/ { ok[name]++ }
        /(^|\.\.\. )skipped / { skipped[name]++ }
        END {
            for (i = 1; i <= n; i++) print (skipped[order[i]] ? "skip" : ok[order[i]] == nprocs ? "pass" : "fail"), order[i]
            if (!n) print "fail", test
        }' "$tmp/out"
}
