#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run-list.sh PATH [PROGRAM...] - run the lines of test/mpi/testlist that list PATH
# (see set_path), or only those of the PROGRAMs named, and report in TAP. Started in a
# build directory, by test/lists/mpi-PATH.tap or by hand.
#
# The exit code decides: 0 passed, 77 with a line "SKIP: reason" skipped, all else
# failed. A passing program that left something out (lines with "SKIP: ") gives one
# more, skipped, point for each reason, so that nothing is left out silently.
# MTEST_VERBOSE=1 shows the output of passing programs too; MTEST_LIMIT=SECONDS is
# the time limit of lines that name none; MTEST_MAX_NPROCS=N leaves out runs with more
# processes; MTEST_FULL=yes runs what only the full list has, too. MTEST_LATER=yes says that another host's build of the same
# source has run the list: what test/mpi/testlist says of later hosts is left out. Lines with the word "beside" run after the
# others, MTEST_BESIDE=N of them at the same time, by default two. A comment after each point says
# what it took.
#
# test/run/limit.sh ends a run that takes too long, with all its processes.

set -f
. ./test/run/env.sh || exit 1
testlist=${TESTLIST:-$abs_top_srcdir/test/mpi/testlist}
path=$1
shift
only=" $* "
. "$abs_top_srcdir/test/lists/fabrics.sh"
all_paths="auto share mapped xpmem cma packets net nodes1 nodes2 netns2 netns3 roce roce-pair host $profiles"

# auto: as it is. xpmem: the same over a double of XPMEM (test/xpmem), with MTEST_FULL for the lines of cma, too.
# mapped, cma, packets (rings in shared memory), net (the network for all but a process itself): forced.
# nodes1, nodes2: as it is, but so many ranks are a node.
# netns2, netns3: so many pretended machines (netns/netns.sh). host: without the library.
# share: all lines of auto but scripts, with the blocks of malloc from 64 bytes on in shared memory.
# roce: pretended nodes of one process over InfiniBand verbs, in a machine that has a card (scripts/fabric.sh).
# roce-pair: the same over two such machines, on the first of them.
# fabric: pretended nodes of one process over the test provider (test/fabric), once for each profile that a line lists among
# its paths.
set_path() {
    case $path in
    auto) ;;
    share) export MPIRMA_SHARE_MALLOC=64 ;;
    mapped | cma) export MPIRMA_PATH="$path" ;;
    xpmem) export MPIRMA_XPMEM=yes LD_LIBRARY_PATH="$abs_top_builddir/test/xpmem/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
    packets) export MPIRMA_PATH=shm-packets ;;
    net) export MPIRMA_PATH=net-packets MPIRMA_OFI_INTERFACE=lo ;;
    nodes[12]) export MPIRMA_RANKS_PER_NODE="${path#nodes}" MPIRMA_OFI_INTERFACE=lo ;;
    fabric) over_profiles ;;
    roce) over_roce ;;
    roce-pair) over_roce && export NETNS_HOSTS=node1,node2 MACHINES=roce ;;
    netns[23]) test -n "$NETNS_HOSTS" || start_machines "$@" ;;
    host) export MPIRMA_DISABLE=1 MTEST_HOST_ONLY=1 ;;
    *)
        echo "Bail out! run-list.sh: path '$path', expected one of: $all_paths"
        exit 1
        ;;
    esac
}

# This script once more, on the first of the machines.
start_machines() {
    netns="$abs_top_srcdir/test/netns/netns.sh"
    if ! why=$(sh "$netns" 1 true 2>&1); then
        case $why in
        SKIP:*) echo "1..0 # SKIP ${why#SKIP: }" ;;
        *) printf 'Bail out! %s\n' "$why" ;;
        esac
        exit 0
    fi
    exec sh "$netns" "${path#netns}" sh "$abs_top_srcdir/test/lists/run-list.sh" "$path" "$@"
}
set_path "$@"
share="env LD_PRELOAD=${MPI_RMA_LIB%/*}/libmpi-rma-malloc.so"
export MPI_PATH="$path"
if test "$MPI_HOST" = none; then
    echo "1..0 # SKIP no MPI library with the standard ABI is named: ABI_MPIEXEC, ABI_LIB (test/run/env.sh)"
    exit 0
