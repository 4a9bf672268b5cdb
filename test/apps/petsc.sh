# SPDX-License-Identifier: BSD-3-Clause
# petsc.sh - PETSc, solvers for differential equations: the tests of its star forests with windows in
# the place of messages, for each kind of window that Debian's build can have, and each kind of
# synchronization. The output is compared with that of the source package. Debian has PETSc on Open
# MPI alone.

# shellcheck disable=SC2034 # read by common.sh
app_title="PETSc's star forest, windows"
app_hosts=openmpi
app_packages="petsc-dev dpkg-dev"

app_prepare() {
    fetch_source petsc || return 1
    app_version=$source_version
    forest=$source/src/vec/is/sf
    # shellcheck disable=SC2016 # parameters of the inner shell
    built tree sh -c 'for where in tutorials tests; do
            mpicc.openmpi -w -o "$where" "$1/$where/ex1.c" $(pkg-config --cflags --libs petsc) -lm || exit 1
        done' sh "$forest"
}

# As the comments at the end of both sources list them: a name, the processes, the program, the file with its
# output (F being the part that differs by kind of window), its options.
app_tests() {
    while read -r name nprocs program output options; do
        for flavor in create shared; do
            part=
            test "$flavor" = create || part=_shared
            for sync in fence active lock; do
                case $size-$name-$flavor in
                full-* | *-reduce-create | *-embed-create | *-all-shared) ;;
                *) continue ;;
                esac
                echo "$name-$flavor-$sync $nprocs 60 $PWD/tree/$program $options" \
                    "-sf_type window -sf_window_sync $sync -sf_window_flavor $flavor"
                echo "$forest/$program/output/$output" | sed "s/F/$part/" >"expected-$name-$flavor-$sync"
            done
        done
    done <<'END'
bcast 4 tutorials ex1_1.out -test_bcast
reduce 4 tutorials ex1_2.out -test_reduce
degree 4 tutorials ex1_3.out -test_degree
gather 4 tutorials ex1_4.out -test_gather
scatter 4 tutorials ex1_5.out -test_scatter
embed 4 tutorials ex1_6.out -test_embed
invert 4 tutorials ex1_7.out -test_invert
distribute 3 tutorials ex1_8.out -test_bcast -test_sf_distribute
all 4 tutorials ex1_10.out -test_all -test_bcastop 0 -test_fetchandop 0
user1 1 tests ex1_windowF_nsize-1.out -user_sf_type window
user2 2 tests ex1_windowF_nsize-2.out -user_sf_type window
user3 3 tests ex1_windowF_nsize-3.out -user_sf_type window
END
}

app_judge() {
    grep -v -e type -e sort "$(cat "expected-$test")" >"$tmp/expected"
    grep -v -e type -e sort "$tmp/out" | cmp -s - "$tmp/expected" && test "$rc" = 0
    same=$?
    judge_by test "$same" = 0
}
