# SPDX-License-Identifier: BSD-3-Clause
# tap.sh - what the checks of the source tree report with; sourced by them.

n=0
failed=0

point() { # description, offences (empty: passed)
    n=$((n + 1))
    if test -z "$2"; then
        echo "ok $n - $1"
    else
        failed=$((failed + 1))
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed "s|^$abs_top_srcdir/||; s|^|#   |"
    fi
}
