#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pid_reuse.sh - pid_reuse in a PID namespace of its own, where numbers of processes can be chosen.

. "$abs_top_srcdir/test/mpi/mtest.sh"
own="unshare --pid --fork --mount-proc --kill-child"
$own sh -c 'echo 300 >/proc/sys/kernel/ns_last_pid' 2>"$tmp/out" ||
    skip_all "no PID namespace with numbers of one's own: $(head -n 1 "$tmp/out")"
export MPIEXEC_KEEP=1
keep='trap "" USR1; "$@"; echo "a rank has ended with $?"; exit 0' # see lose_rank.sh
# shellcheck disable=SC2086 # words
timeout -k 5 $((40 * MT_SLOW)) $own sh "$abs_top_srcdir/test/run/mpiexec.sh" "$np" sh -c "$keep" sh "$bin/pid_reuse" \
    >"$tmp/out" 2>&1 </dev/null
if seen '^SKIP: '; then
    skip_all "$(sed -n 's/^SKIP: //p' "$tmp/out")"
fi
seen 'rank 0 has ended with 0' || bad "the number of a dead rank is taken for that rank:"
finish
