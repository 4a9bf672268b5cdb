#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# html.sh - make one site of README, the documents in doc and the manual pages, by Sphinx with MyST and mandoc.
#
#   sh scripts/html.sh BUILD-DIRECTORY [SITE]    the manual pages are those of a build directory
#
# The site is SITE/index.html, without SITE in BUILD-DIRECTORY/html. What Sphinx warns of, a link that leads nowhere for
# instance, is an error. "make html" in a build directory runs this. On Debian it needs the packages python3-sphinx,
# python3-myst-parser and mandoc.

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/options.sh"
answer_first "$@"
case ${1-} in -*) unknown_option "$1" ;; esac

die() {
    echo "html.sh: $*" >&2
    exit 1
}

test -n "${1-}" || die "which build directory? (--help says more)"
build=$(cd "$1" && pwd) || exit 1
site=${2:-$build/html}
for tool in sphinx-build mandoc; do
    command -v $tool >/dev/null || die "there is no $tool; on Debian it is in python3-sphinx with python3-myst-parser, or mandoc"
done
pages=$(cd "$build" && ls man/*.[137] 2>/dev/null) || die "there are no manual pages in $build/man: make them first"

# Sphinx wants all in one tree: the documents as they are, README as its front, the manual pages beside them.
tree=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-html.XXXXXX") || exit 1
trap 'rm -rf "$tree"' EXIT
trap 'exit 143' INT TERM HUP
rmdir "$site" 2>/dev/null
test ! -e "$site" || test -f "$site/objects.inv" || die "$site is there and no site of Sphinx"
rm -rf "$site"
mkdir -p "$site" "$tree/man" "$tree/examples" "$tree/trace" || exit 1
cp "$top_srcdir/scripts/site/conf.py" "$top_srcdir/scripts/site/site.css" "$tree" &&
    (cd "$top_srcdir" && cp -r doc NEWS LICENSE CITATION.cff "$tree") || exit 1
chmod -R u+w "$tree"
for file in CONTRIBUTING.md SECURITY.md examples/README.md trace/README.md; do
    cp "$top_srcdir/$file" "$tree/$file" || exit 1
done
find "$tree/doc" -name '*.md' -exec sed -i 's|](\(\(\.\./\)*\)README\.md|](\1index.md|g' {} +
for page in $pages; do
    name=${page##*/}
    {
        printf '# %s(%s)\n\n```{raw} html\n' "${name%.*}" "${name##*.}"
        mandoc -T html -O fragment "$build/$page" || exit 1
        printf '```\n'
    } >"$tree/man/$name.md" || die "mandoc could not read $page"
done

# contents CAPTION NAMES...: a part of the site's contents.
contents() {
    printf '\n```{toctree}\n:hidden:\n:caption: %s\n\n' "$1"
    shift
    printf '%s\n' "$@"
    printf '```\n'
}
{
    cat "$top_srcdir/README.md"
    contents "For users" doc/user-guide doc/profilers doc/statistics doc/errors doc/shared-windows doc/weak-unlock doc/card-accumulates doc/choices \
        doc/examples examples/README doc/notified doc/tuning doc/tuning-parameters doc/traces doc/performance doc/papers doc/abi SECURITY
    # shellcheck disable=SC2046 # names without blanks
    contents "Manual pages" $(printf '%s\n' $pages)
    contents "For maintainers" doc/design doc/protocol doc/memory-ordering doc/network doc/scaling doc/decisions \
        doc/testing doc/conformance trace/README CONTRIBUTING
    # shellcheck disable=SC2046
} >"$tree/index.md"

MPIRMA_VERSION=$(sed -n 's/^AC_INIT(\[libmpi-rma\],\[\(.*\)\])$/\1/p' "$top_srcdir/configure.ac") \
    sphinx-build -q -W --keep-going -b html -d "$site/.doctrees" "$tree" "$site" || die "Sphinx had something to say"
rm -rf "$site/.doctrees" "$site/.buildinfo"
echo "$site/index.html"
