#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-exports.sh - what libmpi-rma.so shows to the dynamic linker: MPI_*, PMPI_*,
# MPIRMA_* and PMPIRMA_* and nothing else, each MPI_X a weak alias of a strong
# PMPI_X (Fortran bindings and mpi4py call one, profiling tools replace the other).
# Besides these, the one Fortran wrapper of each host that has to be replaced
# (src/mpi/calls/fortran_attr_*.c), under all of its names, and but for Open MPI the
# function of UCX by which MPICH makes progress (src/mpi/host/host_poll_ucx.c). Then the same of
# libmpi-rma-calls.so, which takes no symbol of the host for granted, of libmpi-rma-dlsym.so and of
# libmpi-rma-malloc.so. Reports in TAP.

lib=${MPI_RMA_LIB:?run by make check}
calls=$(dirname "$lib")/libmpi-rma-calls.so
lookups=$(dirname "$lib")/libmpi-rma-dlsym.so
mallocs=$(dirname "$lib")/libmpi-rma-malloc.so
echo 1..15
for file in "$lib" "$calls" "$lookups" "$mallocs"; do
    if test ! -f "$file"; then
        echo "Bail out! $file was not built"
        exit 1
    fi
done
. "${abs_top_srcdir:?run by make check}/test/run/tap.sh"
table=$(nm -D --defined-only "$lib") || {
    echo "Bail out! nm can't read $lib"
    exit 1
}

point "only MPI_*, PMPI_*, MPIRMA_* and PMPIRMA_* are exported (and MPI_Win_get_attr for Fortran, UCX's progress)" \
    "$(printf '%s\n' "$table" | awk -v build="$MPI_BUILD" '
        $NF == "ucp_worker_progress" && build != "openmpi" { next }
        $NF ~ /^(MPII_Win_get_attr|ompi_win_get_attr_f|p?mpi_win_get_attr_?_?)$/ { next }
        $NF !~ /^P?MPI(RMA)?_[A-Z]/ && $NF !~ /^__(asan|ubsan|tsan|odr_asan)/ { print $NF }')"

count=$(printf '%s\n' "$table" | grep -c ' W MPI_')
missing="no MPI_* is exported at all"
test "$count" = 0 || missing=
point "the entry points are there" "$missing"
# A program may have been compiled with a newer mpi.h than the library.
point "those of MPI 4 are there, whatever the host's mpi.h declares" "$(
    for name in Put_c Get_c Accumulate_c Get_accumulate_c Rput_c Rget_c Raccumulate_c Rget_accumulate_c \
        Win_create_c Win_allocate_c Win_allocate_shared_c Win_shared_query_c Session_init Session_finalize \
        Request_get_status_any Request_get_status_all Request_get_status_some; do
        printf '%s\n' "$table" | grep -q " W MPI_$name\$" || echo "no MPI_$name"
    done
)"

# not_aliases TABLE: the functions that are no pair of a strong PMPI_X and its weak alias.
not_aliases() {
    printf '%s\n' "$1" | awk '
        { address[$NF] = $1; kind[$NF] = $2 }
        END {
            for (name in kind) {
                if (name ~ /^MPI_/ && kind["P" name] != "T") print name ": no strong P" name
                else if (name ~ /^MPI_/ && kind[name] != "W") print name ": not weak"
                else if (name ~ /^MPI_/ && address[name] != address["P" name])
                    print name ": not the same function as P" name
                else if (name ~ /^PMPI_/ && !(substr(name, 2) in kind)) print name ": no " substr(name, 2)
            }
        }' | sort
}
point "every MPI_X is a weak alias of a strong PMPI_X" "$(not_aliases "$table")"

needs=$(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
host=
test "$MPI_BUILD" != openmpi || host=libmpi.so.40
point "it names no MPI library that it needs but Open MPI's, by the name that all releases have" "$(
    printf '%s\n' "$needs" | grep -E '^lib(open[-_])?(mpi|pal)' | grep -vxF "${host:-none}"
)"
point "functions of the host are bound when they are called" "$(readelf -d "$lib" | grep -wE 'BIND_NOW|NOW')"
point "nothing but functions of MPI is undefined in it" "$(
    ldd -r "$lib" 2>&1 | sed -n 's/^undefined symbol: \([^[:space:]]*\).*/\1/p' | grep -vE '^(PMPI_|__[atu]b*san)'
)"
why=
test -n "$SANITIZERS" || why=$(LD_PRELOAD="$lib" ls / 2>&1 >/dev/null)
point "a program without MPI can be started with it preloaded" "$why"
point "it loads libfabric when the network is opened, not before" "$(printf '%s\n' "$needs" | grep libfabric)"

table=$(nm -D --defined-only "$calls") || table=unreadable
point "libmpi-rma-calls.so: only MPI_*, PMPI_* and one object are exported, in pairs" "$(
    printf '%s\n' "$table" | awk '$NF !~ /^P?MPI_[A-Z]/ && $NF !~ /^(mpirma_traced_calls|__(asan|ubsan|tsan|odr_asan).*)$/ { print $NF }'
    not_aliases "$table"
)"
point "libmpi-rma-calls.so: no symbol of it is missing when all are bound at once" \
    "$(ldd -r "$calls" 2>&1 | grep 'undefined symbol' | grep -v '__[atu]b*san')"
point "libmpi-rma-calls.so: it is linked with the C library" \
    "$(readelf -d "$calls" | grep -q 'NEEDED.*\[libc\.' || readelf -d "$calls" | grep NEEDED || echo "it needs nothing")"
point "libmpi-rma-dlsym.so: only dlsym is exported" "$(
    nm -D --defined-only "$lookups" | awk '$NF == "dlsym" { found = 1; next }
        $NF !~ /^__(asan|ubsan|tsan|odr_asan)/ { print $NF }
        END { if (!found) print "no dlsym" }'
)"
point "libmpi-rma-malloc.so: only the functions of malloc and one object are exported, all of them" "$(
    names="malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc malloc_usable_size free"
    nm -D --defined-only "$mallocs" | awk -v names="$names free_sized free_aligned_sized mpirma_malloc_calls" '
        BEGIN { n = split(names, name, " "); for (i = 1; i <= n; i++) left[name[i]] = 1 }
        $NF in left { delete left[$NF]; next }
        $NF !~ /^__(asan|ubsan|tsan|odr_asan)/ { print $NF }
        END { for (i in left) print "no " i }'
)"
point "libmpi-rma-malloc.so: it needs the C library alone" \
    "$(readelf -d "$mallocs" | grep NEEDED | grep -vE '\[lib(c|dl|pthread|[atu]b*san)\.')"
test "$failed" = 0
