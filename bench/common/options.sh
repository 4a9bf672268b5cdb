# SPDX-License-Identifier: BSD-3-Clause
# options.sh - what the benches' scripts share in reading their options; sourced by them, with
# the root of the source tree in top_srcdir. A script defines usage. -h, --help and --version are answered at once.

. "$top_srcdir/scripts/options.sh"
answer_first "$@"

# has_value "$@": of the options left the first needs the second
has_value() {
    test $# -ge 2 || {
        echo "${0##*/}: $1 needs a value, see --help" >&2
        exit 2
    }
}

# result_directory: $out, or a new one that is removed at the end
result_directory() {
    if test -n "$out"; then
        mkdir -p "$out" || exit 2
        return
    fi
    out=$(mktemp -d) || exit 2
    trap 'rm -rf "$out"' EXIT
    trap 'exit 130' INT TERM
}
