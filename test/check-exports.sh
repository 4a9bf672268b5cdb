#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-exports.sh - what libmpi-rma.so shows to the dynamic linker: MPI_*, PMPI_*,
# MPIRMA_* and PMPIRMA_* and nothing else, each MPI_X a weak alias of a strong
# PMPI_X (Fortran bindings and mpi4py call one, profiling tools replace the other).
# Besides these, the one Fortran wrapper of each host that has to be replaced
# (src/mpi/fortran_attr_*.c), under all of its names. Reports in TAP.

lib=${MPI_RMA_LIB:?run by make check}
echo 1..5
if test ! -f "$lib"; then
    echo "Bail out! $lib was not built"
    exit 1
fi
. "${abs_top_srcdir:?run by make check}/test/tap.sh"
table=$(nm -D --defined-only "$lib") || {
    echo "Bail out! nm can't read $lib"
    exit 1
}

point "only MPI_*, PMPI_*, MPIRMA_* and PMPIRMA_* are exported (and MPI_Win_get_attr for Fortran)" \
    "$(printf '%s\n' "$table" | awk '
        $NF ~ /^(MPII_Win_get_attr|ompi_win_get_attr_f|p?mpi_win_get_attr_?_?)$/ { next }
        $NF !~ /^P?MPI(RMA)?_[A-Z]/ && $NF !~ /^__(asan|ubsan|tsan|odr_asan)/ { print $NF }')"

count=$(printf '%s\n' "$table" | grep -c ' W MPI_')
missing="no MPI_* is exported at all"
test "$count" = 0 || missing=
point "the entry points are there" "$missing"

point "every MPI_X is a weak alias of a strong PMPI_X" \
    "$(printf '%s\n' "$table" | awk '
        { address[$NF] = $1; kind[$NF] = $2 }
        END {
            for (name in kind) {
                if (name ~ /^MPI_/ && kind["P" name] != "T") print name ": no strong P" name
                else if (name ~ /^MPI_/ && kind[name] != "W") print name ": not weak"
                else if (name ~ /^MPI_/ && address[name] != address["P" name])
                    print name ": not the same function as P" name
                else if (name ~ /^PMPI_/ && !(substr(name, 2) in kind)) print name ": no " substr(name, 2)
            }
        }' | sort)"

needs=$(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
point "it brings the host's libmpi with it" "$(
    printf '%s\n' "$needs" | grep -q '^libmpi\(ch\)\{0,1\}\.so' || echo "NEEDED: $needs"
)"
point "it loads libfabric when the network is opened, not before" "$(printf '%s\n' "$needs" | grep libfabric)"
test "$failed" = 0
