#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scaling.sh - print what a process takes in jobs of 100, 1000 and 10000 processes of a node each:
# the table of doc/report/many-nodes.md, counted on simulated processes by test/sim/counts.
#
#   sh scripts/scaling.sh             print it; about ten minutes
#   sh scripts/scaling.sh --update    write it into doc/report/many-nodes.md

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
case ${1-} in
'' | --update) ;;
*) unknown_option "$1" --update ;;
esac
install_missing
bootstrap
make_target=test/sim/counts
build mpich || exit 1
CMOCKA_MESSAGE_OUTPUT=TAP test/sim/counts job 100 1000 10000 >counts.out || die "see $(pwd)/counts.out"
table=$(grep '^|' counts.out)
if test "${1-}" = --update; then
    {
        echo
        echo "$table"
    } | replace_part "$top_srcdir/doc/report/many-nodes.md" "a job of many nodes"
else
    echo "$table"
fi
