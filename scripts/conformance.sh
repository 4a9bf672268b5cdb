#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conformance.sh - print doc/conformance.md: which test holds what of MPI's one-sided chapter.
#
#   sh scripts/conformance.sh             print it
#   sh scripts/conformance.sh --update    write it to doc/conformance.md
#
# Made from test/mpi/conformance (the rules, and which tests hold them), the lists of the MPI tests, the sources of
# the tests and the functions that the library exports. A rule or function that has neither a test nor a reason, and
# a test that does not exist, are errors: they are named, and the exit code is 1.

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top/scripts/options.sh"
answer_first "$@"
cd "$top" || exit 1

generate() {
    python3 scripts/conformance.py .
}

case $1 in
"") generate ;;
--update)
    text=$(generate) || exit 1
    printf '%s\n' "$text" >doc/conformance.md
    ;;
*) unknown_option "$1" --update ;;
esac