fi
if test ! -r "$testlist"; then
    echo "Bail out! run-list.sh: can't read $testlist"
    exit 1
fi

# The kernel may refuse what the path needs: no line can run then.
no_path=
if test "$path" = cma; then
    no_path=$(./test/support/cma-probe) && no_path=
fi

# A debug build with sanitizers is several times slower: the limits of lines, and those that scripts set for each of their jobs,
# are that many times longer. On a slow machine MTEST_SLOWER does that.
slow=${MTEST_SLOWER:-1}
test -n "$SANITIZERS" && slow=5
export MT_SLOW="$slow"

points=0
failed=0
left_out=0

. "$abs_top_srcdir/test/run/limit.sh"

# Text for a TAP description: no '#', one line.
tap_text() {
    printf '%s' "$*" | tr '#\n' '= '
}

ok() {
    points=$((points + 1))
    echo "ok $points - $(tap_text "$1")${2:+ # SKIP $(tap_text "$2")}"
}

not_ok() { # name, reason
    points=$((points + 1))
    failed=$((failed + 1))
    echo "not ok $points - $(tap_text "$1")"
    echo "# $2"
}

# Where the program of a line is; $why says what is wrong if there is none.
locate() {
    why=
    skip=$no_path
    test -z "$preloads" || test -z "$SANITIZERS" || skip="a sanitizer has a malloc of its own"
    case $1 in
    *.sh | *.py)
        exe=$abs_top_srcdir/test/mpi/$1
        test -r "$exe" || why="$exe does not exist"
        ;;
    *)
        exe=$abs_top_builddir/test/mpi/$1
        case $1 in */*) exe=$abs_top_builddir/$1 ;; esac
        if test ! -x "$exe"; then
            why="$exe was not built"
            if test -f "$abs_top_srcdir/test/mpi/$1.f90" && test "$HAVE_FORTRAN" != yes; then
                skip=$HAVE_FORTRAN
            fi
        fi
        ;;
    esac
}

# A python3 whose mpi4py belongs to this host, in $python; else the reason in $skip.
find_python() {
    if test -z "$python_known"; then
        python_known=yes
        python=
        no_python="no python3 with mpi4py"
        case $MPI_BUILD in mpich) vendor=MPICH ;; openmpi) vendor='Open MPI' ;; *) vendor='the standard ABI' ;; esac
        for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
            found=$("$candidate" -c 'import mpi4py; mpi4py.rc.initialize = False
from mpi4py import MPI; print(MPI.get_vendor()[0], MPI.__file__, sep=":")' 2>/dev/null) || continue
            if ldd "${found#*:}" | grep -q libmpi_abi; then found='the standard ABI'; else found=${found%%:*}; fi
            if test "$found" = "$vendor"; then
                python=$candidate
                break
            fi
            no_python="the only mpi4py found is built for $found ($candidate)"
        done
        if test -n "$python" && test -n "$SANITIZERS"; then
            python=
            no_python="a build with sanitizers can't be preloaded under python3"
        fi
    fi
    test -n "$python" || skip=$no_python
}

# The points of one run: name, exit code in $rc, output in $tmp/out.
judge() {
    if test -e "$tmp/hung"; then
        not_ok "$1" "took more than $2 s and was killed; what hung:"
        sed 's/^/#   /' "$tmp/hung"
        echo "# its last output:"
        tail -n 30 "$tmp/out" | sed 's/^/#   /'
        return
    fi
    reason=$(sed -n 's/.*SKIP: *//p' "$tmp/out" | tail -n 1)
    if test "$rc" = 77 && test -n "$reason"; then
        ok "$1" "$reason"
    elif test "$rc" != 0; then
        not_ok "$1" "exit code $rc"
        # The failed checks, if a flood of other lines came after them.
        grep -E '^[a-z0-9_]+\.(c|f90):[0-9]+: ' "$tmp/out" | head -n 15 >"$tmp/checks"
        if test -s "$tmp/checks"; then
            echo "# failed checks (at most 15):"
            sed 's/^/#   /' "$tmp/checks"
        fi
        echo "# its last output:"
        tail -n 30 "$tmp/out" | sed 's/^/#   /'
    else
        ok "$1"
        sed -n 's/.*SKIP: *//p' "$tmp/out" | sort -u >"$tmp/skips"
        while read -r reason; do
            ok "$1: in part" "$reason"
        done <"$tmp/skips"
        test -z "$MTEST_VERBOSE" || sed 's/^/#   /' "$tmp/out"
    fi
}

