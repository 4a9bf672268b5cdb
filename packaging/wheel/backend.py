# SPDX-License-Identifier: BSD-3-Clause
"""Build backend of the wheel: it packs what was installed in the directory that MPI_RMA_PREFIX names, and compiles nothing.

Files of that prefix go to the data of the wheel, which pip lays into bin, lib, include and share of the environment.
"""

import base64
import hashlib
import os
import re
import stat
import tomllib
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
# Files of one wheel have one time, so that the same files give the same archive.
TIME = (2026, 1, 1, 0, 0, 0)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def version():
    found = re.search(r"AC_INIT\(\[libmpi-rma\],\[([^]]*)\]", read(os.path.join(TOP, "configure.ac")).decode())
    return found.group(1)


def metadata():
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in licences()),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        read(os.path.join(HERE, project["readme"])).decode(),
    ]
    return "\n".join(lines).encode()


def prefix():
    found = os.environ.get("MPI_RMA_PREFIX")
    if not found:
        raise SystemExit("MPI_RMA_PREFIX names no installed prefix; scripts/wheel.sh makes one")
    return found


def licences():
    """Texts of licences, of this project and of the libraries inside: what lies in the prefix under licences."""
    return sorted(os.listdir(os.path.join(prefix(), "licences")))


def walk(top):
    """Paths of files below top, relative to it. A link is packed as the file that it leads to."""
    for directory, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(directory, name), top)


class Wheel:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, TIME)
        info.external_attr = (stat.S_IFREG | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def add_file(self, name, path):
        self.add(name, read(path), 0o755 if os.access(path, os.X_OK) else 0o644)

    def close(self, name):
        self.record.append(f"{name},,")
        self.zip.writestr(zipfile.ZipInfo(name, TIME), "\n".join(self.record) + "\n")
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = f"py3-none-linux_{os.uname().machine}"
    base = f"mpi_rma-{version()}"
    name = f"{base}-{tag}.whl"
    wheel = Wheel(os.path.join(wheel_directory, name))
    for path in walk(os.path.join(HERE, "mpi_rma")):
        wheel.add_file(f"mpi_rma/{path}", os.path.join(HERE, "mpi_rma", path))
    for path in walk(prefix()):
        if path.startswith("licences/"):
            wheel.add_file(f"{base}.dist-info/{path.replace('licences', 'licenses')}", os.path.join(prefix(), path))
        else:
            wheel.add_file(f"{base}.data/data/{path}", os.path.join(prefix(), path))
    wheel.add(f"{base}.dist-info/METADATA", metadata())
    wheel.add(f"{base}.dist-info/WHEEL",
              f"Wheel-Version: 1.0\nGenerator: mpi-rma\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close(f"{base}.dist-info/RECORD")
    return name
