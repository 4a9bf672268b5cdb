# SPDX-License-Identifier: BSD-3-Clause
"""host_handle.py FILE - what host_handle.c does, by ctypes: all functions are looked up in the handle of an MPI library."""
import ctypes
import sys

host = ctypes.CDLL(sys.argv[1])
try:  # handles are addresses of objects, or integers
    world, integer, no_info = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(host, f"ompi_mpi_{name}")))
                               for name in ("comm_world", "int", "info_null"))
    Win = ctypes.c_void_p
except ValueError:
    if hasattr(host, "MPI_Comm_toint"):  # the standard ABI
        world, integer, no_info = (ctypes.c_void_p(value) for value in (0x101, 0x209, 0x130))
        Win = ctypes.c_void_p
    else:
        world, integer, no_info = (ctypes.c_int(value) for value in (0x44000000, 0x4C000405, 0x1C000000))
        Win = ctypes.c_int

rank, size = ctypes.c_int(), ctypes.c_int()
memory = ctypes.POINTER(ctypes.c_int)()
win = Win()
assert host.MPI_Init(None, None) == 0
host.MPI_Comm_rank(world, ctypes.byref(rank))
host.MPI_Comm_size(world, ctypes.byref(size))
assert host.MPI_Win_allocate(ctypes.c_ssize_t(4), 4, no_info, world, ctypes.byref(memory), ctypes.byref(win)) == 0
memory[0] = -1
host.MPI_Win_fence(0, win)
host.MPI_Put(ctypes.byref(rank), 1, integer, (rank.value + 1) % size.value, ctypes.c_ssize_t(0), 1, integer, win)
host.MPI_Win_fence(0, win)
# In one write: the launcher puts lines of processes together as they come.
sys.stdout.write("received\n" if memory[0] == (rank.value + size.value - 1) % size.value else "FAILED: not received\n")
sys.stdout.flush()
host.MPI_Win_free(ctypes.byref(win))
sys.exit(host.MPI_Finalize())
