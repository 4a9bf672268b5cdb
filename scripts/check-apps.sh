#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-apps.sh - run real programs on each host without the library, with it, and with it over
# pretended nodes, and print a table of what passed and what it took.
#
#   sh scripts/check-apps.sh [OPTIONS] [PROGRAM...]    all programs of test/apps, or those named
#
#   --short    a part of each program's tests
#   --ci       a part of some programs, in a node where test/apps/expected tells what the host does
#   --fabrics  MPICH's RMA tests over each fabric of the test provider (test/fabric), in place of the other runs;
#              --fabrics=verbs,cxi over these, and --fabrics=roce in the machine of scripts/fabric.sh
#   --prepare  build what is needed, and run nothing
#   --prepared build nothing, and run what was built
#   --library  leave out the host alone where test/apps/expected tells what it does: that changes only
#              with the host, and takes most of the time
#   --table    run nothing, print the table of the results that are there
#
# With HOSTS="mpich" only one host. Ends with "N passed, N failed, N skipped", counted over
# the tests with the library in a node and over pretended nodes: what passes on the host and not
# with the library has failed, what fails on both is skipped. Where test/apps/expected has a file of
# the program's name, anything else than what it says has failed, on the host alone as well. Packages are installed where they are
# missing; sources, builds, results, the table (table.md) and the output of tests that failed stay in $APPS_DIR, by default
# build-apps in the source tree. APPS_SOURCES names a folder with the sources of the programs that no package has.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
. "$top_srcdir/test/apps/common.sh"

all="nwchem bagel opencoarrays armci ga petsc mpi4py mpich-rma oshmpi casper mpi-test-suite graph500 libsc parres dash"
size=full
runs=yes
prepare=yes
fabrics=
library=
programs=
while test $# -gt 0; do
    case $1 in
    --short) size=short ;;
    --ci) size=ci ;;
    --fabrics) fabrics=all ;;
    --fabrics=*) fabrics=$(echo "${1#*=}" | tr , ' ') ;;
    --prepare) runs= ;;
    --prepared) prepare= ;;
    --library) library=yes ;;
    --table) runs= && prepare= ;;
    -*) unknown_option "$1" --short --ci --fabrics --prepare --prepared --library --table ;;
    *)
        test -f "$top_srcdir/test/apps/$1.sh" && test "$1" != common || die "there is no program '$1', only: $all"
        programs="$programs $1"
        ;;
    esac
    shift
done
# Without those that take long to install or to build.
test "$size" != ci || all="nwchem opencoarrays armci ga mpi4py mpich-rma"
kind=
if test -n "$fabrics"; then
    # What fails over pretended nodes is known of programs with a file in test/apps/expected.
    all=mpich-rma
    for program in $programs; do
        test -f "$top_srcdir/test/apps/expected/$program" || die "--fabrics: $program has no file in test/apps/expected"
    done
    . "$top_srcdir/test/lists/fabrics.sh"
    test "$fabrics" != all || fabrics=$profiles
    for fabric in $fabrics; do
        case " $profiles roce " in *" $fabric "*) ;; *) die "there is no fabric '$fabric', only: $profiles roce" ;; esac
    done
    kind=-fabrics
    make_target="all test/fabric/libcard-fi.la"
fi
app=${APPS_DIR:-$top_srcdir/build-apps${APPS_NAME:+-$APPS_NAME}}
mkdir -p "$app/results$kind" && app=$(cd "$app" && pwd) || exit 1

result_files() {
    for program in ${programs:-$all}; do
        for host in ${HOSTS:-$hosts}; do
            test ! -f "$app/results$kind/$program-$host" || echo "$app/results$kind/$program-$host"
        done
    done
}

table() { # what to print: table, details or totals
    # shellcheck disable=SC2046 # file names without blanks
    python3 "$top_srcdir/test/apps/results.py" "$1" $(result_files)
}

if test -n "$prepare"; then
    (install_missing) || exit 1
    bootstrap
    for host in ${HOSTS:-$hosts}; do
        build "$host" || die "the build for $host failed"
    done
fi
if test -n "$prepare" && test -z "$runs"; then
    for program in ${programs:-$all}; do
        for host in ${HOSTS:-$hosts}; do
            (! prepare_app "$program" "$host" || test -z "$why" || die "$program on $host: $why") || exit 1
        done
    done
    exit
fi
if test -n "$runs"; then
    test -n "$HOSTS$programs" || rm -f "$app/results$kind"/*
    for program in ${programs:-$all}; do
        for host in ${HOSTS:-$hosts}; do
            result=$app/results$kind/$program-$host
            (run_app "$program" "$host") >"$result.new" || die "$program on $host: the run was ended"
            if test -s "$result.new"; then mv "$result.new" "$result"; else rm -f "$result" "$result.new"; fi
        done
    done
fi

test -n "$(result_files)" || die "there are no results"
if test -n "$fabrics"; then
    table fabrics | tee "$app/table-fabrics.md"
    table totals
    exit
fi
{ table table && table details; } | tee "$app/table.md"
table totals
