#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mutants.sh - is each line of ordering, locks and counting needed by a test? Edits the library one line at a
# time, by the list test/source/mutants, and runs the tests that the list names for it: one of them must fail.
#
#   sh scripts/mutants.sh             all edits, about half an hour
#   sh scripts/mutants.sh NAME...     those named
#
# An edit in the list is: "mutant NAME", "file FILE", "from LINE" (it stands once in the file, without what is
# in front of it), "to LINE", then "kill PROGRAM [ARGUMENTS]" for each test that can tell, in that order; or
# "survives REASON", which says why nothing can tell: then all of its tests must pass. The work is done in a copy of the
# source, build-mutants, for MPICH. Ends with "N passed, N failed, N skipped": a survivor without a reason has
# failed, and so has an edit whose line is gone.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"
for argument; do
    case $argument in -*) unknown_option "$argument" ;; esac
done
list=$top_srcdir/test/source/mutants
work=$top_srcdir/build-mutants

# The tracked files as they are now, where they differ from the copy.
copy_source() {
    mkdir -p "$work/source" || exit 1
    git -C "$top_srcdir" ls-files | while read -r file; do
        cmp -s "$top_srcdir/$file" "$work/source/$file" && continue
        mkdir -p "$work/source/$(dirname "$file")" && cp -p "$top_srcdir/$file" "$work/source/$file" || exit 1
    done
}

install_missing
copy_source
cd "$work/source" || exit 1
test -f configure || step "$work/autogen.log" ./autogen.sh || exit 1
mkdir -p build && cd build || exit 1
test -f config.status || step "$work/configure.log" ../configure --disable-werror MPICC=mpicc.mpich CFLAGS='-g -O1' || exit 1

# replace FILE FROM TO: the one line that ends with FROM (behind blanks) becomes TO; fails if there is not just one.
replace() {
    from=$2 to=$3 awk '
        { text = $0; sub(/^[ \t]+/, "", text) }
        text == ENVIRON["from"] { n++; print ENVIRON["to"]; next }
        { print }
        END { exit n != 1 }' "$1" >"$work/changed"
}

passed=0
failed=0
good() {
    passed=$((passed + 1))
    echo "ok - $1"
}
bad() {
    failed=$((failed + 1))
    echo "not ok - $1: $2"
}

# The edit in $name, $file, $from, $to, with the tests in the file "tests" and $reason.
try_mutant() {
    if ! replace "../$file" "$from" "$to"; then
        bad "$name" "$file has not just one line '$from'"
        return
    fi
    cp -p "../$file" "$work/original"
    cp "$work/changed" "../$file"
    killer=
    while read -r program arguments; do
        if ! make -j "$jobs" "$program" >"$work/make.log" 2>&1; then
            killer="no build of $program"
            break
        fi
        # shellcheck disable=SC2086 # arguments are words
        if ! timeout -k 5 120 "./$program" $arguments >"$work/test.log" 2>&1 </dev/null; then
            killer=$program
            break
        fi
    done <"$work/tests"
    # A later time than that of the edit, so that it is built again.
    cp "$work/original" "../$file"
    touch "../$file"
    case $killer,$reason in
    'no build'*) bad "$name" "$killer; see $work/make.log" ;;
    ,) bad "$name" "survived $(tr '\n' ';' <"$work/tests")" ;;
    ,*) good "$name survives: $reason" ;;
    *,) good "$name: $killer" ;;
    *) bad "$name" "$killer fails, but the list has it as one that survives: $reason" ;;
    esac
}

only=" $* "
name=
run_last() {
    test -n "$name" || return 0
    case $only in "  " | *" $name "*) try_mutant ;; esac
}
while IFS= read -r line; do
    word=${line%% *}
    rest=${line#* }
    case $word in
    mutant)
        run_last
        name=$rest file='' from='' to='' reason=''
        : >"$work/tests"
        ;;
    file) file=$rest ;;
    from) from=$rest ;;
    to) to=$rest ;;
    kill) echo "$rest" >>"$work/tests" ;;
    survives) reason=$rest ;;
    '' | '#'*) ;;
    *) die "$list: '$line' cannot be read" ;;
    esac
done <"$list"
run_last
echo "$passed passed, $failed failed, 0 skipped"
test "$failed" = 0
