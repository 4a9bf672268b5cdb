#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-docs.sh - what the documentation must keep up with in the source: every
# setting and info key is in the documents and in libmpi-rma(7), every option of a
# tool in its page, the state tables are those of the code, the table of tests is made
# of the tests, the files it names exist; that every function of a header has a comment
# of its own; and that every source opens with what it is. Reports in TAP; a difference
# is named.
#
# Both sides are reduced to lines of words and compared as sets. The tables of the
# code are read as text: the columns of epoch.c's are the enumerators of epoch.h
# in order, those of vc.c's name themselves.

top=${abs_top_srcdir:?run by make check}
guide=$top/doc/user-guide.md
states=$top/doc/protocol.md
tmp=$(mktemp -d "${TMPDIR:-/tmp}/check-docs.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
. "$abs_top_srcdir/test/run/tap.sh"

# same DESCRIPTION LEAST: the lines of $tmp/code and $tmp/doc agree and there are at
# least so many (a pattern that finds nothing must not pass).
same() {
    sort -u "$tmp/code" >"$tmp/code.s"
    sort -u "$tmp/doc" >"$tmp/doc.s"
    offences=$(comm -23 "$tmp/code.s" "$tmp/doc.s" | sed 's/^/only in the code: /'
        comm -13 "$tmp/code.s" "$tmp/doc.s" | sed 's/^/only in the documentation: /')
    test "$(wc -l <"$tmp/code.s")" -ge "$2" ||
        offences="$offences
found only $(wc -l <"$tmp/code.s") entries in the code, expected $2 or more"
    point "$1" "$offences"
}

# The tables whose rows are the library's own.
point "the tables of variables, tuning parameters and counters are those of the library" \
    "$(sh "$top/scripts/tables.sh" "$abs_top_builddir" 2>&1 || :)"
"$abs_top_builddir/tools/doc-tables" variables | sed 's/^| `\([A-Z_]*\)`.*/\1/' >"$tmp/variables"
"$abs_top_builddir/tools/doc-tables" tuning | sed 's/^| `\([a-z_]*\)`.*/\1/' >"$tmp/tuning"
printf '%s\n' variables tuning counters >"$tmp/code"
sed -n 's/^<!-- rows of \([a-z]*\) -->$/\1/p' "$top"/doc/*.md >"$tmp/doc"
same "each of them stands in a document" 3

{
    sed -n '/^static const struct hint/,/^};/s/^ *{ *"\([a-z_]*\)",.*/\1/p' "$top/src/rma/win/hints.c"
    sed -n 's/^#define [A-Z]*_KEY "\([a-z_]*\)"$/\1/p' "$top/src/mpi/calls/win_info.c"
    sed -n 's/.*PMPI_Info_set(info, "\([a-z_]*\)".*/\1/p' "$top/src/mpi/calls/win_info.c"
} >"$tmp/keys"
cp "$tmp/keys" "$tmp/code"
sed -n 's/^| `\([a-z_]*\)` |[^|]*|[^|]*|[^|]*|$/\1/p' "$guide" >"$tmp/doc"
same "the user guide has a row for every info key of hints.c and win_info.c, and no other" 12

# The manual pages, as they were made in the build directory.
grep_page() { # page, pattern
    sed 's/\\-/-/g; s/\\f[BIPR]//g' "$abs_top_builddir/man/$1" | sed -n "s/$2/\1/p"
}

cat "$tmp/variables" "$tmp/tuning" "$tmp/keys" >"$tmp/code"
grep_page libmpi-rma.7 '^\.B \([A-Za-z_]*\)$' | grep -vx 'MPI_.*\|mpicc' >"$tmp/doc"
same "libmpi-rma(7) has every variable, tuning parameter and info key, and no other" 40

# A link of the guide is words of its sentence in the page; only what stands by itself between parentheses names a part of the guide.
point "libmpi-rma(7) has sentences where the guide has links" "$(tr '\n' ' ' <"$abs_top_builddir/man/libmpi-rma.7" |
    grep -oE '.{30}(\]\(|[^"] in the user guide).{20}' || :)"

# Options in the table or the text of a tool, and those of its page. All tools but the script share some.
for tool in run:tools/mpi-rma-run.in info:tools/mpi-rma-info.c trace:trace/mpi-rma-trace.c halo:bench/halo/halo.c; do
    page=mpi-rma-${tool%%:*}.1
    case $tool in
    *.c) sed -n '/ options\[\] = {/,/};/p;/define OPTIONS_COMMON/,/}$/p' "$top/${tool#*:}" "$top/tools/options.h" |
        sed -n 's/^ *{"\([a-z-]*\)", .*/--\1/p' ;;
    *) sed -n 's/^  \(-[a-z], \)*\(--[a-z-]*\)[ =].*/\2/p' "$top/${tool#*:}" ;;
    esac >"$tmp/code"
    sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$top/man/$page.in" | sed 's/\\-/-/g' |
        sed -n '/^\.TP/{n;s/^\.B[IR]* *\(-[a-zA-Z] ", " \)*\(--[a-z-]*\).*/\2/p;}' >"$tmp/doc"
    same "the page $page has every option of its tool, and no other" 5
