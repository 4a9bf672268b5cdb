# SPDX-License-Identifier: BSD-3-Clause
# graph500.sh - Graph 500 2.1.4: breadth-first search by one-sided communication, and by messages (simple) beside it. It is not
# in Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="Graph 500, one-sided and simple"
app_packages=

app_prepare() {
    given_source graph500-2.1.4 || return 1
    app_version=2.1.4
    built tree sh -c 'cp -R "$1" src && cd src/mpi &&
        make -j "$3" MPICC="mpicc.$2" CFLAGS="-fopenmp -w -O2 -DNDEBUG -Drestrict=__restrict__ -DGRAPH_GENERATOR_MPI -fcommon" \
            graph500_mpi_one_sided graph500_mpi_simple' sh "$given/graph500-2.1.4" "$host" "$jobs"
}

app_tests() {
    scale=12
    test "$size" = full || scale=8
    for kind in one_sided simple; do
        echo "$kind 4 300 env OMP_NUM_THREADS=1 $PWD/tree/src/mpi/graph500_mpi_$kind $scale"
    done
}

# It checks each search by itself and says where one is wrong.
app_judge() {
    judge_by eval 'test "$rc" = 0 && grep -q "harmonic_mean_TEPS" "$tmp/out" && ! grep -qi "validation.*fail\|invalid" "$tmp/out"'
}
