# SPDX-License-Identifier: BSD-3-Clause
"""python -m mpi_rma [NAME]: print all paths, or the one of this name alone."""

import sys

from . import paths


def main(arguments):
    found = paths()
    if len(arguments) == 1 and arguments[0] in found:
        print(found[arguments[0]])
        return 0
    if arguments:
        print("usage: python -m mpi_rma [%s]" % "|".join(found), file=sys.stderr)
        return 2
    for name, path in found.items():
        print(f"{name:12} {path}")
    return 0


sys.exit(main(sys.argv[1:]))