# run_one NPROCS: one run of the line in $prog, $vars, $limit, $progargs.
run_one() {
    n=$1
    name="$prog np=$n${vars:+ $vars}${progargs:+ $progargs}"
    locate "$prog"
    case $prog in *.py) test -n "$why" || find_python ;; esac
    if test -n "$skip"; then
        ok "$name" "$skip"
        return
    elif test -n "$why"; then
        not_ok "$name" "$why"
        return
    fi
    # shellcheck disable=SC2086 # words of the list, no globs (set -f)
    case $prog in
    *.sh) set -- sh "$exe" $progargs ;;
    *.py) set -- sh "$abs_top_srcdir/test/run/mpiexec.sh" "$n" "$MPI_RMA_RUN" --host="$MPI_BUILD" "$python" "$exe" $progargs ;;
    *) set -- sh "$abs_top_srcdir/test/run/mpiexec.sh" "$n" $preloads "$exe" $progargs ;;
    esac
    t=$((limit * slow))
    # mtest's own watchdog, which knows the section, comes first.
    began=$(centiseconds)
    # shellcheck disable=SC2086
    run_limited "$t" "MPI_NPROCS=$n" "MTEST_TIMEOUT=$((t * 3 / 4))" $vars "$@"
    took=$(($(centiseconds) - began))
    judge "$name" "$t"
    printf '# %d.%02d s\n' $((took / 100)) $((took % 100))
}

# Is word $2 in the comma-separated list $1?
listed() {
    case ,$1, in *,"$2",*) return 0 ;; esac
    return 1
}

# Does the line list a profile of the test provider?
any_profile() {
    for profile in $profiles; do
        ! listed "$paths" "$profile" || return 0
    done
    return 1
}

# Has the run of the host before said all of this line? On the paths below a program of "same:" depends on nothing of the host; on the
# others, where the host makes all windows or is asked for progress all the time, it runs once, with more than one process.
said_before() {
    test -n "$MTEST_LATER" || return 1
    case " $same " in *" $prog "*) ;; *) return 1 ;; esac
    case $path in share | mapped | xpmem | cma | packets | nodes1 | nodes2 | fabric) return 0 ;; esac
    case " $seen " in *" $prog "*) return 0 ;; esac
    test "$counts" != 1 || return 0
    seen="$seen $prog"
    return 1
}

bad_line() {
    not_ok "testlist line $lineno" "$1"
}

# Runs of the line with each of $counts.
run_counts() {
    IFS=,
    # shellcheck disable=SC2086
    set -- $counts
    IFS=$words
    for n; do
        case $n$limit in
        *[!0-9]*) bad_line "process count '$n' or timeout '$limit' is not a number" ;;
        *) test "$n" -gt "${MTEST_MAX_NPROCS:-$n}" || run_one "$n" ;;
        esac
    done
}

