# petsc.sh - PETSc, solvers for differential equations: the tests of its star forests with windows in
# the place of messages, for each kind of window and of synchronization. The output is compared
# with that of the source package. Debian has PETSc on Open MPI alone.

# shellcheck disable=SC2034 # read by common.sh
app_title="PETSc's star forest, windows"
app_hosts=openmpi
app_packages="petsc-dev dpkg-dev"

app_prepare() {
    fetch_source petsc || return 1
    app_version=$source_version
    forest=$source/src/vec/is/sf/tutorials
    # shellcheck disable=SC2046 # lists of words
    built tree mpicc.openmpi -w -o ex1 "$forest/ex1.c" $(pkg-config --cflags --libs petsc) -lm
}

# As the comment at the end of ex1.c lists them.
app_tests() {
    while read -r number nprocs flavors options; do
        for flavor in $(echo "$flavors" | tr , ' '); do
            for sync in fence active lock; do
                case $size-$number-$flavor in
                full-* | *-[26]-create | *-10-allocate) ;;
                *) continue ;;
                esac
                echo "$number-$flavor-$sync $nprocs 60 $PWD/tree/ex1 $options" \
                    "-sf_type window -sf_window_sync $sync -sf_window_flavor $flavor"
            done
        done
    done <<'END'
1 4 create,dynamic,allocate -test_bcast
2 4 create,dynamic,allocate -test_reduce
3 4 create,dynamic,allocate -test_degree
4 4 create,dynamic,allocate -test_gather
5 4 create,dynamic,allocate -test_scatter
6 4 create,allocate -test_embed
7 4 create,dynamic,allocate -test_invert
8 3 create,dynamic,allocate -test_bcast -test_sf_distribute
10 4 create,allocate,shared -test_all -test_bcastop 0 -test_fetchandop 0
END
}

app_judge() {
    grep -v -e type -e sort "$forest/output/ex1_${test%%-*}.out" >"$tmp/expected"
    grep -v -e type -e sort "$tmp/out" | cmp -s - "$tmp/expected" && test "$rc" = 0
    same=$?
    judge_by test "$same" = 0
}
