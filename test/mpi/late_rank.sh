#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# late_rank.sh - a rank comes late to the creation of a window, and to a fence: the others say that they wait for
# it, where MPIRMA_HANG_REPORT asks for that, in which call and at which place of the program, and go on when it comes. The place is
# looked up once, and reports do not wait for that.

. "$abs_top_srcdir/test/mpi/mtest.sh"

# text, behind whose RANK every rank but the last has said that it waits
all_say() {
    rank=0
    while test "$rank" -lt $((np - 1)); do
        seen "$(echo "$1" | sed "s/RANK/rank $rank/")" || return 1
        rank=$((rank + 1))
    done
}

# As in win_fatal.sh.
if command -v addr2line >/dev/null && readelf -S "$bin/late_rank" | grep -q debug_line; then
    site='late_rank\.c:[1-9][0-9]*'
else
    site='late_rank\+0x[0-9a-f]+'
fi

MPIRMA_HANG_REPORT=0.1 sh "$abs_top_srcdir/test/run/mpiexec.sh" "$np" "$bin/late_rank" "$tmp/come" "$tmp/fence" >"$tmp/out" 2>&1 </dev/null &
launcher=$!
wait_for 20 all_say "RANK of a communicator of $np waits for [0-9.]+ s in MPI_Win_allocate for other ranks" ||
    bad "not all ranks have said that they wait in the creation:"
: >"$tmp/come"
wait_for 20 all_say "MPI_Win_fence at $site: RANK of window 0 waits for [0-9.]+ s for " ||
    bad "not all ranks have said that they wait in the fence, and where:"
: >"$tmp/fence"
wait "$launcher" || bad "exit code $?"

# An addr2line that never answers: reports go on without the line, and a rank starts it once for a place.
rm -f "$tmp/fence"
mkdir "$tmp/tools"
cat >"$tmp/tools/addr2line" <<END
#!/bin/sh
echo "\$*" >>"$tmp/asked"
exec sleep 60
END
chmod +x "$tmp/tools/addr2line"
all_say_again() { # times
    rank=0
    while test "$rank" -lt $((np - 1)); do
        test "$(grep -cE "MPI_Win_fence at late_rank.0x[0-9a-f]+: rank $rank of window 0 waits for " "$tmp/out")" -ge "$1" || return 1
        rank=$((rank + 1))
    done
}
# Open MPI's launcher puts its own folder in front of the PATH that it is given, so the ranks set theirs.
MPIRMA_HANG_REPORT=0.1 \
    sh "$abs_top_srcdir/test/run/mpiexec.sh" "$np" env PATH="$tmp/tools:$PATH" "$bin/late_rank" "$tmp/come" "$tmp/fence" \
    >"$tmp/out" 2>&1 </dev/null &
launcher=$!
wait_for 30 all_say_again 5 || bad "not all ranks have said five times that they wait in the fence:"
: >"$tmp/fence"
wait "$launcher" || bad "exit code $?"
asked=$(sort "$tmp/asked" | uniq -c | sort -n | tail -n 1 | awk '{ print $1 }')
test "$asked" -le "$np" || bad "addr2line was started $asked times for one place, by $np ranks:"

mpirun "$np" "$bin/late_rank" "$tmp/come" "$tmp/fence"
test "$rc" = 0 || bad "exit code $rc"
seen 'waits for' && bad "a report that nobody has asked for:"
finish
