#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# spawn.sh - children that MPI_Comm_spawn starts get the library that mpi-rma-run has preloaded under their
# parents, and its settings: a window over parents and children works.

. "$abs_top_srcdir/test/mpi/mtest.sh"
test -z "$SANITIZERS" || skip_all "a build with sanitizers can't be preloaded under a program without"

# More processes than the launcher is told of.
MPI_CORES=0
export MPI_CORES

said() {
    grep -c "^spawn: $1" "$tmp/out"
}

# Open MPI 4.1.4 hangs in one of a hundred calls of MPI_Comm_spawn, in the initialisation of a child, also without
# this library: then once more.
MT_LIMIT=25
run() {
    for attempt in 1 2 3; do
        mpirun "$@"
        test "$rc" = 124 && test "$(said asks)" -gt "$(said has)" || return 0
        echo "attempt $attempt: the host has not started the children"
    done
}

# Without the library. Debian 12's MPICH, over UCX, cannot start processes; Debian 13's Open MPI starts them
# and finds no way to them where a machine's network is not to its taste.
run 1 "$bin/spawn" start
test "$rc" = 0 ||
    skip_all "the host cannot start processes and merge with them: $(tr -d '\000' <"$tmp/out" |
        grep -iEm 1 'spawn call|support|unable to|signal' || echo "exit code $rc")"

run "$np" env MPIRMA_STATS="$tmp/stats.csv" "$MPI_RMA_RUN" "$bin/spawn"
test "$rc" = 0 || bad "exit code $rc"
seen '^spawn: ok' || bad "the parents did not end well:"
seen 'FAILED|libmpi-rma.*error' && bad "an error:"

# Statistics: the parents' file has the parents alone. Each of the two worlds of two children has its own.
test "$(counter all windows)" = $((4 * np)) || bad "the parents' statistics:"
find "$tmp" -name 'stats.*.*.csv' >"$tmp/out"
test "$(wc -l <"$tmp/out")" = 2 || bad "not a file of statistics for each of the two worlds of children:"
while read -r file; do
    mv "$file" "$tmp/stats.csv"
    for rank in 0 1; do
        test "$(counter "$rank" windows)" = 2 || bad "the statistics of child $rank:"
    done
done <"$tmp/out"

# Children leave the parents' trace alone.
run "$np" env MPIRMA_STATS="$tmp/stats.csv" MPIRMA_TRACE="$tmp/trace" "$MPI_RMA_RUN" "$bin/spawn"
test "$rc" = 0 || bad "with a trace: exit code $rc"
seen 'MPIRMA_TRACE: processes that MPI_Comm_spawn has started are not traced' ||
    bad "nothing says that children are not traced:"
"$bin/spool_check" "$tmp/trace" "$np" partly >"$tmp/out" 2>&1 || bad "the parents' trace is not right:"

# Children without it: no window, and nobody waits for ever.
run 1 "$MPI_RMA_RUN" "$bin/spawn" without
test "$rc" != 0 && test "$rc" != 124 || bad "children without the library: exit code $rc"
if seen 'processes are unable to reach each other'; then
    echo "SKIP: children without the library: the host itself cannot merge with them"
    finish
fi
seen 'MPI_Win_allocate.*of the [0-9]+ processes .* these ranks do not have this library.*: [1-9]' || bad "children without the library: no message:"
finish
