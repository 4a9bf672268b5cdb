#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# profiling_tools.sh - a profiling tool sees each call of a program under mpi-rma-run
# once, and the library does the one-sided ones: a tool in LD_PRELOAD, one in a shared
# library that the program is linked with, one in the program itself; programs in C and
# Fortran; and with --trace-all, whose archive has each call once as well.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -n "$MPICC" || skip_all "this build has no compiler wrapper of an MPI library to build a program with"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded under a program without"
src=$abs_top_srcdir/test/mpi

build() { # output, compiler, arguments
    output=$1
    shift
    "$@" -o "$output" >"$tmp/out" 2>&1 || {
        bad "$output can't be built:"
        finish
    }
}

# Both processes' counts are those of the program, and the library has carried the puts.
counted() { # what, windows that the tool sees made
    test "$rc" = 0 || bad "$1: exit code $rc"
    test "$(grep -c "^tool: put 3 fence 2 allocate $2 free 1 barrier 1 pcontrol 1\$" "$tmp/out")" = "$np" ||
        bad "$1: the tool has not counted each call once:"
    seen "^windows +$np +1 +1 +0\$" || bad "$1: the library was not in use:"
}

run() { # what, windows, mpi-rma-run's arguments
    what=$1
    windows=$2
    shift 2
    mpirun "$np" env MPIRMA_STATS=1 "$@"
    counted "$what" "$windows"
}

build "$tmp/app" "$MPICC" "$src/count_app.c"
build "$tmp/libcount.so" "$MPICC" -shared -fPIC "$src/count_tool.c"
build "$tmp/app-shared" "$MPICC" "$src/count_app.c" -L"$tmp" -Wl,-rpath,"$tmp" -Wl,--no-as-needed -lcount
build "$tmp/app-inside" "$MPICC" "$src/count_app.c" "$src/count_tool.c"
run "C, tool in LD_PRELOAD" 1 LD_PRELOAD="$tmp/libcount.so" "$MPI_RMA_RUN" "$tmp/app"
run "C, tool in LD_PRELOAD behind the MPI library" 1 \
    LD_PRELOAD="$(ldd "$tmp/app" | sed -n 's/.* => \(.*\/libmpi\(ch\)\{0,1\}\.so[^ ]*\) .*/\1/p') $tmp/libcount.so" \
    "$MPI_RMA_RUN" "$tmp/app"
run "C, shared tool" 1 "$MPI_RMA_RUN" "$tmp/app-shared"
# What stands behind the library, as the host does, has the call of MPI_Pcontrol, too.
printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' 'int PMPI_Pcontrol(const int level, ...)' \
    '{ fprintf(stderr, "behind: level %d\n", level); return MPI_SUCCESS; }' >"$tmp/behind.c"
build "$tmp/libbehind.so" "$MPICC" -shared -fPIC "$tmp/behind.c"
build "$tmp/app-behind" "$MPICC" "$src/count_app.c" -L"$tmp" -Wl,-rpath,"$tmp" -Wl,--no-as-needed -lbehind
run "C, tool in LD_PRELOAD, another one behind the library" 1 LD_PRELOAD="$tmp/libcount.so" "$MPI_RMA_RUN" "$tmp/app-behind"
test "$(grep -c '^behind: level 2$' "$tmp/out")" = "$np" || bad "MPI_Pcontrol does not come to what is behind the library:"
run "C, tool in the program" 1 "$MPI_RMA_RUN" "$tmp/app-inside"

if test "$HAVE_FORTRAN" = yes; then
    build "$tmp/fapp" "$MPIFORT" -J "$tmp" "$src/count_app.f90"
    # MPICH's Fortran library calls MPI_X, which a tool in C sees; that of Open MPI calls PMPI_X, and a tool has to
    # define the Fortran functions.
    library=$(ldd "$tmp/fapp" | sed -n 's/.* => \(.*\/libmpi\(chfort\|_mpifh\)\.so[^ ]*\) .*/\1/p')
    nm -D --undefined-only "$library" | grep -qw MPI_Put && fortran= || fortran=-DCOUNT_FORTRAN
    build "$tmp/count.o" "$MPICC" -c -fPIC $fortran "$src/count_tool.c"
    build "$tmp/libfcount.so" "$MPIFORT" -shared "$tmp/count.o"
    build "$tmp/fapp-shared" "$MPIFORT" -J "$tmp" "$src/count_app.f90" -L"$tmp" -Wl,-rpath,"$tmp" -Wl,--no-as-needed -lfcount
    build "$tmp/fapp-inside" "$MPIFORT" -J "$tmp" "$src/count_app.f90" "$tmp/count.o"
    run "Fortran, tool in LD_PRELOAD" 0 LD_PRELOAD="$tmp/libfcount.so" "$MPI_RMA_RUN" "$tmp/fapp"
    run "Fortran, shared tool" 0 "$MPI_RMA_RUN" "$tmp/fapp-shared"
    run "Fortran, tool in the program" 0 "$MPI_RMA_RUN" "$tmp/fapp-inside"
else
    echo "SKIP: Fortran: $HAVE_FORTRAN"
fi

# The archive has each call of each process once: of the host's functions and of the one-sided ones.
traced() { # what
    "$tool" --archive "$tmp/trace" >"$tmp/out" 2>&1 || bad "$1: no archive:"
    otf2-print "$tmp/trace/traces.otf2" 2>&1 | awk -v np="$np" '
        $1 == "ENTER" { name = $0; sub(/.*Region: "/, "", name); sub(/".*/, "", name); seen[name]++ }
        END { print seen["MPI_Put"] / np, seen["MPI_Win_fence"] / np, seen["MPI_Barrier"] / np, seen["MPI_Comm_size"] / np }' >"$tmp/out"
    test "$(cat "$tmp/out")" = "3 2 1 1" || bad "$1: puts, fences, barriers and MPI_Comm_size of a process in the archive:"
    rm -rf "$tmp/trace"
}

tool=$abs_top_builddir/trace/mpi-rma-trace
if test -x "$tool" && command -v otf2-print >"$tmp/out"; then
    run "--trace-all, tool in LD_PRELOAD" 1 LD_PRELOAD="$tmp/libcount.so" "$MPI_RMA_RUN" --trace-all "$tmp/trace" "$tmp/app"
    traced "--trace-all, tool in LD_PRELOAD"
    run "--trace-all, shared tool" 1 "$MPI_RMA_RUN" --trace-all "$tmp/trace" "$tmp/app-shared"
    traced "--trace-all, shared tool"
else
    echo "SKIP: --trace-all: no mpi-rma-trace or no otf2-print"
fi
finish
