#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-format.sh - the form of the C sources: .clang-format, and the sizes that
# nothing may outgrow. Reports in TAP; an offence is named by file and line.

top=${abs_top_srcdir:?run by make check}
. "$top/test/run/tap.sh"
# The release whose form it is: others break some lines elsewhere.
release=14

sources() {
    find "$top/src" "$top/include" "$top/bench" "$top/tools" "$top/trace" "$top/examples" "$top/test" -path '*/include/abi' -prune -o -name '*.[ch]' -print
}

formatter=
for name in clang-format-$release clang-format; do
    if "$name" --version 2>/dev/null | grep -q "version $release\."; then
        formatter=$name
        break
    fi
done
if test -n "$formatter"; then
    point "the form is that of .clang-format" \
        "$(sources | xargs "$formatter" --dry-run 2>&1 | grep 'warning:')"
else
    n=$((n + 1))
    echo "ok $n - the form is that of .clang-format # SKIP no clang-format $release"
fi

point "no line is over 100 columns" \
    "$(sources | xargs awk 'length > 100 { print FILENAME ":" FNR ": " length " columns" }')"

# A function begins with a brace in the first column, behind its head, and ends likewise.
functions() { # awk statements for each: FILENAME, its head, at (line of its brace), lines; what to leave out
    find "$top/src" -name '*.c' | grep -v "${2:-^$}" | xargs awk '
        FNR == 1 { head = ""; at = 0 }
        /^[a-zA-Z]/ && /\(/ { head = $0 }
        /^[ \t]/ && !at { head = head $0 }
        /^\{/ { at = FNR }
        /^}/ && at { lines = FNR - at + 1; '"$1"'; at = 0; head = "" }'
}

point "no function of src is over 60 lines" \
    "$(functions 'if (lines > 60) print FILENAME ":" at ": " lines " lines"')"
# Where one statement has more of them than there are buffers, it says the last one twice.
point "no function of a product returns a text in a buffer of its own" \
    "$(sources | grep -v "^$top/test/\|^$top/trace/test/" | xargs awk '
        FNR == 1 || /^}/ { head = "" }
        /^[a-z].*char \*[a-z_0-9]+\(/ { head = $0 }
        head && /^[ \t]+static (_Thread_local )?(unsigned )?char [a-z_0-9]+\[/ { print FILENAME ":" FNR ": " head }')"
# The entry points have as many as MPI gives them.
point "no function of src has more than 7 parameters, but for src/mpi" \
    "$(functions 'sub(/^[^(]*\(/, "", head); if (gsub(/,/, ",", head) > 6) print FILENAME ":" at ": " head' \
        '/src/mpi/')"

echo "1..$n"
test "$failed" = 0
