# SPDX-License-Identifier: BSD-3-Clause
"""Where the files of libmpi-rma lie, which pip has installed beside this package."""

import os
from importlib import metadata

HOSTS = ("mpich", "openmpi", "abi")


def prefix():
    """The directory that has bin, lib, include and share, wherever pip has put it."""
    for file in metadata.files("mpi-rma") or ():
        if file.parts[-2:] == ("bin", "mpi-rma-run"):
            return os.path.realpath(os.path.join(file.locate(), "..", ".."))
    raise FileNotFoundError("the list of files of mpi-rma has no mpi-rma-run")


def library(host):
    """The library for programs of this host: mpich, openmpi or abi."""
    if host not in HOSTS:
        raise ValueError(f"{host!r}: expected mpich, openmpi or abi")
    return os.path.join(prefix(), "lib", "mpi-rma", host, "libmpi-rma.so")


def paths():
    """What a user or a build may ask for, by name."""
    top = prefix()
    found = {
        "version": metadata.version("mpi-rma"),
        "prefix": top,
        "mpi-rma-run": os.path.join(top, "bin", "mpi-rma-run"),
        "include": os.path.join(top, "include"),
        "pkgconfig": os.path.join(top, "lib", "pkgconfig"),
        "cmake": os.path.join(top, "lib", "cmake", "MPIRMA"),
        "man": os.path.join(top, "share", "man"),
    }
    for host in HOSTS:
        found[host] = library(host)
    return found
