# SPDX-License-Identifier: BSD-3-Clause
# options.sh - what the scripts here and in bench share in reading their options; sourced by them. A script that is not
# in this directory has set top_srcdir, the root of the source tree.

# The text of --help: what the script's function usage prints, if it has one, else its first comment.
print_help() {
    if command -v usage >/dev/null 2>&1; then usage; else sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; fi
}

# answer_first "$@": -h, --help and --version before all else; both end the script.
answer_first() {
    for argument; do
        case $argument in
        -h | --help)
            print_help
            exit 0
            ;;
        --version)
            echo "${0##*/}, libmpi-rma $(sed -n 's/^AC_INIT(\[libmpi-rma\],\[\(.*\)\])$/\1/p' \
                "${top_srcdir:-$(dirname "$0")/..}/configure.ac")"
            exit 0
            ;;
        --) break ;;
        esac
    done
}

# unknown_option OPTION KNOWN...: say which of those that there are is the nearest, and a line of usage; ends the
# script with 2.
unknown_option() {
    option=$1
    shift
    nearest=$(printf '%s\n' "$@" --help | awk -v word="${option%%=*}" '
        function least(a, b) { return a < b ? a : b }
        # Letters to be changed, added or left out.
        function distance(a, b,    i, j, row, diagonal, change) {
            for (j = 0; j <= length(b); j++) row[j] = j
            for (i = 1; i <= length(a); i++) {
                diagonal = row[0]
                row[0] = i
                for (j = 1; j <= length(b); j++) {
                    change = diagonal + (substr(a, i, 1) != substr(b, j, 1))
                    diagonal = row[j]
                    row[j] = least(change, 1 + least(row[j], row[j - 1]))
                }
            }
            return row[length(b)]
        }
        { d = distance(word, $0); if (NR == 1 || d < best) { best = d; name = $0 } }
        # More than half of the letters changed is not near.
        END { if (2 * best <= length(word) - 2) print "; the nearest is " name }')
    echo "${0##*/}: unknown option $option$nearest" >&2
    echo "usage: ${0##*/} $(printf '[%s] ' "$@" --help)" >&2
    exit 2
}