# One line of the list: program, process counts, paths, then the rest.
do_line() {
    prog=$1
    if test "$prog" = same:; then
        shift
        same="$same $*"
        return
    fi
    if test $# -lt 3; then
        bad_line "expected: program nprocs[,nprocs...] paths[,paths...]"
        return
    fi
    counts=$2
    paths=$3
    shift 3
    IFS=,/
    for p in $paths; do
        case " $all_paths " in
        *" $p "*) ;;
        *) bad_line "path '$p', expected one of: $all_paths" ;;
        esac
    done
    IFS=$words
    # Those behind a slash are for the full list.
    more= more_counts=
    case $paths in */*) more=${paths#*/} paths=${paths%%/*} ;; esac
    case $counts in */*) more_counts=,${counts#*/} counts=${counts%%/*} ;; esac
    if test -n "$MTEST_FULL" || test "$only" != "  "; then
        paths=$paths,$more
        counts=$counts$more_counts
    elif listed "$more" "$path"; then
        left_out=$((left_out + 1))
        return
    fi
    full=
    if test "$path" = share; then
        case $prog in *.sh) return ;; esac
        listed "$paths" share || listed "$paths" auto || return
    elif test "$path" = xpmem && ! listed "$paths" xpmem; then
        # Without XPMEM a line does what it does on path cma.
        listed "$paths" cma || return
        case " $* " in *" MPIRMA_XPMEM=no "*) return ;; esac
        full=yes
    elif test "$path" = fabric; then
        any_profile || return
    else
        listed "$paths" "$path" || return
    fi
    case $only in "  " | *" $prog "*) ;; *) return ;; esac
    vars=
    beside=
    preloads=
    test "$path" != share || preloads=$share
    limit=${MTEST_LIMIT:-120}
    while test $# -gt 0; do
        case $1 in
        --)
            shift
            break
            ;;
        full) full=yes ;;
        once) test -z "$MTEST_LATER" || full=yes ;;
        beside) beside=yes ;;
        share) preloads=$share ;;
        timeout=*) limit=${1#timeout=} ;;
        *=*) vars="$vars${vars:+ }$1" ;;
        *) bad_line "'$1', expected VAR=value, timeout=SECONDS, full, once, beside, share or -- arguments" ;;
        esac
        shift
    done
    progargs=$*
    test "$full$now" != "" || ! said_before || full=yes
    test -z "$MTEST_LATER" || test -n "$MTEST_FULL" || test "$only" != "  " || counts=${counts##*,}
    if test "$full" = yes && test -z "$MTEST_FULL" && test "$only" = "  "; then
        left_out=$((left_out + 1))
        return
    fi
    if test -n "$beside" && test -z "$now"; then
        echo "$line" >>"$tmp/beside"
        return
    elif test "$path" != fabric; then
        run_counts
        return
    fi
    own=$vars
    for profile in $profiles; do
        listed "$paths" "$profile" || continue
        vars="$(profile_settings "$profile")${own:+ $own}"
        run_counts
    done
}

# Every Nth of the lines that run beside others, from the Kth on: one lane of them.
lane() { # K, N
    own_runs "lane$1."
    now=yes
    points=0
    left_out=0
    lineno=0
    while read -r line <&3; do
        lineno=$((lineno + 1))
        # shellcheck disable=SC2086
        test $((lineno % $2)) != "$1" || do_line $line
    done 3<"$waiting"
}

# All lanes at the same time; their points are numbered on.
run_beside() {
    waiting=$tmp/beside
    lanes=${MTEST_BESIDE:-2}
    started=
    while test "$(echo "$started" | wc -w)" -lt "$lanes"; do
        k=$(echo "$started" | wc -w)
        (lane "$k" "$lanes") >"$tmp/lane.$k" 2>&1 &
        started="$started $!"
    done
    # shellcheck disable=SC2064,SC2086 # these processes
    trap "kill $started 2>/dev/null; wait; exit 143" INT TERM HUP
    # shellcheck disable=SC2086
    wait $started
    trap 'exit 143' INT TERM HUP
    (set +f && cat "$tmp"/lane.*) | awk -v n="$points" '
        /^ok [0-9]/ { sub(/[0-9]+/, ++n) }
        /^not ok [0-9]/ { sub(/[0-9]+/, ++n) }
        { print }' >"$tmp/points"
    cat "$tmp/points"
    points=$((points + $(grep -cE '^(not )?ok [0-9]' "$tmp/points")))
    failed=$((failed + $(grep -c '^not ok [0-9]' "$tmp/points")))
}

same=
seen=
now=
words=$IFS
lineno=0
while read -r line <&3 || test -n "$line"; do
    lineno=$((lineno + 1))
    line=${line%%#*}
    # shellcheck disable=SC2086
    set -- $line
    test $# = 0 || do_line "$@"
done 3<"$testlist"
test ! -s "$tmp/beside" || run_beside

test "$left_out" = 0 || echo "# $left_out lines are left out${MTEST_LATER:+, some of which another host's build has run}; MTEST_FULL=yes runs them"
if test "$points" = 0; then
    echo "1..0 # SKIP no line of testlist has the path $path"
else
    echo "1..$points"
fi
test "$failed" = 0