done

if command -v mandoc >/dev/null; then
    point "mandoc finds nothing in the pages" "$(mandoc -Tlint "$abs_top_builddir"/man/*.[17] 2>&1)"
else
    n=$((n + 1))
    echo "ok $n - mandoc finds nothing in the pages # SKIP no mandoc"
fi

sed -n 's/^AC_INIT(\[libmpi-rma\],\[\(.*\)\])/\1/p' "$top/configure.ac" >"$tmp/code"
{
    sed -n '/^[0-9]/{s/[ (].*//p;q;}' "$top/NEWS"
    sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog"
    sed -n 's/^#define MPIRMA_VERSION "\(.*\)"/\1/p' "$top/include/mpi-rma.h"
    sed -n 's/^version: //p' "$top/CITATION.cff"
} >"$tmp/doc"
same "configure.ac, NEWS, the Debian package, mpi-rma.h and CITATION.cff name one version" 1
grep -qF "now $(sed -n 's/.*-version-info \([0-9:]*\)$/\1/p' "$top/Makefile.am")," "$top/doc/abi.md" && offences= ||
    offences="doc/abi.md does not name the -version-info of Makefile.am"
point "doc/abi.md names the number that libtool is given" "$offences"

# doc_table NAME: of the table whose header begins with "| NAME |", a line "STATE EVENT
# NEXT" for every cell.
doc_table() {
    awk -F'|' -v name="$1" '
        function word(s) { gsub(/[ `]/, "", s); return s }
        !on && word($2) == name { on = 1; for (i = 3; i < NF; i++) head[i] = word($i); next }
        on && !/^\|/ { on = 0 }
        on && $2 !~ /^ *:?-+:? *$/ { for (i = 3; i < NF; i++) print word($2), head[i], word($i) }
    ' "$states"
}

# The block of a table in the source without comments, one line a state.
code_block() { # file, first line's pattern
    sed -n "/$2/,/^};/p" "$1" | sed 's|/\*[^*]*\*/||g' | tr -d '\n' | sed 's/\[[A-Z0-9_]*\] *= *{/\
&/g'
}

events=$(sed -n '/^enum epoch_event {/,/^};/s/^ *EPOCH_EV_\([A-Z_]*\).*/\1/p' "$top/src/rma/win/epoch.h" |
    tr '\n' ' ')
code_block "$top/src/rma/win/epoch.c" '^static const unsigned char table' | awk -v events="$events" '
    BEGIN { split(events, event, " ") }
    match($0, /^\[EPOCH_[A-Z_]*\]/) {
        state = substr($0, 8, RLENGTH - 8)
        row = substr($0, index($0, "{") + 1)
        sub(/}.*/, "", row)
        cells = split(row, cell, ",")
        for (i = 1; i <= cells; i++) {
            gsub(/ /, "", cell[i])
            if (cell[i] == "") continue
            sub(/^EPOCH_/, "", cell[i])
            print state, event[i], cell[i] == "NO" ? "-" : cell[i]
        }
    }' >"$tmp/code"
doc_table epoch >"$tmp/doc"
same "the epoch table of doc/protocol.md is that of epoch.c" 60

code_block "$top/src/ch3/vc.c" '^static const uint8_t transition' | awk '
    match($0, /^\[CH3_VC_[A-Z]*\] *= *{/) {
        state = $0
        sub(/^\[CH3_VC_/, "", state); sub(/\].*/, "", state)
        row = substr($0, index($0, "{") + 1)
        held = row
    }
    match($0, /^\[CH3_VC_[A-Z]*\] *= *CH3|^\[CH3_VC_[A-Z]*\] *= *REF/) { row = held $0 }
    state != "" {
        while (match(row, /\[CH3_VC_[A-Z]*\] *= *[A-Z0-9_]*/)) {
            pair = substr(row, RSTART, RLENGTH)
            row = substr(row, RSTART + RLENGTH)
            event = pair; sub(/^\[CH3_VC_/, "", event); sub(/\].*/, "", event)
            to = pair; sub(/.*= */, "", to); sub(/^CH3_VC_/, "", to)
            print state, event, to == "REFUSED" ? "-" : to
        }
    }' >"$tmp/code"
doc_table connection >"$tmp/doc"
same "the virtual connection table of doc/protocol.md is that of vc.c" 9

{
    sed -n 's/.*enum { \(ORIGIN_LOCK_[A-Z_, ]*\) } lock;.*/\1/p' "$top/src/rma/origin/origin_impl.h"
    sed -n 's/.*enum { \(LOCKQ_[A-Z_, ]*\) } lock;.*/\1/p' "$top/src/rma/target/target.h"
} | tr -d ' ' | tr ',' '\n' >"$tmp/code"
grep -oE '\b(ORIGIN_LOCK|LOCKQ)_[A-Z]+\b' "$states" >"$tmp/doc"
same "doc/protocol.md has the states of a lock asked for by packets" 7

# Paths in backquotes, programs included (they are named in the makefiles), and the targets of links that lead into the tree.
for file in "$top/README.md" "$top/trace/README.md" "$top"/doc/*.md; do
    grep -oE '`(src|test|doc|bench|examples|scripts|tools|trace|include|\.ci)/[A-Za-z0-9_./-]*`' "$file" | tr -d '`'
    dir=$(dirname "${file#"$top/"}")
    grep -oE '\]\([^)#:]+\)' "$file" | sed 's/^](//; s/)$//' | sed "s|^|$dir/|"
done | sort -u >"$tmp/paths"
missing=$(while read -r path; do
    test -e "$top/$path" || grep -qE "(^| |=)$path( |_SOURCES|\$)" "$top"/*/sources.am "$top"/*/*/sources.am "$top/Makefile.am" ||
        echo "$path does not exist"
done <"$tmp/paths")
test "$(wc -l <"$tmp/paths")" -ge 40 || missing="$missing
only $(wc -l <"$tmp/paths") paths were found"
point "every file that the documentation names exists" "$missing"

if command -v python3 >/dev/null; then
    # A directory, a file and a function that do not exist, and one of each that does.
    mkdir -p "$tmp/tree/src" "$tmp/tree/doc"
    printf '/* see doc/none, none.c and no_name. */\n/* see src/a, a.c and a_name. */\nint a_name;\n' >"$tmp/tree/src/a.c"
    : >"$tmp/foreign"
    test "$(python3 "$top/test/source/names.py" "$tmp/tree" "$tmp/foreign" | wc -l)" -eq 3 && offences= ||
        offences="names.py does not find the three offences of a sample"
    point "every file and function that a comment or a document names exists" \
        "$offences$(python3 "$top/test/source/names.py" "$top" "$top/test/source/names.foreign" 2>&1)"
else
    n=$((n + 1))
    echo "ok $n - every file and function that a comment or a document names exists # SKIP no python3"
fi

if command -v python3 >/dev/null; then
    # One that is in order, one without a comment, one whose comment is about something else, one of MPI.
    printf '/* a is. */\nint a(void);\n\nint b(void);\n/* Does. */\nint c(void);\n\nint PMPI_D(void);\n' >"$tmp/sample.h"
    test "$(python3 "$top/test/source/comments.py" "$tmp/sample.h" | wc -l)" -eq 2 && offences= ||
        offences="comments.py does not find the two offences of a sample"
    point "every function of a header has a comment of its own, which names it" \
        "$offences$(find "$top/src" "$top/include" "$top/tools" "$top/test/sim" -name '*.h' |
            xargs python3 "$top/test/source/comments.py" 2>&1)"
else
    n=$((n + 1))
    echo "ok $n - every function of a header has a comment of its own, which names it # SKIP no python3"
fi

if sh "$top/scripts/conformance.sh" >"$tmp/conformance.md" 2>"$tmp/complaints"; then
    diff "$top/doc/conformance.md" "$tmp/conformance.md" >"$tmp/complaints" && offences= ||
        offences="scripts/conformance.sh --update writes it anew; the first differences:
$(grep '^[<>]' "$tmp/complaints" | head -n 10)"
else
    offences=$(cat "$tmp/complaints")
fi
point "doc/conformance.md is what scripts/conformance.sh makes of the rules and the tests" "$offences"

# Every file opens with its name and what it is.
find "$top/src" -name '*.[ch]' >"$tmp/sources"
offences=$(xargs awk 'FNR == 3 {
        name = FILENAME
        sub(/.*\//, "", name)
        if (index($0, " * " name " - ") != 1) print FILENAME ": does not open with what it is"
    }' <"$tmp/sources")
test "$(wc -l <"$tmp/sources")" -ge 200 || offences="$offences
only $(wc -l <"$tmp/sources") files were found"
point "every file of src says what it is" "$offences"

# What an archive lacks shows only when somebody builds from it.
if test -e "$top/.git" && git -C "$top" ls-files >"$tmp/tracked" 2>/dev/null; then
    make -s -C "$abs_top_builddir" distdir distdir="$tmp/archive" am__remove_distdir=: >"$tmp/complaints" 2>&1 ||
        cat "$tmp/complaints"
    point "make dist takes every file of the repository" "$(grep -vx '\.git.*' "$tmp/tracked" | while read -r file; do
        test -f "$tmp/archive/$file" || echo "$file is not in the archive"
    done)"
else
    n=$((n + 1))
    echo "ok $n - make dist takes every file of the repository # SKIP not a checkout"
fi

echo "1..$n"
test "$failed" = 0
