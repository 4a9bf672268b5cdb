# SPDX-License-Identifier: BSD-3-Clause
# common.sh - what the wrappers of real programs share; read by scripts/check-apps.sh, with
# scripts/common.sh before it. A wrapper, test/apps/PROGRAM.sh, is read after this file, in a
# shell of its own for every host, and defines
#   app_title       what the table calls the program
#   app_hosts       the hosts that it can be had for
#   app_packages    the Debian packages that it needs
#   app_time_bound  if set, in percent: the time with the library that is a failure, as a share
#                   of the time without it (if it is also a second more)
#   app_prepare     builds in the present directory what is not built yet, and sets
#                   $app_version; if that can't be done it sets $why and fails
#   app_tests       prints a line "NAME PROCESSES SECONDS COMMAND..." for each test, SECONDS being
#                   its time limit; $size is full, short or ci
#   app_judge       from the exit code $rc and the output in $tmp/out of the test $test prints
#                   lines "pass|fail|skip POINT"; without it the exit code decides
# with $host, $app (the directory of the sources that are unpacked and of the builds) and the
# variables of test/run/env.sh set. Where test/apps/expected has a file of the program's name, all points
# are held against that: app_tests prints all tests, and those that CI runs are chosen there. That is what
# the hosts of the interfaces of their own give: the build for the standard ABI is held against the host alone in the same run.

app_hosts=$hosts
app_time_bound=

app_judge() {
    judge_by test "$rc" = 0
}

# One point, of the test's own name: passed if the command "$@" succeeds.
judge_by() {
    if "$@"; then echo "pass $test"; else echo "fail $test"; fi
}

# ---- sources of Debian packages ------------------------------------------------------

# apt-get with sources only, of the suite $1 (or, if that is empty, of this machine's own release):
# the machine's own package sources, read as sources of source packages.
apt_sources() {
    suite=$1
    shift
    lists=$app/apt/${suite:-own}
    if test ! -d "$lists/lists"; then
        mkdir -p "$lists/parts" "$lists/lists" "$lists/cache/archives/partial"
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | grep -E '^deb[[:space:]]' |
            sed -E "s/^deb/deb-src/;${suite:+s/^(deb-src( +\[.*\])? +[^ ]+ +)[^ ]+/\1$suite/}" |
            sort -u >"$lists/parts/own.list"
        for file in /etc/apt/sources.list.d/*.sources; do
            test ! -f "$file" || { cat "$file" && echo; }
        done | sed -E "s/^Types:.*/Types: deb-src/;${suite:+s/^Suites:.*/Suites: $suite/}" >"$lists/parts/own.sources"
        # One of them may lack this suite; whether the others have the package is seen below.
        apt_with update >"$lists/update.log" 2>&1 </dev/null || :
    fi
    apt_with "$@"
}

apt_with() {
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$lists/parts" \
        -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists/cache" "$@"
}

# fetch_source PACKAGE [any]: the sources that Debian packages, unpacked in $source, their version in
# $source_version. With "any" those of a newer release will do, if the mirror lacks those of this one.
fetch_source() {
    source=$app/src/$1
    if test ! -f "$source/version"; then
        rm -rf "$source"
        mkdir -p "$source/tar" || exit 1
        for suite in '' ${2:+stable unstable}; do
            (cd "$source/tar" && apt_sources "$suite" --download-only --tar-only source "$1") \
                >"$source/fetch.log" 2>&1 </dev/null && break
        done
        tar=$(find "$source/tar" -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
        if test -z "$tar"; then
            why="the source of the package $1 can't be fetched"
            return 1
        fi
        tar -xf "$tar" -C "$source" --strip-components=1 || exit 1
        basename "$tar" | sed 's/^[^_]*_//;s/\.orig\..*//' >"$source/version"
    fi
    source_version=$(cat "$source/version")
}

# fetch_sdist PROJECT VERSION: the source archive that the Python package index has, as fetch_source
# leaves its own.
fetch_sdist() {
    source=$app/src/$1
    if test ! -f "$source/version"; then
        rm -rf "$source"
        mkdir -p "$source/tar" || exit 1
        /usr/bin/python3 -m pip download -q --no-cache-dir --no-deps --no-build-isolation --no-binary :all: -d "$source/tar" "$1==$2" \
            >"$source/fetch.log" 2>&1 </dev/null
        tar=$source/tar/$1-$2.tar.gz
        if test ! -f "$tar"; then
            why="the source of $1 $2 can be had from neither Debian nor the Python package index"
            return 1
        fi
        tar -xf "$tar" -C "$source" --strip-components=1 || exit 1
        echo "$2" >"$source/version"
    fi
    source_version=$(cat "$source/version")
}

# given_source NAME: the folder NAME in that which the user names by APPS_SOURCES, for programs that no package has: there lie, side
# by side, unpacked, the public sources of the programs. $given is the folder APPS_SOURCES then.
given_source() {
    given=${APPS_SOURCES:+$(cd "$APPS_SOURCES" 2>/dev/null && pwd)}
    test -z "$given" || test ! -d "$given/$1" || return 0
    why="no package has the source of $1; APPS_SOURCES names no folder in which it lies as $1"
    return 1
}

# built NAME COMMAND...: run the command in the directory NAME, once.
built() {
    test ! -f "$1/built" || return 0
    rm -rf "$1"
    mkdir -p "$1" || exit 1
    name=$1
    shift
    if ! (cd "$name" && step build.log "$@"); then
        why="the build failed"
        return 1
    fi
    touch "$name/built"
}

# abi_wrapper FILE: makes FILE a compiler wrapper for the standard ABI, which has its header, and a library that only has the
# names of its functions.
abi_wrapper() {
    stub=$abs_top_builddir/abi-stub
    cat >"$1" <<END
#!/bin/sh
for word; do
    case \$word in -c | -E | -S) exec ${CC:-cc} -isystem "$abs_top_srcdir/include/abi" "\$@" ;; esac
done
exec ${CC:-cc} -isystem "$abs_top_srcdir/include/abi" "\$@" -L"$stub" -lmpi_abi
END
    chmod +x "$1"
}

