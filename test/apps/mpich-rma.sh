# SPDX-License-Identifier: BSD-3-Clause
# mpich-rma.sh - MPICH's own tests of one-sided communication, from its source package, on both
# hosts. What they are run with is in their testlist.

# shellcheck disable=SC2034 # read by common.sh
app_title="MPICH's RMA tests"
app_packages="dpkg-dev"

app_prepare() {
    fetch_source mpich any || return 1
    app_version=$source_version
    # Open MPI's mpi.h makes removed functions an error, which a part of the tests has in dead code.
    flags=
    test "$host" = mpich || flags=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0
    built tree sh -c '"$1/test/mpi/configure" MPICC="mpicc.$2" CFLAGS="-O1 -w $4" --disable-fortran --disable-cxx \
        --disable-romio && make -C dtpools -j "$3" && make -C util -j "$3" && { make -k -C rma -j "$3" || :; }' \
        sh "$source" "$host" "$jobs" "$flags"
}

# Lines of the list: program, processes, then arg=X, env=X, timeLimit=X and what only chooses.
app_tests() {
    grep -v '^#' tree/rma/testlist | while read -r program nprocs rest; do
        test -x "tree/rma/$program" || continue
        arguments=
        settings=
        name=$program-$nprocs
        for word in $rest; do
            case $word in
            arg=*) arguments="$arguments ${word#arg=}" && name="$name,${word#arg=}" ;;
            env=*) settings="$settings ${word#env=}" && name="$name,${word#env=}" ;;
            esac
        done
        test "$size" = full || case $program in put* | acc* | win_* | lock*) ;; *) continue ;; esac
        echo "$(echo "$name" | tr / :) $nprocs 60 $settings $PWD/tree/rma/$program$arguments"
    done
}

app_judge() {
    judge_by grep -q 'No Errors' "$tmp/out"
}
