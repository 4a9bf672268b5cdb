# SPDX-License-Identifier: BSD-3-Clause
"""The figures of doc/report/full-report.md and of README's table of gains, from the directory of scripts/performance.sh.

There are machine, instructions-*.txt, plots, the medians of all rounds as CSV files (those of the halo exchange over
tcp in net), and the rounds themselves in round1 and so on.
"""
import functools
import glob
import os
import re
from typing import Iterator, NamedTuple

import goals
import halo
import instructions
import machine
import memory
import papers
import results
import slower

HOSTS = ("mpich", "openmpi")
RANKS = (2, 4)


class Directory:
    """What a run of scripts/performance.sh has left."""

    def __init__(self, path: str, processors: int = 0):
        self.path = path
        self.processors = processors

    @functools.cached_property
    def machine(self) -> machine.Machine:
        """What the figures depend on."""
        return machine.Machine(os.path.join(self.path, "machine"))

    @functools.cached_property
    def instructions(self) -> instructions.Instructions:
        """The instructions of the shortest calls."""
        return instructions.Instructions(self._files("instructions-*.txt"))

    @functools.cached_property
    def of_goals(self) -> list[results.Measurement]:
        """The runs for the goals, and the hosts' own that have what memory costs them."""
        return results.measurements(self._files("goals-*.csv") + self._files("create-*-host.csv"))

    @functools.cached_property
    def goals(self) -> goals.Goals:
        """What became of the goals."""
        return goals.Goals(self.of_goals, self.processors)

    def _files(self, pattern: str) -> list[str]:
        return sorted(glob.glob(os.path.join(self.path, pattern)))

    def results(self) -> list[str]:
        """Returns the files of bench/rma but those for the goals, which measure again what the others do."""
        return [path for path in sorted(self._files("*-host.csv") + self._files("*-library.csv"))
                if not re.search(r"/goals-|-[24]-[a-z]*\.csv$", path)]

    def plotted(self) -> list[str]:
        """Returns the files that have points of plots: of bench/rma, and of bench/halo within the machine."""
        return self.results() + [path for who in ("host", "library") for path in self._files(f"*-[24]-{who}.csv")]

    def rounds(self) -> list[str]:
        """Returns the files of each round; those for the goals have the bare calls of the machine."""
        found = []
        for folder, _, names in os.walk(self.path):
            if re.match(r"round\d", os.path.relpath(folder, self.path)):
                found += [os.path.join(folder, name) for name in names if name.endswith(("-host.csv", "-library.csv"))]
        return sorted(found)

    def halos(self, folder: str = "") -> Iterator[tuple[str, int, str, halo.Halo]]:
        """Returns host, ranks, the title that the bench gave itself, and both runs of the exchanges in a folder."""
        for host in HOSTS:
            for ranks in RANKS:
                base = os.path.join(self.path, folder, f"{host}-{ranks}")
                if os.path.exists(f"{base}-host.csv"):
                    yield host, ranks, _title(f"{base}-host.txt"), halo.Halo(f"{base}-host.csv", f"{base}-library.csv")


def _title(path: str) -> str:
    """Returns the first line of what bench/halo printed."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().rstrip("\n").removeprefix("halo exchange: ")


class Report(NamedTuple):
    """The lines, and whether something was wrong that they tell of."""
    lines: list[str]
    failed: bool


def report(path: str, processors: int) -> Report:
    """Returns all figures of doc/report/full-report.md."""
    directory = Directory(path, processors)
    failed = False
    lines = [*directory.machine.table(), *directory.instructions.table(), *directory.goals.table(),
             *memory.table(directory.of_goals)]
    lines += ["\n## Halo exchange\n", "Each cell: time of a step over that of MPI_Isend and MPI_Irecv in the same run, by the "
              "host itself / through the library."]
    for folder, where in (("", ""), ("net", ", both over tcp on loopback")):
        for _, _, title, both in directory.halos(folder):
            lines += [f"\n{title}{where}:\n", *both.lines(True, processors)]
            failed = failed or not both.library_in_use()
    lines += [*papers.report(directory.results()), "\n## Plots\n", *_plots(os.path.join(path, "plots")),
              *slower.report(directory.rounds(), 1.1, processors)]
    return Report(lines, failed)


def _plots(path: str) -> Iterator[str]:
    """Returns the plots, of the list that the command plots has printed."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, title, *_ = line.split("|")
            yield f"![{title}](performance/{name}.svg)"
