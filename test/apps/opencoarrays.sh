# SPDX-License-Identifier: BSD-3-Clause
# opencoarrays.sh - OpenCoarrays, Fortran coarrays on MPI-3 windows: its own tests, built from the
# source package together with its library. Images are processes, every coarray is a window.

# shellcheck disable=SC2034 # read by common.sh
app_title="OpenCoarrays' tests"
app_packages="cmake gfortran g++ dpkg-dev"

app_prepare() {
    fetch_source open-coarrays any || return 1
    app_version=$source_version
    built tree sh -c 'cmake "$1" -DCMAKE_BUILD_TYPE=Release -DMPI_C_COMPILER="mpicc.$2" \
        -DMPI_Fortran_COMPILER="mpifort.$2" -DMPIEXEC_EXECUTABLE="$3" && make -j "$4"' \
        sh "$source" "$host" "$(command -v "$MPIEXEC")" "$jobs"
}

# The list is that of ctest, without what does not run under cafrun.
app_tests() {
    (cd tree && ctest --show-only=json-v1) | python3 -c '
import json, sys
size = sys.argv[1]
some = {"ci": "get_array send_array strided_sendget co_sum co_heat coarray_burgers_pde "
              "alloc_comp_send_convert_nums allocatable_p2p_event_post",
        "short": "get_array send_array strided_sendget get_with_vector_index co_sum co_heat coarray_burgers_pde "
                 "register_alloc_comp_3 alloc_comp_send_convert_nums syncimages_status simpleatomics "
                 "teams_coarray_sendget allocatable_p2p_event_post issue-493-coindex-slice"}
for test in json.load(sys.stdin)["tests"]:
    command = test.get("command", [])
    if len(command) < 4 or not command[1].endswith("/cafrun"):
        continue
    if size in some and test["name"] not in some[size].split():
        continue
    program = next(i for i, word in enumerate(command) if "-tests/" in word)
    print(test["name"], command[command.index("-np") + 1], 60, *command[program:])' "$size"
}

app_judge() {
    judge_by grep -q 'Test passed' "$tmp/out"
}
