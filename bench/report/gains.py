# SPDX-License-Identifier: BSD-3-Clause
"""What a user gains, as one small table of times in Markdown, for README."""
from typing import Iterator

import figures
import halo
import results
import words

HOSTS = figures.HOSTS
HALOS = (
    ("halo exchange, a step of 4 processes, 16 bytes a strip, post-start-complete-wait", "allocate", 16, "pscw"),
    ("halo exchange, a step of 4 processes, 1 MiB a strip, fence", "allocate", 1 << 20, "fence_assert"),
)
PROGRAMS = (("OpenCoarrays' tests", "OpenCoarrays"), ("ARMCI-MPI's tests", "ARMCI-MPI"))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Programs:
    """The rows of real programs that scripts/check-apps.sh has written."""

    def __init__(self, document: str):
        self.rows: dict[str, dict[str, str]] = {}  # by label and host
        columns: list[str] = []
        with open(document, encoding="utf-8") as file:
            for line in file:
                cells = _cells(line)
                if line.startswith("| program |"):
                    columns = cells
                label = next((label for name, label in PROGRAMS if line.startswith(f"| {name}")), None)
                if label and columns:
                    host = "mpich" if cells[columns.index("host")].startswith("MPICH") else "openmpi"
                    self.rows.setdefault(label, {})[host] = self._cell(columns, cells, label)
        if not columns:
            raise results.WrongResults(f"{document}: there is no table with a column 'program'")

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
            tests = f"{of_hosts['tests']} tests: passed, time" if "tests" in of_hosts else "time"
            yield words.row([f"{label}, {tests}", *(of_hosts.get(host, "") for host in HOSTS)])


def _time(run: halo.Run, memory: str, count: int, mode: str) -> str:
    """Returns the time of a step, with its unit; nothing where the run has none."""
    for line in run.lines:
        if (line.memory, line.bytes, line.mode) == (memory, count, mode) and line.us is not None:
            return words.time(line.us * 1000)
    return ""


def _halo_rows(directory: figures.Directory) -> Iterator[str]:
    halos = {host: both for host, ranks, _, both in directory.halos() if ranks == 4}
    for title, memory, count, mode in HALOS:
        cells = [_time(run, memory, count, mode) if run else "" for host in HOSTS
                 for run in ((halos[host].host, halos[host].library) if host in halos else (None, None))]
        yield words.row([title, *cells])


def report(path: str, programs: str) -> Iterator[str]:
    """Returns the table, of the directory of scripts/performance.sh and of the document with the real programs."""
    directory = figures.Directory(path)
    machine = directory.machine.values
    yield f"The times of one machine: {machine.get('processor', '')}; {machine.get('date', '')}.\n"
    yield "| | MPICH | with libmpi-rma | Open MPI | with libmpi-rma |\n|---|--:|--:|--:|--:|"
    yield from _halo_rows(directory)
    yield from Programs(programs).table()
