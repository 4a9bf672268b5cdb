# SPDX-License-Identifier: BSD-3-Clause
# casper.sh - the tests of Casper, which gives one-sided communication progress by processes of its own. They are plain MPI
# programs and run here without it. Casper is not in Debian: see given_source in common.sh.

# shellcheck disable=SC2034 # read by common.sh
app_title="Casper's tests"
app_packages=

# Some tests are another's source with macros of their own, as Makefile.am says.
build_casper() { # tests, host
    echo '#define CTEST_ENABLE_THREAD_TEST 1' >ctestconf.h
    sed -n 's/^\([a-z_]*\)  *exec=.*/\1/p; s/^\([a-z_]*\)$/\1/p' "$1/testlist.in" | while read -r name; do
        file=$(sed -n "s/^${name}_SOURCES *= *\([a-z_]*\.c\).*/\1/p" "$1/Makefile.am")
        macros=$(sed -n "s/^${name}_CPPFLAGS *= *\(.*\) \$.*/\1/p" "$1/Makefile.am")
        # shellcheck disable=SC2086 # nothing, or several words
        "mpicc.$2" -w -O1 -I"$1/include" -I. $macros -o "$name" "$1/${file:-$name.c}" -lpthread -lm </dev/null || echo "$name: left out"
    done
    test -x get
}

app_prepare() {
    given_source casper || return 1
    app_version=$(sed -n 's/^ *AC_INIT(\[*[^],]*\]*, *\[*\([^]),]*\).*/\1/p' "$given/casper/configure.ac" | head -n 1)
    built tree build_casper "$given/casper/test" "$host"
}

# win_errhan asks for the errors of Casper.
app_tests() {
    for program in "$PWD"/tree/*; do
        name=$(basename "$program")
        case $size-$name in
        *-win_errhan) continue ;;
        full-* | *-thread_multiwins | *-getacc | *-put_fence) ;;
        *) continue ;;
        esac
        test ! -x "$program" || echo "$name 4 60 $program"
    done
}

# Most tests print how many errors they found and end as if all were well.
app_judge() {
    judge_by eval 'test "$rc" = 0 && ! grep -qE "[1-9][0-9]* errors|checking failed" "$tmp/out"'
}