# ---- runs ----------------------------------------------------------------------------

# The ways to run a program: host, without the library; lib, with it; nodes, with it over pretended
# nodes of one process each. Where a file tells what the host alone does, --ci and --library do not run that again, and --ci
# leaves the nodes to the whole run.
# With --fabrics it is one for each fabric, with the library and nodes of one process.
all_variants="host lib nodes"

# The settings of the present variant, which come with the command.
variant_settings() {
    files=$MPI_RMA_LIB
    test "${MPIRMA_SHARE_MALLOC:-0}" = 0 || files=${MPI_RMA_LIB%/*}/libmpi-rma-malloc.so:$files
    test "$variant" = host || echo "LD_PRELOAD=$files MPIRMA_STATS=$tmp/stats.csv"
    case $variant in
    host | lib | roce) echo "APPS_VARIANT=$variant" ;;
    nodes) echo "MPIRMA_RANKS_PER_NODE=1 MPIRMA_OFI_INTERFACE=lo" ;;
    *) profile_settings "$variant" ;;
    esac
}

# told: what the file of expected results says of the present test in this variant, lines of RESULT and POINT. It was
# asked once for all tests: starting the interpreter takes as long as many a test.
told() {
    awk -v variant="$variant" -v test="$test" '$1 == variant && $2 == test { print $3, $4 }' "$tmp/told"
}

# Are the points in FILE not those that the file of expected results tells? Where they are, word by word, nobody is asked.
differs() { # FILE
    told | sort >"$tmp/told.sorted"
    ! sort "$1" | cmp -s - "$tmp/told.sorted" || return 1
    python3 "$abs_top_srcdir/test/apps/results.py" differs "$expected" "$host" "$variant" "$test" <"$1"
}

# run_variant VARIANT: one run of the test; a line of what it took, and one for each point.
run_variant() {
    variant=$1
    settings=$(variant_settings)
    # A round trip over the network takes many times what one through memory does.
    limit=$seconds
    # The hosts' barriers take turns then.
    test "$nprocs" -le "$jobs" || limit=$((limit * 2))
    case $variant in host | lib) ;; *) limit=$((limit * 3)) ;; esac
    limit=$((limit * ${MTEST_SLOWER:-1}))
    test -z "$expected" || ! told | grep -q '^hangs ' || limit=30
    rm -f "$tmp"/stats*.csv
    began=$(centiseconds)
    # shellcheck disable=SC2086 # lists of words
    run_limited "$limit" sh "$abs_top_srcdir/test/run/mpiexec.sh" "$nprocs" env $settings $command
    took=$(($(centiseconds) - began))
    test ! -e "$tmp/hung" || rc=timeout
    windows=$(awk -v rank=all -v name=windows -f "$abs_top_srcdir/test/run/counter.awk" "$tmp"/stats*.csv 2>/dev/null) || windows=0
    printf 'run\t%s\t%s\t%s\t%s\t%s\t%s\n' "$test" "$variant" "$round" "$took" "$rc" "$windows"
    app_judge >"$tmp/points"
    test "$rc" != timeout || sed -i 's/^pass /fail /' "$tmp/points"
    while read -r state point; do
        printf 'point\t%s\t%s\t%s\t%s\t%s\n' "$test" "$variant" "$round" "$point" "$state"
    done <"$tmp/points"
    if grep -q '^fail' "$tmp/points"; then
        mkdir -p failed
        out=failed/$(echo "$test" | tr / :).$variant
        cp "$tmp/out" "$out"
        test ! -e "$tmp/hung" || cat "$tmp/hung" >>"$out"
    fi
    eval "took_$variant=\$took; cp \"\$tmp/points\" \"\$tmp/points.$variant\""
}

# Does this first round of the test leave open whether the library does worse? Over nodes only
# the outcome is held against it. Where the host alone is not run there is nothing to compare.
undecided() {
    case " $variants " in
    *" host "*) ;;
    *) return 1 ;;
    esac
    if test -z "$expected"; then
        cmp -s "$tmp/points.host" "$tmp/points.lib" && cmp -s "$tmp/points.host" "$tmp/points.nodes" || return 0
    fi
    # shellcheck disable=SC2154 # set by run_variant
    test $((took_lib * 10)) -gt $((took_host * 11 + 100))
}

# One line of app_tests: a round of all variants, two more where it is not clear, so that medians
# and what fails now and then can be told. Against a file of expected results, only the variants that
# differ from it are run again, up to twice.
run_test() {
    test=$1
    nprocs=$2
    seconds=$3
    shift 3
    command=$*
    round=1
    again=$variants
    while test "$round" -le "$rounds"; do
        runs_now=$again
        test "$round" -gt "$rounds_of_all" || runs_now=$variants
        for variant in $runs_now; do
            run_variant "$variant"
        done
        if test "$round" = 1 && test "$size" = full && test -z "$app_time_bound" && undecided; then
            rounds=3
            rounds_of_all=3
        fi
        if test -n "$expected"; then
            again=$(unexpected)
            test -z "$again" || rounds=3
        fi
        round=$((round + 1))
    done
}

# Which of the variants in $again have still not given what is expected?
unexpected() {
    for variant in $again; do
        ! differs "$tmp/points.$variant" || printf '%s ' "$variant"
    done
}

# prepare_app PROGRAM HOST: build it where that has not been done, in the directory which is the present one then. $why says
# what is wrong if it cannot be had; ends with 1 where it does not run on the host.
prepare_app() {
    program=$1
    host=$2
    cd "$(build_dir "$host")" && . ./test/run/env.sh || exit 1
    . "$top_srcdir/test/run/limit.sh"
    . "$top_srcdir/test/lists/fabrics.sh"
    . "$top_srcdir/test/apps/$program.sh"
    case " $app_hosts " in *" $host "*) ;; *) return 1 ;; esac
    mkdir -p "$app/$host/$program" && cd "$app/$host/$program" || exit 1
    app_version=
    why=
    packages=$app_packages
    if test -n "$prepare" && ! (install_missing); then
        why="its packages can't be installed"
    else
        app_prepare
    fi
    return 0
}

# run_app PROGRAM HOST: prepare it and run its tests, results on standard output.
run_app() {
    prepare_app "$@" || return 0
    expected=$abs_top_srcdir/test/apps/expected/$program
    test -f "$expected" && test "$MPI_BUILD" != abi || expected=
    variants=${fabrics:-$all_variants}
    if test -n "$fabrics"; then
        case $fabrics in roce) over_roce ;; *) over_profiles ;; esac
    elif test -n "$expected" && test "$size" = ci; then
        variants=lib
    elif test -n "$expected" && test -n "$library"; then
        variants="lib nodes"
    fi
    printf 'program\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$program" "$app_title" "$host" "$MPI_HOST_VERSION" \
        "${app_version:--}" "${app_time_bound:-0}" "$(date -u +%Y-%m-%d)" "$size" "$variants"
    if test -n "$why"; then
        printf 'skipped\t%s\n' "$why"
        return 0
    fi
    rm -rf failed
    test -z "$expected" || python3 "$abs_top_srcdir/test/apps/results.py" told "$expected" "$host" >"$tmp/told"
    (app_tests) >tests
    if test -n "$expected" && test "$size" != full; then
        mv tests tests.all
        python3 "$abs_top_srcdir/test/apps/results.py" chosen "$expected" "$size" <tests.all >tests
    fi
    while read -r line <&5; do
        rounds=1
        test -z "$app_time_bound" || rounds=3
        rounds_of_all=$rounds
        # shellcheck disable=SC2086 # words
        run_test $line
        say "$program, $host: $test"
    done 5<tests
}
