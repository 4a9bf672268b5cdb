#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Windows of every flavour through mpi4py, with the library preloaded.

Started by run-list.sh under mpi-rma-run. Fails if the library is not mapped into
the process; checks put, get, accumulate, fetch_and_op and compare_and_swap under
fence, PSCW, lock and lock_all, attributes, names, info and an error class. Uses
no numpy: buffers are arrays of the standard library.
"""

import os
import sys
import traceback
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
failed = 0
INT = MPI.INT.Get_size()


def check(what, expected, seen):
    """Count and print a difference."""
    global failed
    if expected != seen:
        failed += 1
        print(f"mpi4py_windows: rank {rank}: {what}: expected {expected!r}, saw {seen!r}", flush=True)


def cells(win_memory):
    """The window's memory as ints."""
    return memoryview(win_memory).cast("B").cast("i")


def use(name, win, mem, disp):
    """All kinds of epochs on a window of at least 8 ints; disp(target, index)."""
    value, got, result = array("i", [100 + rank]), array("i", [0]), array("i", [0])

    win.Fence()
    win.Put([value, MPI.INT], right, [disp(right, 0), 1, MPI.INT])
    win.Fence()
    check(f"{name}: put and fence", 100 + left, mem[0])
    win.Get([got, MPI.INT], right, [disp(right, 0), 1, MPI.INT])
    win.Fence(MPI.MODE_NOSUCCEED)
    check(f"{name}: get and fence", 100 + rank, got[0])

    group = win.Get_group()
    to, source = group.Incl([right]), group.Incl([left])
    win.Post(source)
    win.Start(to)
    value[0] = 200 + rank
    win.Put([value, MPI.INT], right, [disp(right, 1), 1, MPI.INT])
    win.Complete()
    win.Wait()
    check(f"{name}: PSCW", 200 + left, mem[1])
    for g in (group, to, source):
        g.Free()

    one = array("i", [1])
    win.Lock(0, MPI.LOCK_SHARED)
    win.Accumulate([one, MPI.INT], 0, [disp(0, 2), 1, MPI.INT], op=MPI.SUM)
    win.Unlock(0)
    win.Lock_all()
    win.Fetch_and_op([one, MPI.INT], [result, MPI.INT], 0, disp(0, 3), op=MPI.SUM)
    win.Flush(0)
    check(f"{name}: fetch_and_op in range", True, 0 <= result[0] < size)
    zero, mine = array("i", [0]), array("i", [7])
    win.Compare_and_swap([mine, MPI.INT], [zero, MPI.INT], [result, MPI.INT], right, disp(right, 4))
    win.Flush(right)
    check(f"{name}: compare_and_swap", 0, result[0])
    request = win.Rput([value, MPI.INT], right, [disp(right, 5), 1, MPI.INT])
    request.Wait()
    win.Unlock_all()
    comm.Barrier()
    win.Lock(rank, MPI.LOCK_SHARED)
    check(f"{name}: rput", 200 + left, mem[5])
    check(f"{name}: compare_and_swap stored", 7, mem[4])
    if rank == 0:
        check(f"{name}: accumulate", size, mem[2])
        check(f"{name}: fetch_and_op sum", size, mem[3])
    win.Unlock(rank)


def about(name, win, flavor):
    """Attributes, name and info."""
    check(f"{name}: flavor", flavor, win.Get_attr(MPI.WIN_CREATE_FLAVOR))
    check(f"{name}: model", MPI.WIN_UNIFIED, win.Get_attr(MPI.WIN_MODEL))
    win.Set_name(name)
    check(f"{name}: name", name, win.Get_name())
    info = win.Get_info()
    check(f"{name}: no_locks", "false", info.Get("no_locks"))
    info.Free()
    win.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        win.Unlock(0)
        check(f"{name}: unlock without lock", "an exception", "none")
    except MPI.Exception as error:
        check(f"{name}: unlock without lock", MPI.ERR_RMA_SYNC, error.Get_error_class())
        said = "MPI_Win_unlock: MPI_ERR_RMA_SYNC: rank = 0: this process does not hold a lock of that rank"
        check(f"{name}: what the exception says", said, str(error)[: len(said)])
    win.Set_errhandler(MPI.ERRORS_ARE_FATAL)


def scaled(_target, index):
    """Displacement in a window with disp_unit of an int."""
    return index


def flavours():
    """Make, use and free a window of each flavour that the path allows."""
    mapped = os.environ.get("MPIRMA_PATH") == "mapped"

    win = MPI.Win.Allocate(8 * INT, INT, comm=comm)
    mem = cells(win)
    mem[:] = array("i", [0] * 8)
    comm.Barrier()
    use("Allocate", win, mem, scaled)
    about("Allocate", win, MPI.WIN_FLAVOR_ALLOCATE)
    mem.release()
    win.Free()

    win = MPI.Win.Allocate_shared(8 * INT, INT, comm=comm)
    mem = cells(win)
    mem[:] = array("i", [0] * 8)
    comm.Barrier()
    use("Allocate_shared", win, mem, scaled)
    about("Allocate_shared", win, MPI.WIN_FLAVOR_SHARED)
    other, unit = win.Shared_query(right)
    check("Shared_query: size and unit", (8 * INT, INT), (memoryview(other).nbytes, unit))
    win.Fence()
    cells(other)[6] = 600 + rank
    win.Fence()
    check("Shared_query: store", 600 + left, mem[6])
    mem.release()
    win.Free()

    block = MPI.Alloc_mem(8 * INT)
    mem = cells(block)
    mem[:] = array("i", [0] * 8)
    win = MPI.Win.Create(block, INT, comm=comm)
    use("Create on Alloc_mem", win, mem, scaled)
    about("Create on Alloc_mem", win, MPI.WIN_FLAVOR_CREATE)
    win.Free()
    mem.release()
    MPI.Free_mem(block)

    if mapped:
        if rank == 0:
            print("SKIP: Create on an array and Create_dynamic: not available on the mapped path", flush=True)
        return
    store = array("i", [0] * 8)
    win = MPI.Win.Create(store, INT, comm=comm)
    use("Create", win, store, scaled)
    about("Create", win, MPI.WIN_FLAVOR_CREATE)
    win.Free()

    store = array("i", [0] * 8)
    win = MPI.Win.Create_dynamic(comm=comm)
    win.Attach(store)
    bases = comm.allgather(MPI.Get_address(store))
    use("Create_dynamic", win, store, lambda target, index: bases[target] + index * INT)
    about("Create_dynamic", win, MPI.WIN_FLAVOR_DYNAMIC)
    win.Detach(store)
    win.Free()


def main():
    """Exit code 1 on every rank if any rank failed."""
    global failed
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        check("libmpi-rma is mapped", True, any("libmpi-rma" in line for line in maps))
    try:
        flavours()
    except Exception:  # the others would wait for ever
        traceback.print_exc()
        sys.stderr.flush()
        comm.Abort(1)
    total = comm.allreduce(failed)
    if rank == 0:
        print(f"mpi4py_windows: {total} failed checks, {size} ranks", flush=True)
    sys.exit(1 if total else 0)


main()
