#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# error_text.sh - what MPI_Error_string says of each mistake that a program makes, compared with error_text.txt.
#
#   error_text.sh            error_text.c
#   error_text.sh fortran    fort_error_text.f90, the same mistakes through the host's Fortran functions
#
# error_text.py does the same through mpi4py. The file has three lines a mistake: its name, what this library says, and what MPICH
# says of the same program without this library. Addresses are "ADDRESS" there, and the numbers that hosts give to locks "N". A host
# with less room for a text cuts it: the program ends such a text with "...". With ERROR_TEXT_WRITE=FILE the script writes the
# file anew, under MPICH, but for the mistakes with "_later" in their name, which are those of path nodes1.

. "$abs_top_srcdir/test/mpi/mtest.sh"

expected=$abs_top_srcdir/test/mpi/error_text.txt
# The request of an operation that is complete when its call returns is recognized in strict mode alone, as are these.
strict="request_free request_cancel strict_conflict strict_twice strict_noprecede strict_no_locks"
program=$bin/error_text
least=all
if test "$1" = fortran; then
    test "$HAVE_FORTRAN" = yes || skip_all "${HAVE_FORTRAN:-no Fortran}"
    strict="strict_conflict strict_noprecede"
    program=$bin/fort_error_text
    least=115 # which has no null address for a result
fi

normal() {
    sed -E -e 's/0x[0-9a-f]{9,}/ADDRESS/g' -e 's/(MPI_LOCK_[A-Z]*) \([0-9]+\)/\1 (N)/g' -e 's/MPI_REAL/MPI_FLOAT/'
}

# What MPICH itself says of a mistake: alone, since it may crash or wait for ever.
of_host() {
    MT_LIMIT=10 MPIRMA_DISABLE=1 mpirun 2 "$bin/error_text" "$1"
    text=$(sed -n "s/^$1	//p" "$tmp/out")
    test -n "$text" || { test "$rc" = 124 && text="(it waits for ever)" || text="(the program crashes)"; }
    # Handles and communicators differ from run to run; the stack of calls begins behind the first sentence.
    printf '%s\n' "$text" | sed -E -e 's/0x[0-9a-f]{4,}/ADDRESS/g' -e 's/, error stack: \|/:/'
}

for name in $strict; do
    MPIRMA_STRICT=1 mpirun 2 "$program" "$name"
    test "$rc" = 0 || bad "${program##*/} $name: exit code $rc"
    grep "^$name	" "$tmp/out"
done >"$tmp/strict"
mpirun 2 "$program"
test "$rc" = 0 || bad "${program##*/}: exit code $rc"
grep -E '^[a-z_]+	' "$tmp/out" | awk -F '\t' 'FNR == NR { of[$1] = $0; next } $1 in of { $0 = of[$1] } { print }' "$tmp/strict" - |
    normal >"$tmp/seen"
# Over the network the target finds that memory is not attached, and a later call of the origin says it.
case $MPI_PATH in nodes*) later=yes ;; *) later=no ;; esac
if test -n "$ERROR_TEXT_WRITE"; then
    while IFS='	' read -r name text; do
        printf '%s\n  libmpi-rma: %s\n  MPICH: %s\n\n' "$name" "$text" "$(of_host "$name" </dev/null)"
    done <"$tmp/seen" >"$ERROR_TEXT_WRITE"
    exit
fi
awk -F '\t' -v later="$later" -v least="$least" '
    FNR == NR { if (/^[a-z]/) name = $0; else if (sub(/^  libmpi-rma: /, "")) { want[name] = $0; n += name !~ /_later$/ } next }
    {
        seen++
        text = $2
        cut = sub(/\.\.\.$/, "", text)
        if (later == "yes" && ($1 "_later") in want) want[$1] = want[$1 "_later"]
        same = cut ? index(want[$1], substr(text, 1, length(text) - 20)) == 1 : text == want[$1]
        if (!same) print $1 ":\n  expected: " want[$1] "\n  seen:     " $2
    }
    END { if (least == "all" ? seen != n || n < 100 : seen < least) print "expected " least " of " n " mistakes, seen " seen + 0 }' "$expected" "$tmp/seen" >"$tmp/differs"
if test -s "$tmp/differs"; then
    mv "$tmp/differs" "$tmp/out"
    bad "texts differ from error_text.txt:"
fi
finish
