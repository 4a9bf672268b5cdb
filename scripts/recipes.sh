#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# recipes.sh - fill in the recipes of packaging/recipes for an archive of a release, and check each: that of EasyBuild by eb
# --check-contrib and its search for what the recipe needs, that of Spack by the style of its packages (ruff) and by check_spack.py, that
# of conda-forge by rattler-build.
#
#   sh scripts/recipes.sh [--address=URL --maintainer=NAME] ARCHIVE
#
# URL is where the archive is to lie, NAME the account that answers for the recipes; without them the recipes are filled in for
# the check alone. They lie in build-recipes, as do the tools, which pip fetches from PyPI into an environment there. The last line is
# "N passed, N failed, N skipped".

top_srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top_srcdir/scripts/common.sh"

address=https://example.org/libmpi-rma
maintainer=somebody
while test $# -gt 0; do
    case $1 in
    --address=*) address=${1#*=} ;;
    --maintainer=*) maintainer=${1#*=} ;;
    -*) unknown_option "$1" --address= --maintainer= ;;
    *) break ;;
    esac
    shift
done
archive=$1
test -f "$archive" || die "which archive? make dist makes one"
case $archive in *libmpi-rma-*.tar.xz) ;; *) die "$archive: expected libmpi-rma-VERSION.tar.xz" ;; esac
version=$(basename "$archive" .tar.xz)
version=${version#libmpi-rma-}
out=$top_srcdir/build-recipes
mkdir -p "$out" || exit 1
recipes=$top_srcdir/packaging/recipes
passed=0
failed=0
skipped=0

check() { # what, command
    what=$1
    shift
    if "$@" >"$out/check.log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        say "$what: as it should be"
    else
        failed=$((failed + 1))
        echo "FAIL: $what"
        tail -n 30 "$out/check.log"
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP: $*"
}

# fill NAME OUTPUT
fill() {
    sed -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$sum|g" -e "s|@ADDRESS@|$address|g" -e "s|@MAINTAINER@|$maintainer|g" \
        "$recipes/$1.in" >"$out/$2" && ! grep '@[A-Z][A-Z0-9]*@' "$out/$2" || die "$2 is not complete"
}

# All at once, so that what is there is complete.
make_tools() {
    test -f "$out/tools/made" && return
    rm -rf "$out/tools"
    python3 -m venv --without-pip "$out/tools" &&
        step "$out/tools.log" python3 -m pip --python "$out/tools/bin/python" install easybuild pycodestyle ruff py-rattler-build &&
        touch "$out/tools/made"
}

# EasyBuild asks for a command that reads module files, and for no more than that it is there.
eb() {
    lmod=/usr/share/lmod/lmod/libexec/lmod
    test -f "$lmod" || lmod=$LMOD_CMD
    (cd "$out" && PATH=$out/tools/bin:$PATH LMOD_CMD=$lmod EASYBUILD_MODULES_TOOL=Lmod EASYBUILD_PREFIX=$out/easybuild \
        EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES=1 "$out/tools/bin/eb" "$@")
}

# All that it needs has a recipe of EasyBuild's own, and its checksum is the archive's.
easybuild_finds() {
    cp "$archive" "$out/source.tar.xz" && mkdir -p "$out/easybuild/sources/l/libmpi-rma" &&
        mv "$out/source.tar.xz" "$out/easybuild/sources/l/libmpi-rma/libmpi-rma-$version.tar.xz" &&
        eb --dry-run --robot "$1" && eb --fetch "$1"
}

easybuild() {
    config=libmpi-rma-$version-gompi-2025b.eb
    fill libmpi-rma.eb "$config"
    if test ! -f /usr/share/lmod/lmod/libexec/lmod && test -z "$LMOD_CMD"; then
        skip "the recipe of EasyBuild: no Lmod"
        return
    fi
    check "eb --check-contrib" eb --check-contrib "$config"
    check "EasyBuild finds what the recipe needs, and the archive by its checksum" easybuild_finds "$config"
}

# The settings of Spack's own packages.
spack_style() {
    "$out/tools/bin/ruff" check --isolated --line-length 99 --extend-select E,I,W --ignore E731,F403,F811 \
        --config 'builtins = ["version", "variant", "depends_on", "requires", "conflicts", "license", "maintainers"]' \
        --config 'lint.isort.sections = {spack = ["spack"]}' \
        --config 'lint.isort.section-order = ["future", "standard-library", "third-party", "spack", "first-party", "local-folder"]' \
        "$1" && "$out/tools/bin/ruff" format --isolated --line-length 99 --diff "$1"
}

spack() {
    mkdir -p "$out/spack"
    fill package.py spack/package.py
    rm -rf "$out/libmpi-rma-$version"
    tar -C "$out" -xf "$archive" || die "can't unpack $archive"
    check "the archive has configure" test -x "$out/libmpi-rma-$version/configure"
    check "the form of the recipe of Spack" python3 -B "$recipes/check_spack.py" "$out/spack/package.py" "$out/libmpi-rma-$version/configure"
    check "the style of the recipe of Spack" spack_style "$out/spack/package.py"
}

conda() {
    fill recipe.yaml recipe.yaml
    check "the recipe of conda-forge" "$out/tools/bin/python" -B "$recipes/check_conda.py" "$out/recipe.yaml"
}

packages="python3 lmod xz-utils"
install_missing
sum=$(sha256sum "$archive" | cut -d' ' -f1)
make_tools || {
    skip "the recipes: pip has not all tools"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
easybuild
spack
conda
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
