# SPDX-License-Identifier: BSD-3-Clause
# mpich-rma.sh - MPICH's own tests of one-sided communication, from its source package, on both
# hosts: all lists of its test suite in which programs call RMA, in C and Fortran; over the standard ABI
# those in C.

# shellcheck disable=SC2034 # read by common.sh
app_title="MPICH's RMA tests"
app_hosts="$hosts abi"
app_packages="dpkg-dev gfortran"

# Directories whose whole list is taken, and programs of other lists that call RMA.
mpich_dirs="rma f77/rma f90/rma f08/rma threads/rma errors/rma"
mpich_programs="attr/keyval_double_free_win errors/attr/keyvalmis f90/attr/attrlangf90 f90/attr/fandcattrf90
    f08/attr/attrlangf08 f08/attr/fandcattrf08"

app_prepare() {
    if test "$MPI_BUILD" = abi; then
        mpich_dirs="rma threads/rma errors/rma"
        mpich_programs="attr/keyval_double_free_win errors/attr/keyvalmis"
    fi
    fetch_source mpich any || return 1
    app_version=$source_version
    built tree mpich_build
}

mpich_build() {
    flags=
    if test "$MPI_BUILD" = abi; then
        # The pool of datatypes calls functions that MPI 3.0 removed; those that took their place have the same arguments.
        flags="-DMPI_Type_hvector=MPI_Type_create_hvector -DMPI_Type_hindexed=MPI_Type_create_hindexed"
        abi_wrapper abi-mpicc && mpich_configure "$PWD/abi-mpicc" --enable-fortran=none || return 1
        make -C dtpools -j "$jobs" && make -C util -j "$jobs" || return 1
        mpich_programs_build
        return
    fi
    # Open MPI's mpi.h makes removed functions an error, which a part of the tests has in dead code;
    # its mpif.h has the declarations that some Fortran tests make for themselves.
    if test "$host" = openmpi; then
        flags=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0
        mkdir -p f77/rma && sed '/!F77ONLY/d' "$source/test/mpi/f77/rma/aintf.f" >f77/rma/aintf.f || return 1
    fi
    mpich_configure "mpicc.$host" MPIF77="mpif77.$host" MPIFC="mpif90.$host" \
        FFLAGS="-w -fallow-argument-mismatch" FCFLAGS="-w -fallow-argument-mismatch" --enable-fortran=all || return 1
    make -C dtpools -j "$jobs" && make -C util -j "$jobs" || return 1
    # Outside of MPICH configure leaves the helpers of mpi_f08 out; the rule that makes them is there.
    rm -f util/libmtest_f08.la
    make -C util libmtest_f08.la libmtest_f08_la_OBJECTS=mtest_f08.lo || return 1
    mpich_programs_build
}

mpich_configure() { # wrapper, arguments
    wrapper=$1
    shift
    mpich_fewer_rounds || return 1
    "$source/test/mpi/configure" MPICC="$wrapper" CFLAGS="-O1 -w $flags" "$@" --enable-threads=multiple \
        --disable-cxx --disable-romio --disable-spawn --without-cuda --without-hip --without-ze
}

mpich_programs_build() {
    for dir in $mpich_dirs; do
        make -k -C "$dir" -j "$jobs"
    done
    for program in $mpich_programs; do
        make -C "${program%/*}" "${program##*/}"
    done
    # What could not be built fails as a test.
    return 0
}

# fewer_rounds PROGRAM SCRIPT: a source of this tree, with fewer rounds by what sed makes of it; make takes it before the original.
fewer_rounds() {
    mkdir -p "${1%/*}" && sed -E "$2" "$source/test/mpi/$1.c" >"$1.c" || return 1
    ! cmp -s "$source/test/mpi/$1.c" "$1.c" || say "$1: no rounds to make fewer"
}

# Three processes on two processors wait in the host's barriers for the scheduler: the three programs
# with 10,000 rounds of barriers would take half an hour on MPICH for what 1,000 rounds show. The four threads of multirma make
# 400,000 puts, each with a flush, one after the other: nine minutes over a card of the test provider that delays what it does.
mpich_fewer_rounds() {
    fewer_rounds threads/rma/multirma 's/^(#define LOOPS) 100000$/\1 10000/' || return 1
    test "$(nproc)" -lt 3 || return 0
    for program in wrma_flush_get win_shared_rma_flush_load atomic_rmw_cas; do
        fewer_rounds "rma/$program" 's/^(#define (ITER|LOOP_SIZE)) 10000$/\1 1000/' || return 1
    done
}

# Not testlist.gpu, which wants memory of a GPU.
app_tests() {
    for dir in $mpich_dirs; do
        for list in testlist testlist.dtp; do
            mpich_list "$dir" "$list"
        done
    done
    for program in $mpich_programs; do
        mpich_list "${program%/*}" testlist | grep "^$program-"
    done | sort -u
}

# Lines of a list: program, processes, then arg=X, env=X, timeLimit=X and what only chooses. The programs
# of testlist.dtp make types at random, some for minutes and with gigabytes: one count of them is taken.
mpich_list() {
    list=tree/$1/$2
    test -f "$list" || list=$source/test/mpi/$1/$2
    test -f "$list" || return 0
    sed 's/#.*//' "$list" | while read -r program nprocs rest; do
        test -n "$program" || continue
        case "$2 $rest " in "testlist.dtp "*" arg=-count=17 "*) ;; testlist.dtp*) continue ;; esac
        arguments=
        settings=
        limit=180
        name=$1/$program-$nprocs
        for word in $rest; do
            case $word in
            arg=*) arguments="$arguments ${word#arg=}" && name="$name,${word#arg=}" ;;
            env=*) settings="$settings ${word#env=}" && name="$name,${word#env=}" ;;
            timeLimit=*) limit=${word#timeLimit=} ;;
            esac
        done
        name=$(echo "$name" | tr : .)
        echo "$name $nprocs $limit$settings $PWD/tree/$1/$program$arguments"
    done
}

app_judge() {
    judge_by mpich_passed
}

mpich_passed() {
    test "$rc" = 0 && grep -q 'No Errors' "$tmp/out"
}
