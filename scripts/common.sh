# SPDX-License-Identifier: BSD-3-Clause
# common.sh - what the scripts here share: installing what is missing on
# Debian, and the two builds (build-mpich, build-openmpi) beside each other in the
# source tree. Read by them with top_srcdir set; quiet unless something fails.
# -h, --help and --version of each script are answered here.

. "$top_srcdir/scripts/options.sh"
answer_first "$@"

hosts="mpich openmpi"
jobs=${JOBS:-$(nproc)}
make_target=

say() {
    echo "== $*" >&2
}

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# step LOG COMMAND...: run it with its output in LOG; on failure show the end of it.
step() {
    log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null && return 0
    echo "failed: $*" >&2
    echo "the last lines of $log:" >&2
    tail -n 40 "$log" >&2
    return 1
}

# What builds need, and scripts that make tables; what the short lists need; and all that the tests do.
build_packages="gcc libc6-dev make autoconf automake libtool pkg-config
    mpich libmpich-dev openmpi-bin libopenmpi-dev libhwloc-dev libfabric-dev python3"
short_packages="$build_packages gfortran binutils util-linux iproute2"
packages="$short_packages libcmocka-dev cmake python3-mpi4py python3-numpy valgrind
    libopen-trace-format2-dev otf2-tools python3-otf2 python3-six mandoc python3-venv"
# What only tests of traces look with.
viewers="vite chromium"

is_installed() {
    dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# apt_get ARGUMENTS: apt-get by $as_root with the log $install_log, again for ten minutes while another one has its locks.
apt_get() {
    tries=60
    while test $tries -gt 0; do
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$install_log" 2>&1 </dev/null && return 0
        grep -q '^E: Could not get lock' "$install_log" || break
        tries=$((tries - 1))
        sleep "${APT_PAUSE:-10}"
    done
    echo "failed: apt-get $*" >&2
    tail -n 40 "$install_log" >&2
    return 1
}

install_missing() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "not a Debian system: these Debian packages, or the like, must be there:"
        echo "$packages" >&2
        return 0
    fi
    missing=
    for package in $packages; do
        is_installed "$package" || missing="$missing $package"
    done
    test -n "$missing" || return 0
    as_root=
    if test "$(id -u)" != 0; then
        command -v sudo >/dev/null || die "as root, install:$missing"
        as_root="sudo"
    fi
    say "installing:$missing"
    install_log=$(mktemp "${TMPDIR:-/tmp}/mpi-rma-install.XXXXXX") || exit 1
    # shellcheck disable=SC2086 # lists of words
    apt_get -q update && apt_get -q -y --no-install-recommends install $missing || die "can't install:$missing"
    rm -f "$install_log"
}

bootstrap() {
    cd "$top_srcdir" || exit 1
    newest=$(find configure.ac Makefile.am m4/*.m4 ./*/sources.am ./*/*/sources.am -newer configure \
        2>/dev/null | head -n 1)
    test -f configure && test -f Makefile.in && test -z "$newest" && return 0
    say "autogen.sh"
    mkdir -p build-logs || exit 1
    step build-logs/autogen.log ./autogen.sh || die "autogen.sh failed"
}

build_dir() { # host
    echo "$top_srcdir/build-$1${BUILD_SUFFIX:+-$BUILD_SUFFIX}"
}

# What configure is told of a host: abi, the standard ABI, needs no wrapper.
choose_host() { # host
    case $1 in abi) echo --with-host=abi ;; *) echo "MPICC=mpicc.$1" ;; esac
}

# build HOST [CONFIGURE ARGUMENTS]: configure build-HOST and make it, or only
# $make_target; the directory may be named by BUILD_SUFFIX (build-HOST-SUFFIX).
build() {
    host=$1
    shift
    dir=$(build_dir "$host")
    mkdir -p "$dir" || exit 1
    cd "$dir" || exit 1
    chosen=$(choose_host "$host")
    arguments="$chosen ${CI:+CI }$*"
    if test ! -f config.status || test ../configure -nt config.status ||
        test "$(cat configured-with 2>/dev/null)" != "$arguments"; then
        say "configure for $host"
        step configure.log ../configure "$chosen" "$@" || return 1
        echo "$arguments" >configured-with
    fi
    say "make for $host"
    # shellcheck disable=SC2086 # nothing, or a name
    step make.log make -j "$jobs" $make_target
}

# show_points RESULTS NAME: lines of make check's output, in check.log, about tests that did not simply pass.
show_points() {
    grep -E "^($1): " check.log | grep -v ' - exited with status' | sed "s/^/$2: /"
}

# What passed, failed and was skipped below this directory, from the .trs files: a line for every test point. A
# program whose points failed also "exited with status 1"; that is no failure of its own.
count_points() {
    find . -name '*.trs' | while read -r trs; do
        exited=$(grep -c '^ERROR: .* - exited with status' "${trs%.trs}.log")
        awk -v exited="$exited" '
            /^:test-result: PASS/ { p++ }
            /^:test-result: (FAIL|XPASS)/ { f++ }
            /^:test-result: ERROR/ { e++ }
            /^:test-result: (SKIP|XFAIL)/ { s++ }
            END { if (f && exited) e -= exited; print p + 0, f + e, s + 0 }' "$trs"
    done | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }'
}

# Replace what is between the two marks of this name in a document by standard input.
replace_part() { # file, name
    grep -q "<!-- $2: begin" "$1" || die "$1 has no place for '$2'"
    part=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-part.XXXXXX") || exit 1
    cat >"$part/new"
    awk -v name="$2" -v new="$part/new" '
        index($0, "<!-- " name ": end") { skip = 0 }
        !skip { print }
        index($0, "<!-- " name ": begin") { skip = 1; while ((getline line <new) > 0) print line }' "$1" >"$part/all" &&
        cat "$part/all" >"$1"
    rm -rf "$part"
}
