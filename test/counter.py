# SPDX-License-Identifier: BSD-3-Clause
"""Prints a counter of files that MPIRMA_STATS=FILE.csv left: python3 test/counter.py RANK NAME FILE.csv...

RANK is a rank, or "all" for the sum over the ranks. Prints nothing and ends with 1 where no file has such a rank
and such a column.
"""
import csv
import sys


def values(rank: str, name: str, paths: list[str]) -> list[int]:
    """Returns the counter of each line of this rank."""
    found = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                if line.get(name) and rank in ("all", line["rank"]):
                    found.append(int(line[name]))
    return found


def main(rank: str, name: str, *paths: str) -> int:
    """Prints the counter; returns the exit code."""
    try:
        found = values(rank, name, list(paths))
    except OSError:
        return 1
    if found:
        print(sum(found))
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
