# SPDX-License-Identifier: BSD-3-Clause
# mpi4py.sh - mpi4py, MPI for Python: its tests of windows, one-sided communication and memory, from
# the source of its version, on the installed module. Debian has it on Open MPI alone.

# shellcheck disable=SC2034 # read by common.sh
app_title="mpi4py's tests"
app_hosts=openmpi
app_packages="python3 python3-mpi4py python3-pip python3-setuptools dpkg-dev"

# The source package, or the archive of the same version from the Python package index.
app_prepare() {
    why=
    fetch_source mpi4py || fetch_sdist mpi4py "$(/usr/bin/python3 -c 'import mpi4py; print(mpi4py.__version__)')" || return 1
    why=
    app_version=$source_version
    # A file for each process: their lines must not mix.
    echo 'exec /usr/bin/python3 -m unittest -v "$1" 2>"out.$$"' >run.sh
}

app_tests() {
    for module in test_win test_rma test_rma_nb test_memory; do
        for nprocs in 1 2; do
            echo "$module-$nprocs $nprocs 120 PYTHONPATH=$source/test sh run.sh $module"
        done
    done
}

# "name (module.class) ... ok" for each test, of each process, or "(module.class.name)" from Python 3.11 on,
# with a line of text before the dots where the test has one; skipped ones say so. A test passes if all
# processes say ok.
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
        / \.\.\. ok$/ { ok[name]++ }
        / \.\.\. skipped / { skipped[name]++ }
        END {
            for (i = 1; i <= n; i++) print (skipped[order[i]] ? "skip" : ok[order[i]] == nprocs ? "pass" : "fail"), order[i]
            if (!n) print "fail", test
        }' "$tmp/out"
}
