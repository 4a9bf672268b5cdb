# SPDX-License-Identifier: BSD-3-Clause
"""Recipe of libmpi-rma for Spack. Copy this folder, as libmpi-rma, into the packages of a repository of yours, and set
`git` to where you have the source: the project has no address of its own yet.
"""
from spack.package import *


class LibmpiRma(AutotoolsPackage):
    """One-sided communication of MPI 4.1 beneath an application's own MPI, MPICH or Open MPI."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("otf2", default=True, description="mpi-rma-trace, which makes archives of traces")

    depends_on("c", type="build")
    depends_on("autoconf@2.69:", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("binutils", type="build")  # objdump
    depends_on("mpi")
    depends_on("libfabric@1.17:")
    depends_on("hwloc@2:")
    depends_on("otf2@3:", when="+otf2")
    depends_on("cmocka", type="test")

    requires("^[virtuals=mpi] mpich", "^[virtuals=mpi] openmpi", policy="one_of")
    conflicts("platform=darwin")
    conflicts("platform=windows")

    def autoreconf(self, spec, prefix):
        sh = which("sh")
        sh("./autogen.sh")

    def configure_args(self):
        args = [f"MPICC={self.spec['mpi'].mpicc}"]
        args += self.with_or_without("otf2")
        return args
