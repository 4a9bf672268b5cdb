#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_handle.sh - programs that load MPI by dlopen and look functions up in that handle: under mpi-rma-run they are served,
# in C and by ctypes, by the library's name and by its path; a profiling tool in LD_PRELOAD sees their calls; another MPI
# library keeps its functions. Where calls do not come through the library, it is said once, and only if it is a surprise.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded under a program without"
path=$(ldd "$bin/plain_rma" | sed -n 's/^[[:space:]]*libmpi\(ch\|_abi\|\)\.so\.[0-9]* => \(\/[^ ]*\).*/\2/p')
test -f "$path" || skip_all "no shared MPI library that $bin/plain_rma is linked with"
name=$(basename "$path")
run="$MPI_RMA_RUN --host=$MPI_BUILD"
nothing="no window of this job was made through libmpi-rma"

# lines N PATTERN WHAT: N lines of the output have it
lines() {
    test "$(grep -Ec -e "$2" "$tmp/out")" = "$1" || bad "$3:"
}

# served WHAT: all went well, and through the library
served() {
    test "$rc" = 0 || bad "$1: exit code $rc:"
    seen FAILED && bad "$1:"
    lines "$np" '^received$' "$1: the neighbour's rank has not come"
    test "$(counter all windows)" = "$np" || bad "$1: the library has made $(counter all windows) windows:"
    lines 0 "$nothing" "$1: a window was made, and it is said that none was"
}

for file in "$name" "$path"; do
    # shellcheck disable=SC2086 # words
    mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" $run "$bin/host_handle" "$file"
    served "C, $file"
    lines $((7 * np)) '^P?MPI_(Init|Win_.*|Put|Finalize) is of libmpi-rma\.so' "C, $file: the library's functions were not found"
    lines $((4 * np)) '^MPI_(Comm_.*|Barrier|Send) is of libmpi(ch|_abi|)\.so' "C, $file: the host's functions were not found"
done
if command -v python3 >/dev/null; then
    for file in "$name" "$path"; do
        # shellcheck disable=SC2086 # words
        mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" $run python3 "$abs_top_srcdir/test/mpi/host_handle.py" "$file"
        served "ctypes, $file"
    done
fi

if test -n "$MPICC"; then
    "$MPICC" -shared -fPIC -o "$tmp/libcount.so" "$abs_top_srcdir/test/mpi/count_tool.c" || bad "no tool"
    # shellcheck disable=SC2086 # words
    mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" LD_PRELOAD="$tmp/libcount.so" $run "$bin/host_handle" "$path"
    served "a tool in LD_PRELOAD"
    lines "$np" '^MPI_Put is of libcount\.so$' "a tool in LD_PRELOAD does not get the calls"
fi

# mpi-rma-run under mpi-rma-run, as a script starts it.
# shellcheck disable=SC2086 # words
mpirun "$np" env MPIRMA_STATS="$tmp/stats.csv" $run sh -c '"$@"' sh $run "$bin/host_handle" "$path"
served "mpi-rma-run in a script under mpi-rma-run"

# A program that makes no window.
# shellcheck disable=SC2086 # words
mpirun "$np" $run "$bin/host_handle" "$path" nothing
test "$rc" = 0 || bad "no window: exit code $rc:"
lines 0 libmpi-rma: "no window, and nobody asked"
# shellcheck disable=SC2086 # words
mpirun "$np" env MPIRMA_STATS=1 $run "$bin/host_handle" "$path" nothing
lines 1 "$nothing; if" "no window, and statistics"

# Preloaded by hand: all calls go past the library.
mpirun "$np" env LD_PRELOAD="$MPI_RMA_LIB" "$bin/host_handle" "$path"
test "$rc" = 0 || bad "LD_PRELOAD by hand: exit code $rc:"
lines "$np" '^received$' "LD_PRELOAD by hand: the neighbour's rank has not come"
lines 1 "$nothing: .* uses MPI" "LD_PRELOAD by hand: it is not said once that the library is not in use"
mpirun "$np" env LD_PRELOAD="$MPI_RMA_LIB" MPIRMA_DISABLE=1 "$bin/host_handle" "$path"
lines 0 "$nothing" "LD_PRELOAD by hand, and the library is switched off"
mpirun "$np" env LD_PRELOAD="$MPI_RMA_LIB" true
lines 0 libmpi-rma: "a program without MPI"

# A second MPI library beside the one that the library for Open MPI brings along.
if test "$MPI_BUILD" = openmpi; then
    cp "$path" "$tmp/$name"
    # shellcheck disable=SC2086 # words
    mpirun 1 $run "$bin/host_handle" "$tmp/$name" look
    lines 0 'is of libmpi-rma' "a second MPI library has lost its functions"
fi

# A library that replaces a function behind libmpi-rma-dlsym.so finds the next one, and not itself.
cat >"$tmp/next.c" <<'END'
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <unistd.h>
pid_t getppid(void)
{
    void *next = dlsym(RTLD_NEXT, "getppid");
    return next == (void *)getppid ? -1 : ((pid_t(*)(void))next)();
}
END
printf '#include <unistd.h>\nint main(void) { return getppid() <= 0; }\n' >"$tmp/main.c"
"${CC:-cc}" -shared -fPIC -o "$tmp/libnext.so" "$tmp/next.c" &&
    "${CC:-cc}" -o "$tmp/main" "$tmp/main.c" -L"$tmp" -Wl,-rpath,"$tmp" -lnext || bad "RTLD_NEXT: can't be built"
# shellcheck disable=SC2086 # words
mpirun 1 $run "$tmp/main"
test "$rc" = 0 || bad "RTLD_NEXT does not find what is behind the caller: exit code $rc:"
finish
