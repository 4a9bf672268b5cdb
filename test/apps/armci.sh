# SPDX-License-Identifier: BSD-3-Clause
# armci.sh - ARMCI-MPI, the layer under Global Arrays and NWChem: its own tests and benchmarks,
# built from the source package.

# shellcheck disable=SC2034 # read by common.sh
app_title="ARMCI-MPI's tests"
app_packages="autoconf automake libtool dpkg-dev"

app_prepare() {
    fetch_source armci-mpi any || return 1
    app_version=$source_version
    test -f "$source/configure" || (cd "$source" && step autogen.log ./autogen.sh) || exit 1
    built tree sh -c '"$1/configure" CC="mpicc.$2" --disable-shared && make -j "$3" && make -k -j "$3" check TESTS=' \
        sh "$source" "$host" "$jobs"
}

app_tests() {
    n=4
    test "$size" != ci || n=2
    for program in $(cd tree && printf 'include Makefile\nprint:\n\t@echo $(TESTS)\n' | make -s -f - print); do
        name=$(basename "$program")
        case $size-$name in
        full-* | *-test_onesided | *-test_mutex_rmw | *-test_malloc_irreg | *-test_accs | *-test_puts_gets) ;;
        *-test_putv | *-test_rmw_fadd | *-test_mpi_indexed_accs | *-ctree_test) ;;
        *) continue ;;
        esac
        test ! -x "tree/$program" || echo "$name $n 60 $PWD/tree/$program"
    done
}
