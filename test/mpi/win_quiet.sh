#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# win_quiet.sh - what a program handles is its own affair: errors under MPI_ERRORS_RETURN or under a
# handler of its own, and hints that make no sense, are written at MPIRMA_LOG=info and not otherwise. An
# error that ends the job is written, and its cause.

. "$abs_top_srcdir/test/mpi/mtest.sh"

mpirun "$np" "$bin/win_quiet" errors
test "$rc" = 0 || bad "10,000 errors: exit code $rc"
seen libmpi-rma && bad "something was written of errors that the program handled:"
mpirun 1 env MPIRMA_LOG=info "$bin/win_quiet" few
for words in 'MPI_Put: MPI_ERR_RMA_RANGE' 'MPI_Win_unlock: MPI_ERR_RMA_SYNC' 'MPI_Win_attach: MPI_ERR_RMA_FLAVOR' 'MPI_Alloc_mem: MPI_ERR_NO_MEM' \
    'error: NO_MEM: .*shared (segment|memory)' 'MPI_Free_mem: MPI_ERR_BASE' 'MPI_Win_allocate: MPI_ERR_NO_MEM'; do
    seen "$words" || bad "at level info there is no line '$words':"
done
mpirun 1 "$bin/win_quiet" fatal
seen 'the call returned' && bad "the call returned"
seen 'error: MPI_Alloc_mem: MPI_ERR_NO_MEM' || bad "the fatal error was not written:"
seen 'error: NO_MEM: ' || bad "the cause of the fatal error was not written:"

# What is wrong and taken is said once by each process, and is an error in strict mode.
mpirun "$np" "$bin/win_quiet" taken
test "$rc" = 0 || bad "what is wrong and taken: exit code $rc"
for words in 'window 0 was made with the info key no_locks=true and is locked' \
    'window 0: an operation with a request needs a passive target epoch'; do
    n=$(grep -c "warning: $words" "$tmp/out")
    test "$n" = "$np" || bad "$np processes wrote $n warnings '$words':"
done
mpirun 1 env MPIRMA_STRICT=1 MPIRMA_LOG=info "$bin/win_quiet" taken
for words in 'RMA_SYNC: win: the window was made with the info key no_locks = "true"' \
    'RMA_SYNC: request: an operation with a request needs a passive target epoch'; do
    seen "info: MPI_[A-Za-z_]*: MPI_ERR_$words" || bad "in strict mode there is no error '$words':"
done

# Each process writes one cause, which is true: each of the three is a node of its own.
mpirun 3 env MPIRMA_LOG=info MPIRMA_RANKS_PER_NODE=1 "$bin/win_quiet" nodes
test "$rc" = 0 || bad "a shared window over nodes: exit code $rc"
n=$(grep -c 'error: ' "$tmp/out")
test "$n" = 3 || bad "3 processes write $n causes:"
for pair in '0: rank 0 and rank 1' '1: rank 0 and rank 1' '2: rank 0 and rank 2'; do
    seen "libmpi-rma.${pair%%:*}.: error: RMA_SHARED: MPI_Win_allocate_shared: ${pair#*: } are on different nodes" ||
        bad "rank ${pair%%:*} does not say that ${pair#*: } are on different nodes:"
done

# Of these, on the packet paths, only the target finds the errors; their origin handles them.
mpirun "$np" "$bin/win_quiet" remote
test "$rc" = 0 || bad "10,000 errors at another process: exit code $rc"
seen libmpi-rma && bad "something was written of errors of operations on another process:"
mpirun "$np" env MPIRMA_LOG=info "$bin/win_quiet" remote-few
seen 'MPI_(Put|Win_unlock): MPI_ERR_RMA_RANGE' || bad "at level info there is no line of the call:"
mpirun "$np" "$bin/win_quiet" remote-fatal
seen 'the call returned' && bad "the call returned"
seen 'libmpi-rma\[0\]: error: MPI_(Put|Win_unlock): MPI_ERR_RMA_RANGE' || bad "the fatal error was not written:"
seen 'libmpi-rma\[1\]: error:.*RMA_RANGE' && bad "the target has written the error of its origin:"
case ${MPIRMA_PATH:-auto} in
*packets)
    seen 'libmpi-rma\[0\]: error: MPI_Win_[a-z]*: MPI_ERR_RMA_RANGE: since the last synchronization rank 1 has refused a put of 4 bytes' || bad "the cause of the fatal error was not written:"
    mpirun "$np" env MPIRMA_LOG=info "$bin/win_quiet" remote-few
    n=$(grep -c 'libmpi-rma\[1\]: info: operation of rank 0 refused in window' "$tmp/out")
    test "$n" = 1 || bad "at level info there are $n lines of a packet that the target refused, expected 1:"
    finish
    ;;
esac

note() { # pattern: one line, written once for all processes
    n=$(grep -Ec "libmpi-rma.*info: .*$1" "$tmp/out")
    test "$n" = 1 || bad "$n notes '$1', expected 1:"
}
mpirun "$np" "$bin/win_quiet" hints
test "$rc" = 0 || bad "hints: exit code $rc"
seen libmpi-rma && bad "something was written of hints:"
mpirun "$np" env MPIRMA_LOG=info "$bin/win_quiet" hints
note 'no_locks="yes" is not understood and ignored: expected true or false'
note 'mpi_accumulate_granularity is 8 at rank 0 and 16 at rank 1, 0 is used'
note 'same_size is true, but rank 1 has 72 and rank 0 64'
mpirun "$np" env MPIRMA_LOG=info MPIRMA_STRICT=1 sh -c '"$0" hints || echo "exit code $?"' "$bin/win_quiet"
seen 'expected MPI_SUCCESS, saw MPI_ERR_INFO_VALUE' || bad "in strict mode hints that make no sense are no error"
finish
