# SPDX-License-Identifier: BSD-3-Clause
"""ctypes_global.py - a program that loads MPI by ctypes, under mpi-rma-run: the functions that it looks up in the scope of
the whole process are the library's, as the user guide says; those of the handle of libmpi are the host's, past the library.
"""
import ctypes
import os
import sys


class Found(ctypes.Structure):
    """Dl_info."""
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("address", ctypes.c_void_p)]


def owner(function):
    """The file name of the library that has the function."""
    found = Found()
    everything.dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(found))
    return os.path.basename(found.file.decode())


def check(condition, text):
    """Counts what is not as it should be."""
    if not condition:
        print(f"ctypes_global.py: {text}", flush=True)
        failed.append(text)


failed = []
names = {"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}
host = ctypes.CDLL(names[os.environ["MPI_HOST"]], ctypes.RTLD_GLOBAL)
everything = ctypes.CDLL(None)
for name in ("MPI_Init", "MPI_Put", "MPI_Win_create", "MPI_Wait", "MPI_Finalize"):
    saw = owner(everything[name])
    check(saw.startswith("libmpi-rma.so"), f"{name} of the process is that of {saw}")
    saw = owner(host[name])
    check(not saw.startswith("libmpi-rma"), f"{name} of the handle is that of {saw}: the user guide says otherwise")
check(everything.MPI_Init(None, None) == 0, "MPI_Init")
major = ctypes.c_int(-1)
check(everything.MPIRMA_Get_version(ctypes.byref(major), None, None) == 0 and major.value >= 0, "MPIRMA_Get_version")
check(everything.MPI_Finalize() == 0, "MPI_Finalize")
sys.exit(len(failed) != 0)
