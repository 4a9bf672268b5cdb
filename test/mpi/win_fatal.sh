#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# win_fatal.sh - under the default error handler an error ends the job: the exit
# code is not 0, the call does not return, and the message names the function, the
# window and the rank that made the mistake (and what it was), and the call's place in the source.

. "$abs_top_srcdir/test/mpi/mtest.sh"

# File and line where the program has them and addr2line can be had, else the place in the file.
if command -v addr2line >/dev/null && readelf -S "$bin/win_fatal" | grep -q debug_line; then
    site='called at win_fatal\.c:[1-9]'
else
    site='called at win_fatal\+0x[0-9a-f]+'
fi

# case, function, and what else the message must name
fatal() {
    mpirun 2 "$bin/win_fatal" "$1"
    ended_badly || bad "$1: exit code 0"
    test "$rc" != 124 || bad "$1: the job did not end"
    seen 'the call returned' && bad "$1: the call returned"
    seen "$site" || bad "$1: the message does not say where the call stands:"
    shift
    for word in "$@"; do
        seen "$word" || bad "the message does not name $word:"
    done
}

fatal range MPI_Put 'window|on win|win=' \
    'rank.{0,3}1|\[1\]|\(1\)' 'target.{0,8}0' '(disp|displacement).{0,6}16' 'RMA_RANGE|range'
fatal sync MPI_Accumulate 'window|on win|win=' 'rank.{0,3}1|\[1\]|\(1\)' 'RMA_SYNC|epoch|synchroni'
fatal unlock MPI_Win_unlock 'window|on win|win=' 'rank.{0,3}1|\[1\]|\(1\)' 'RMA_SYNC|epoch|lock'
fatal rank MPI_Win_lock 'window|on win|win=' 'rank.{0,3}1|\[1\]|\(1\)' 77
fatal create MPI_Win_allocate 'rank.{0,3}[01]|\[[01]\]' 'disp'
finish
