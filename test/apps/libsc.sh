# SPDX-License-Identifier: BSD-3-Clause
# libsc.sh - libsc, the layer under the forests of p4est: its tests, of which those of shared arrays and notification make
# windows. It is not in Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="libsc's tests"
app_packages="cmake zlib1g-dev"

app_prepare() {
    given_source libsc || return 1
    app_version=$(git -C "$given/libsc" describe --tags 2>/dev/null || echo -)
    built tree sh -c 'cmake "$1" -DCMAKE_BUILD_TYPE=Release -DSC_ENABLE_MPI=ON -Dmpi=ON -DMPI_C_COMPILER="mpicc.$2" \
        -DSC_BUILD_TESTING=ON -DBUILD_TESTING=ON && make -j "$3"' sh "$given/libsc" "$host" "$jobs"
}

app_tests() {
    find "$PWD/tree" -type f -executable -name 'sc_test_*' | sort | while read -r program; do
        name=$(basename "$program")
        case $size-$name in
        full-* | *-sc_test_node_comm | *-sc_test_allgather | *-sc_test_notify) echo "$name 4 60 $program" ;;
        esac
    done
}
