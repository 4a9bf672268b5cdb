#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-licence.sh - every source file names the licence in its first five lines, and LICENSE, debian/copyright,
# README and the manual pages name it too. Reports in TAP.

top=${abs_top_srcdir:?run by make check}
. "$top/test/run/tap.sh"
tag='SPDX-License-Identifier: BSD-3-Clause'

# Everything that a person wrote, without prose, lists, and inputs and results that programs made.
sources() {
    find "$top/src" "$top/include" "$top/bench" "$top/tools" "$top/trace" "$top/examples" "$top/test" "$top/scripts" "$top/man" "$top/m4" "$top/packaging" \
        \( -path '*/corpus*' -o -name '*.inputs' -o -path '*/include/abi' \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.f90' -o -name '*.sh' -o -name '*.tap' -o -name '*.awk' -o -name '*.py' -o -name '*.pml' \
        -o -name '*.am' -o -name '*.gp' -o -name '*.html' -o -name '*.in' \) -print
    ls "$top"/m4/mpi-*.m4 "$top/configure.ac" "$top/Makefile.am" "$top/autogen.sh" "$top/.ci/run" "$top/debian/rules" \
        "$top/libmpi-rma.pc.in"
}

point "the sources are found" "$(test "$(sources | wc -l)" -gt 700 || echo "only $(sources | wc -l) files")"
point "every source names the licence in its first five lines" "$(sources | while read -r file; do
    head -n 5 "$file" | grep -qF "$tag" || echo "$file"
done)"
point "the licence stands in LICENSE and in debian/copyright" "$(
    grep -qF 'Copyright (c) 2026, the libmpi-rma authors' "$top/LICENSE" || echo "LICENSE has no holder"
    grep -qx 'License: BSD-3-clause' "$top/debian/copyright" || echo "debian/copyright"
)"
point "the header of the standard ABI has its own licence beside it, and in debian/copyright" "$(
    grep -q 'MIT License' "$top/include/abi/LICENSE.md" || echo include/abi/LICENSE.md
    grep -qx 'Files: include/abi/\*' "$top/debian/copyright" || echo debian/copyright
)"
point "README and the manual pages name it" "$(
    grep -q 'BSD 3-clause' "$top/README.md" || echo README.md
    for page in "$top"/man/*.in; do grep -q 'BSD 3.*clause' "$page" || echo "$page"; done
)"

echo "1..$n"
test "$failed" = 0
