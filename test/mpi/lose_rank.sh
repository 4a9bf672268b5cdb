#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lose_rank.sh HOW [CALL=ERROR...] - a rank dies, and the launcher leaves the others alone (lose_rank.c,
# which says what HOW is; notified:FORM: notify_lost.c): each of them passes all of its checks. Where
# system calls are named, they are refused to all ranks (test/support/refuse-calls.c).

. "$abs_top_srcdir/test/mpi/mtest.sh"
how=$1
shift
case $how in
notified:*) program="$bin/notify_lost" ;;
*) program="$bin/lose_rank" ;;
esac
export MPIEXEC_KEEP=1
refuse=
if test $# -gt 0; then
    refuse="$abs_top_builddir/test/support/refuse-calls $*"
    # shellcheck disable=SC2086 # words
    why=$($refuse true 2>&1) || skip_all "no seccomp filter here: $why"
fi

read_all() {
    set +f
    cat "$tmp"/ranks/out.* "$tmp/launcher" >"$tmp/out" 2>/dev/null
    set -f
}

good() {
    read_all
    test "$(grep -c 'has ended with 0 failed checks' "$tmp/out")" = $((np - 1))
}

# MPICH's launcher ends the ranks beside one that a signal ends, whatever it is told, and sends them
# SIGUSR1 when one is gone: so it starts a shell that starts the rank.
keep='trap "" USR1; "$@"; exit 0'
mkdir "$tmp/ranks"
shm_before
# shellcheck disable=SC2086
sh "$abs_top_srcdir/test/run/mpiexec.sh" "$np" $refuse sh -c "$keep" sh "$program" "$tmp/ranks" "${how#notified:}" \
    >"$tmp/launcher" 2>&1 </dev/null &
launcher=$!
wait_for 25 good || {
    # Open MPI 5 over tcp may find its own connection closed.
    if seen 'An error occurred in Socket closed'; then
        seen 'error: the process that is lost is rank' || bad "$how $*: the library does not name the lost rank:"
        echo "SKIP: in part: the host itself ends the survivors: it calls the lost connection fatal"
    else
        bad "$how $*: not all survivors have ended well:"
    fi
}
seen 'signal 11|segmentation|bus error' && bad "$how $*: a survivor crashed:"
# A child that lives on may keep the launcher waiting.
patience=10
case $how in fork | system) patience=1 ;; esac
wait_for "$patience" launcher_gone || kill "$launcher"
wait "$launcher"
shm_after "$how $*"
finish
