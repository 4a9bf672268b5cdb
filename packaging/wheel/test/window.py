# SPDX-License-Identifier: BSD-3-Clause
"""A program of mpi4py for scripts/wheel.sh: put and get between fences, locks with accumulates, and memory that processes share, each
with what must be read. Under mpi-rma-run; the first argument is the directory that libmpi-rma must have been loaded from."""

import sys
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
WORDS = 5000


def expect(what, found, wanted):
    if found != wanted:
        print(f"rank {rank}: {what}: {found}, expected {wanted}", file=sys.stderr, flush=True)
        comm.Abort(1)


def loaded_library():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if "/libmpi-rma.so" in line}


def fences():
    win = MPI.Win.Allocate(8 * WORDS, 8, comm=comm)
    memory = memoryview(win.tomemory()).cast("q")
    memory[0] = -1
    win.Fence()
    win.Put([array("q", [rank * WORDS + i for i in range(WORDS)]), MPI.INT64_T], right)
    win.Fence()
    expect("what was put", list(memory), [left * WORDS + i for i in range(WORDS)])
    got = array("q", [0] * WORDS)
    win.Get([got, MPI.INT64_T], right)
    win.Fence()
    expect("what was got", list(got), [rank * WORDS + i for i in range(WORDS)])
    memory.release()
    win.Free()


def locks():
    own = array("q", [0] * 4)
    win = MPI.Win.Create(own, 8, comm=comm)
    one = array("q", [rank + 1])
    for target in range(size):
        win.Lock(target)
        win.Accumulate([one, MPI.INT64_T], target, 1, MPI.SUM)
        win.Unlock(target)
    comm.Barrier()
    win.Lock(rank)
    expect("the sum", own[1], size * (size + 1) // 2)
    win.Unlock(rank)
    before = array("q", [0])
    win.Lock_all()
    win.Fetch_and_op([one, MPI.INT64_T], [before, MPI.INT64_T], 0, 2, MPI.SUM)
    win.Flush(0)
    win.Unlock_all()
    comm.Barrier()
    if rank == 0:
        win.Lock(0)
        expect("the sum of fetch_and_op", own[2], size * (size + 1) // 2)
        win.Unlock(0)
    win.Free()


def shared():
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    win = MPI.Win.Allocate_shared(8 if node.Get_rank() == 0 else 0, 8, comm=node)
    buffer, _ = win.Shared_query(0)
    cell = memoryview(buffer).cast("q")
    win.Lock_all()
    if node.Get_rank() == 0:
        cell[0] = 4711
    win.Sync()
    node.Barrier()
    win.Sync()
    expect("what is shared", cell[0], 4711)
    win.Unlock_all()
    cell.release()
    win.Free()
    node.Free()


files = loaded_library()
if len(files) != 1 or not files.pop().startswith(sys.argv[1] + "/"):
    print(f"rank {rank}: loaded is {loaded_library()}, expected one in {sys.argv[1]}", file=sys.stderr, flush=True)
    comm.Abort(1)
fences()
locks()
shared()
comm.Barrier()
if rank == 0:
    print(f"all as it should be: {size} processes, {MPI.Get_library_version().splitlines()[0]}")
