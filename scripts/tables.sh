#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tables.sh - the tables of doc/ whose rows are those of the library: variables, tuning parameters, counters.
#
#   sh scripts/tables.sh BUILD-DIRECTORY             say which documents differ; the exit code is 1 then
#   sh scripts/tables.sh BUILD-DIRECTORY --update    write them
#
# The rows come from tools/doc-tables of the build directory, which is made first. In a document the line
# <!-- rows of NAME --> stands before the table's head; the rows behind that are replaced.

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top/scripts/options.sh"
answer_first "$@"
case ${1-} in
"" | -*)
    echo "${0##*/}: the build directory comes first" >&2
    echo "usage: ${0##*/} BUILD-DIRECTORY [--update] [--help]" >&2
    exit 2
    ;;
esac
case ${2-} in "" | --update) ;; *) unknown_option "$2" --update ;; esac
rows=$1/tools/doc-tables
MAKEFLAGS= make -s -C "$1" tools/doc-tables >/dev/null || exit 1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-tables.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 143' INT TERM HUP

differ=
for document in $(grep -l '^<!-- rows of [a-z]* -->$' "$top"/doc/*.md); do
    awk -v program="$rows" '
        /^<!-- rows of / { print; name = $4; head = 2; next }
        head > 0 { print; if (--head == 0) { fflush(); system(program " " name); skip = 1 }; next }
        skip && /^\| / { next }
        { skip = 0; print }
    ' "$document" >"$tmp/document" || exit 1
    cmp -s "$document" "$tmp/document" && continue
    differ="$differ ${document##*/}"
    if test "${2-}" = --update; then
        cat "$tmp/document" >"$document"
    else
        diff "$document" "$tmp/document" | sed -n "s/^\([<>]\) /${document##*/}: \1 /p"
    fi
done
test -z "$differ" || test "${2-}" = --update
