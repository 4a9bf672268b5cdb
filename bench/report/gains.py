# SPDX-License-Identifier: BSD-3-Clause
"""What a user gains, as one small table in Markdown, for README."""
from typing import Iterator

import figures
import results
import words

HOSTS = figures.HOSTS
HALOS = (
    ("halo exchange, 4 processes, 16 bytes, `MPI_Win_allocate`, post-start-complete-wait", "allocate", 16, "pscw"),
    ("the same, fence with asserts", "allocate", 16, "fence_assert"),
    ("the same, 1 MiB, fence with asserts", "allocate", 1 << 20, "fence_assert"),
    ("the same, 16 bytes of malloc memory, post-start-complete-wait", "malloc", 16, "pscw"),
    ("the same, a lock for each neighbour", "malloc", 16, "lock"),
)
PROGRAMS = (("NWChem: water", "NWChem, water"), ("ARMCI-MPI's tests", "ARMCI-MPI"),
            ("OpenCoarrays' tests", "OpenCoarrays"))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Programs:
    """The rows of real programs that scripts/check-apps.sh has written into README.md."""

    def __init__(self, readme: str):
        self.rows: dict[str, dict[str, str]] = {}  # by label and host
        columns: list[str] = []
        with open(readme, encoding="utf-8") as file:
            for line in file:
                cells = _cells(line)
                if line.startswith("| program |"):
                    columns = cells
                label = next((label for name, label in PROGRAMS if line.startswith(f"| {name}")), None)
                if label and columns:
                    host = "mpich" if cells[columns.index("host")].startswith("MPICH") else "openmpi"
                    self.rows.setdefault(label, {})[host] = self._cell(columns, cells, label)
        if not columns:
            raise results.WrongResults(f"{readme}: there is no table with a column 'program'")

    def _cell(self, columns: list[str], cells: list[str], label: str) -> str:
        """Returns passed and time, of the host and of the library, which has the column right of the host's."""
        passed, time, tests = columns.index("pass: host"), columns.index("time: host"), columns.index("tests")
        if cells[tests] == "1":
            return f"{cells[time]} | {cells[time + 1]}"
        self.rows.setdefault(label, {})["tests"] = cells[tests]
        return f"{cells[passed]}, {cells[time]} | {cells[passed + 1]}, {cells[time + 1]}"

    def table(self) -> Iterator[str]:
        """Returns a row for each program."""
        for label, of_hosts in self.rows.items():
            tests = f", {of_hosts['tests']} tests: passed, time" if "tests" in of_hosts else ""
            yield words.row([label + tests, *(of_hosts.get(host, "") for host in HOSTS)])


def _halo_rows(directory: figures.Directory) -> Iterator[str]:
    halos = {host: both for host, ranks, _, both in directory.halos() if ranks == 4}
    for title, memory, count, mode in HALOS:
        cells = [cell for host in HOSTS for cell in
                 (halos[host].cells(memory, count, mode) if host in halos else ("", ""))]
        yield words.row([title, *cells])


def report(path: str, readme: str) -> Iterator[str]:
    """Returns the table, of the directory of scripts/performance.sh and of README.md."""
    directory = figures.Directory(path)
    machine = directory.machine.values
    yield (f"The host alone and with the library, on one machine ({machine.get('processor', '')}; load "
           f"{machine.get('load before', '')} before the run; {machine.get('date', '')}). [Performance](doc/performance.md)")
    yield "and [Real programs](#real-programs) have the rest, and how to repeat it.\n"
    yield "| | MPICH | with libmpi-rma | Open MPI | with libmpi-rma |\n|---|--:|--:|--:|--:|"
    for title, call in (("instructions of `MPI_Put`, 8 bytes of `MPI_Win_allocate`", "MPI_Put of 8 bytes, mapped"),
                        ("instructions of lock, put of 8 bytes, unlock, the same memory",
                         "lock, put of 8 bytes, unlock, mapped")):
        yield words.row([title, *(directory.instructions.count(call, library, host) for host in HOSTS
                                  for library in (False, True))])
    passive = [directory.goals.outcome("4", "lock, put 8 B, unlock, malloc, target computes", host) for host in HOSTS]
    yield ("| lock, put of 8 bytes, unlock, malloc memory of a target that computes | | "
           f"{passive[0].value} | | {passive[1].value} |")
    yield from _halo_rows(directory)
    yield from Programs(readme).table()
