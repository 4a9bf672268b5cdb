#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# html.sh - make one site of the documents in doc, README and the manual pages, by Sphinx with MyST, the theme Furo, and mandoc.
#
#   sh scripts/html.sh BUILD-DIRECTORY [SITE]    the manual pages are those of a build directory
#
# The site is SITE/index.html, without SITE in BUILD-DIRECTORY/html. What Sphinx warns of, a link that leads nowhere for
# instance, is an error. "make html" in a build directory runs this. Sphinx and its parts are those of
# scripts/site/requirements.txt, which pip fetches once into BUILD-DIRECTORY/site-tools; where it cannot, the exit code is 77. The first
# page is scripts/site/index.md, with the sections of README that it asks for; what README says of installation is a page of its own.

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
lacks() { # what
    echo "html.sh: $*" >&2
    exit 77
}
command -v mandoc >/dev/null || lacks "there is no mandoc"
pages=$(cd "$build" && ls man/*.[137] 2>/dev/null) || die "there are no manual pages in $build/man: make them first"

# Only a whole set of tools has the list that it was made of.
tools=$build/site-tools
if ! cmp -s "$top_srcdir/scripts/site/requirements.txt" "$tools/requirements.txt"; then
    rm -rf "$tools"
    { python3 -m venv "$tools" && "$tools/bin/pip" -q --disable-pip-version-check install -r "$top_srcdir/scripts/site/requirements.txt"; } \
        >"$build/site-tools.log" 2>&1 || lacks "Sphinx and Furo can't be fetched: $(tail -n 1 "$build/site-tools.log")"
    cp "$top_srcdir/scripts/site/requirements.txt" "$tools/requirements.txt" || exit 1
fi

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
find "$tree/doc" -name '*.md' -exec sed -i 's|](\(\(\.\./\)*\)README\.md|](\1install.md|g' {} +

# What mandoc makes of a page, with its sections as headings of Sphinx, which go into the page's contents.
manual() { # page of the build directory
    mandoc -T html -O fragment "$build/$1" | awk '
        function html(on) { if (on != inside) print on ? "```{raw} html" : "```\n"; inside = on }
        /^<table class="(head|foot)">/ { skip = 1 }
        /^<\/table>/ && skip { skip = 0; next }
        skip || /^<\/?section/ { next }
        /^<h[12] class="S[hs]"/ {
            level = substr($0, 3, 1)
            while (!/<\/h[12]>/ && (getline more) > 0) $0 = $0 " " more
            gsub(/ +/, " ")
            gsub(/<[^>]*>/, "")
            html(0)
            print (level == 1 ? "## " : "### ") toupper(substr($0, 1, 1)) (level == 1 ? tolower(substr($0, 2)) : substr($0, 2)) "\n"
            next
        }
        { html(1); print }
        END { html(0) }'
}
for page in $pages; do
    name=${page##*/}
    {
        printf '# %s(%s)\n\n' "${name%.*}" "${name##*.}"
        manual "$page"
    } >"$tree/man/$name.md" || die "mandoc could not read $page"
    test "$(wc -l <"$tree/man/$name.md")" -gt 10 || die "mandoc could not read $page"
done

# section NAME: a section of README, without its heading.
section() {
    awk -v name="## $1" '/^## / { inside = $0 == name; found += inside; next } inside; END { exit !found }' "$top_srcdir/README.md" ||
        die "README has no section $1"
}
# contents CAPTION NAMES...: a part of the site's contents.
contents() {
    printf '\n```{toctree}\n:hidden:\n:caption: %s\n\n' "$1"
    shift
    printf '%s\n' "$@"
    printf '```\n'
}
{
    while IFS= read -r line; do
        case $line in
        '@README '*@) line=${line#@README } && section "${line%@}" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$top_srcdir/scripts/site/index.md"
    use="install doc/install doc/user-guide doc/debugging doc/errors doc/statistics doc/traces doc/tuning doc/profilers doc/examples examples/README"
    reference="doc/performance doc/papers doc/conformance doc/abi doc/choices doc/notified doc/shared-windows doc/weak-unlock doc/card-accumulates"
    reference="$reference doc/tuning-parameters SECURITY"
    development="doc/design doc/protocol doc/memory-ordering doc/network doc/scaling doc/decisions doc/testing trace/README CONTRIBUTING"
    # A document that has no place yet is for users.
    for file in "$tree"/doc/*.md; do
        page=doc/$(basename "$file" .md)
        case " $use $reference $development " in *" $page "*) ;; *) reference="$reference $page" ;; esac
    done
    # shellcheck disable=SC2086 # lists of words
    contents "Use" $use
    # shellcheck disable=SC2086
    contents "Reference" $reference
    # shellcheck disable=SC2046 # names without blanks
    contents "Manual pages" $(printf '%s\n' $pages)
    # shellcheck disable=SC2086
    contents "Development" $development
} >"$tree/index.md" || exit 1
# README from its installation on, without its list of documents, which the navigation is.
awk '/^## / { on = on || $0 == "## Install"; left_out = $0 == "## Documentation" }
    $0 == "## Install" { print "# Install"; next }
    on && !left_out' "$top_srcdir/README.md" >"$tree/install.md" || exit 1

MPIRMA_VERSION=$(sed -n 's/^AC_INIT(\[libmpi-rma\],\[\(.*\)\])$/\1/p' "$top_srcdir/configure.ac") \
    "$tools/bin/sphinx-build" -q -W --keep-going -b html -d "$site/.doctrees" "$tree" "$site" || die "Sphinx had something to say"
rm -rf "$site/.doctrees" "$site/.buildinfo"
echo "$site/index.html"
