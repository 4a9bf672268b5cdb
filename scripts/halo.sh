#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# halo.sh - install what is missing, build for both hosts, and show the halo
# exchange: at P=2 and P=4, by the host's own one-sided calls and through
# libmpi-rma, each as a ratio to MPI_Isend and MPI_Irecv in the same run.
#
#   sh scripts/halo.sh [OPTIONS OF bench/halo/run-halo.sh]    e.g. --long
#
# On two processors it takes about three minutes, with the installation of packages; the runs take one. It measures the kinds of epochs
# and of memory that programs have most; --long measures all.
# A cell says "wrong" where ghost cells were wrong; the exit code tells of the library alone.
# With HOSTS="mpich" only one host. The CSV files stay in build-<host>/halo.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
usage() {
    sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
    sh "$top_srcdir/bench/halo/run-halo.sh" --help
}
. "$top_srcdir/scripts/common.sh"
sh "$top_srcdir/bench/halo/run-halo.sh" --only-read "$@" || exit

say "this takes about three minutes on two processors, of which the runs are one"
packages=$build_packages
install_missing
bootstrap
# mpi-rma-run as well, for a program of the user's.
make_target="libmpi-rma.la tools/mpi-rma-run tools/mpi-symbols bench/halo/mpi-rma-halo"
for host in ${HOSTS:-$hosts}; do
    build "$host" || die "the build for $host failed"
done
code=0
for host in ${HOSTS:-$hosts}; do
    say "halo exchange on $host"
    dir=$top_srcdir/build-$host
    (cd "$dir" && MPIEXEC=mpiexec.$host sh "$top_srcdir/bench/halo/run-halo.sh" \
        --halo "$dir/bench/halo/mpi-rma-halo" --lib "$dir/.libs/libmpi-rma.so" --out "$dir/halo" --short "$@") || code=1
done
test "$code" = 0 || echo "halo.sh: a run failed, see above" >&2
exit "$code"
