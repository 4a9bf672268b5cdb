# SPDX-License-Identifier: BSD-3-Clause
"""What allocating memory and touching it costs, from CSV files of bench/rma."""
from typing import Iterator, Sequence

import results
import words

SIZES = (4096, 1 << 20, 42 << 20, 1 << 30)
# What is measured: what the row says, the same with malloc, operation, memory, bytes; None: each size that was measured.
ROWS = (
    ("first MPI_Alloc_mem of a process, 4 KiB, and one store", "", "first_alloc", "alloc_mem", 4096),
    ("first MPI_Win_allocate of a process, after that", "", "first_window", "allocate", 4096),
    ("MPI_Alloc_mem, one store, MPI_Free_mem, ", "malloc_free", "alloc_free", "alloc_mem", None),
    ("first touch of 128 MiB, for 4 KiB", "malloc_first_touch", "first_touch", "alloc_mem", 128 << 20),
    ("the same with `mpirma_populate`", "", "first_touch", "populated", 128 << 20),
    ("reading 64 MiB in order, for 4 KiB", "malloc_stream", "stream", "alloc_mem", 64 << 20),
    ("reading a byte anywhere in 64 MiB", "malloc_random", "random", "alloc_mem", 64 << 20),
    ("the same with `mpirma_populate`", "", "random", "populated", 64 << 20),
    ("MPI_Win_allocate, one store, MPI_Win_free, ", "", "window", "allocate", None),
)
WHO = [(library, host) for library in (False, True) for host in ("mpich", "openmpi")]


def _bytes(count: int) -> str:
    if count >= 1 << 30 and count % (1 << 30) == 0:
        return f"{count >> 30} GiB"
    return words.size(count) + ("B" if count >= 1024 else " B")


def table(lines: Sequence[results.Measurement]) -> Iterator[str]:
    """Returns the section, of the lines of both hosts, of themselves and with the library."""
    times = {(line.host, line.library, line.op, line.memory, line.bytes): line.ns
             for line in lines if line.suite == "memory"}
    measured = list(dict.fromkeys(line.bytes for line in lines if line.suite == "memory" and line.op == "malloc_free"
                                  and line.bytes in SIZES))
    yield "\n## What memory costs\n"
    yield words.heading(["", "malloc", "MPICH itself", "Open MPI itself", "library on MPICH",
                         "library on Open MPI"]).replace("|  |", "| |")
    for title, malloc, op, memory, count in ROWS:
        for size in measured if count is None else [count]:
            plain = words.time(times.get(("mpich", False, malloc, "", size)))
            cells = [words.time(times.get((host, library, op, memory, size))) for library, host in WHO]
            yield words.row([title + (_bytes(size) if count is None else ""), plain, *cells])
