# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of numpy in shared memory (MPIRMA_SHARE_MALLOC=1): windows over them are mapped.

Run under mpi-rma-run, which preloads the library and, in front of it, libmpi-rma-malloc.so. The exit
code is 1 on all ranks if anything was wrong on one.
"""
import subprocess
import sys

from mpi4py import MPI

try:
    import numpy
except ImportError:
    print("SKIP: no numpy")
    sys.exit(77)

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
failures = []


def check(good, what):
    """Notes a failure."""
    if not good:
        failures.append(what)
        print(f"share_malloc.py: rank {rank}: {what}", flush=True)


def exchange(name, array, path):
    """Puts into the right process's array, and gets from the left one's."""
    flat = array.reshape(-1)
    win = MPI.Win.Create(array, array.itemsize, comm=comm)
    info = win.Get_info()
    seen = info.Get("mpirma_path")
    info.Free()
    check(sorted(seen.split(",")) == path, f"{name}: path {seen}, expected {path}")
    win.Fence()
    win.Put(numpy.array([rank + 0.5]), right, (1, 1, MPI.DOUBLE))
    win.Fence()
    check(flat[1] == left + 0.5, f"{name}: {flat[1]} came, expected {left + 0.5}")
    got = numpy.zeros(1)
    win.Lock(left, MPI.LOCK_SHARED)
    win.Get(got, left, (2, 1, MPI.DOUBLE))
    win.Unlock(left)
    check(got[0] == left * 10, f"{name}: {got[0]} was read, expected {left * 10}")
    comm.Barrier()
    win.Free()


def new(elements, make):
    """An array whose element 2 has the rank in it."""
    array = make(elements)
    array[:] = rank * 10
    return array


exchange("zeros", new(1 << 17, numpy.zeros), ["mapped"])
exchange("empty", new(1 << 20, numpy.empty), ["mapped"])
exchange("a part", new(1 << 17, numpy.zeros)[1000:2000], ["mapped"])
exchange("two dimensions", new(1 << 18, numpy.zeros).reshape(512, 512), ["mapped"])
exchange("a small one", new(100, numpy.zeros), ["cma", "mapped"])
grown = new(1 << 15, numpy.zeros)
grown.resize(1 << 18, refcheck=False)
grown[:] = rank * 10
exchange("resized", grown, ["mapped"])

kept = new(1 << 18, numpy.zeros)
said = subprocess.run([sys.executable, "-c", "import array; print(len(array.array('d', bytes(1 << 21))))"],
                      stdout=subprocess.PIPE, check=True).stdout
check(int(said) == 1 << 18, f"a program that was started said {said}")
check((kept == rank * 10).all(), "an array has changed")
total = comm.allreduce(len(failures))
sys.exit(1 if total else 0)
