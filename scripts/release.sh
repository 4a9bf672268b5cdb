#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# release.sh - make a release: set the version and its date, make the archive, which has configure in it, the Debian packages, the
# wheel and the recipes, and write the checksums of all.
#
#   sh scripts/release.sh --address=URL --maintainer=NAME VERSION
#   sh scripts/release.sh --dry-run VERSION
#
# URL is where the files are to lie, NAME the account that answers for the recipes (recipes.sh). All is done in a clone of what is
# committed, build-release/source, and what is to be published is left in build-release/VERSION. If everything has passed, the
# commit with the version and the tag vVERSION come from there into this repository, but for a dry run. What the version brings stands in NEWS
# before, under a heading "VERSION (not released yet)". The last line is "N passed, N failed, N skipped".

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

dry=
address=
maintainer=
while test $# -gt 0; do
    case $1 in
    --dry-run) dry=yes ;;
    --address=*) address=${1#*=} ;;
    --maintainer=*) maintainer=${1#*=} ;;
    -*) unknown_option "$1" --dry-run --address= --maintainer= ;;
    *) break ;;
    esac
    shift
done
version=$1
expr "$version" : '[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$' >/dev/null || die "which version? expected three numbers, as in 0.1.0"
if test -z "$dry"; then
    test -n "$address" && test -n "$maintainer" || die "the recipes need --address= and --maintainer=, or see --dry-run"
    test -z "$(git -C "$top_srcdir" status --porcelain)" || die "there are changes that are not committed"
fi
today=$(date -u +%Y-%m-%d)
work=$top_srcdir/build-release
source=$work/source
out=$work/$version
passed=0
skipped=0

stop() {
    echo "FAIL: $*"
    echo "$passed passed, 1 failed, $skipped skipped"
    exit 1
}

# part WHAT COMMAND: one part of the release. Without it there is none.
part() {
    what=$1
    shift
    say "$what"
    (cd "$source" && step "$work/part.log" "$@") || stop "$what"
    case "$*" in "sh scripts/"*) ;; *) : >"$work/part.log" ;; esac
    if grep '^SKIP' "$work/part.log"; then
        test -n "$dry" || stop "$what: a part was skipped"
        skipped=$((skipped + 1))
        return
    fi
    passed=$((passed + 1))
}

clone() {
    rm -rf "$work" && mkdir -p "$out" || exit 1
    git clone -q "$top_srcdir" "$source" || die "can't clone $top_srcdir; a release is made from a repository"
    for variable in user.name user.email; do
        value=$(git -C "$top_srcdir" config "$variable") || die "git config $variable is not set"
        git -C "$source" config "$variable" "$value"
    done
}

# change FILE SED-SCRIPT: a file that names the version, which must be found there.
change() {
    sed -i "$2" "$source/$1" && grep -qF "$version" "$source/$1" || stop "$1 does not name the version"
}

set_version() {
    test "$(grep -m 1 '^[0-9]' "$source/NEWS")" = "$version (not released yet)" ||
        stop "the first heading of NEWS is not '$version (not released yet)'"
    change NEWS "s/^$version (not released yet)\$/$version ($today)/"
    change configure.ac "s/^AC_INIT(\[libmpi-rma\],\[[^]]*\])/AC_INIT([libmpi-rma],[$version])/"
    change CITATION.cff "/^date-released:/d; s/^version: .*/version: $version\ndate-released: $today/"
    change README.md "s/^Version [0-9.]*, [^.]*\. /Version $version, $today. /"
    patch=${version##*.}
    minor=${version#*.}
    change include/mpi-rma.h "s/^\(#define MPIRMA_VERSION_MAJOR\) .*/\1 ${version%%.*}/; s/^\(#define MPIRMA_VERSION_MINOR\) .*/\1 ${minor%%.*}/
        s/^\(#define MPIRMA_VERSION_PATCH\) .*/\1 $patch/; s/^\(#define MPIRMA_VERSION\) .*/\1 \"$version\"/"
    changelog=$source/debian/changelog
    {
        printf 'libmpi-rma (%s) unstable; urgency=medium\n\n  * Version %s; NEWS says what it brings.\n\n' "$version" "$version"
        printf '%s  %s\n' "$(grep -m 1 '^ -- ' "$changelog" | sed 's/>.*/>/')" "$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S +0000')"
        # The others, and none of the same version that was to come.
        awk -v version="($version)" '/^libmpi-rma / { other = $2 != version; if (other) print "" } other' "$changelog"
    } >"$changelog.new" && mv "$changelog.new" "$changelog" || stop "debian/changelog can't be written"
    git -C "$source" commit -qam "Version $version" && git -C "$source" tag "v$version" || stop "the version can't be committed"
}

# The archive, and from it a build that finds no autotools.
make_archive() {
    part "autogen.sh" ./autogen.sh
    part "configure" sh -c 'mkdir build && cd build && ../configure MPICC=mpicc.mpich'
    part "the archive" make -C build dist
    archive=$out/libmpi-rma-$version.tar.xz
    mv "$source/build/libmpi-rma-$version.tar.xz" "$archive" || stop "make dist has left no archive"
    part "a build from the archive, without autotools" sh -c "mkdir ../unpacked && cd ../unpacked && tar -xf '$archive' --strip-components=1 &&
        mkdir build && cd build && ../configure MPICC=mpicc.mpich AUTOCONF=false AUTOMAKE=false ACLOCAL=false AUTOHEADER=false && make -j '$jobs' && make tools/doc-tables"
    part "its documents are in order, and name one version" sh -c 'cd ../unpacked/build && make check-TESTS TESTS=test/source/check-docs.sh check_PROGRAMS= check_DATA='
}

packages="$packages xz-utils"
install_missing
clone
set_version
make_archive
part "the Debian packages" sh scripts/debian-package.sh
part "the wheel" sh scripts/wheel.sh --check
part "the recipes" sh scripts/recipes.sh ${address:+"--address=$address"} ${maintainer:+"--maintainer=$maintainer"} "$archive"
cp "$source"/build-debian/*.deb "$out" && cp "$source"/build-recipes/*.eb "$source"/build-recipes/recipe.yaml "$source"/build-recipes/spack/package.py "$out" ||
    stop "packages and recipes are not all there"
cp "$source"/build-wheel/*.whl "$out" || test "$skipped" != 0 || stop "there is no wheel"
(cd "$out" && rm -f ./*-dbgsym_*.deb && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && sha256sum -c --quiet SHA256SUMS) || stop "checksums"
say "in $out:"
ls "$out"
if test -z "$dry"; then
    git -C "$top_srcdir" pull -q --ff-only --tags "$source" HEAD || stop "the commit and the tag can't be taken from $source"
fi
echo "$passed passed, 0 failed, $skipped skipped"
