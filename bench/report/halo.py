# SPDX-License-Identifier: BSD-3-Clause
"""The halo exchange of two runs of bench/halo, the host's and the library's, as one table.

A cell has the time of a step over that of MPI_Isend and MPI_Irecv in the same run, "host / library": "wrong" where
ghost cells were wrong, "n/a" where the exchange could not be measured, "-" where a run has no such line. A "!" marks
the sizes whose MPI_Isend and MPI_Irecv differed by more than half between the two runs.
"""
from typing import Iterator, Optional

import results
import words

TITLES = {"malloc": "MPI_Win_create on malloc", "alloc_mem": "MPI_Win_create on MPI_Alloc_mem",
          "allocate": "MPI_Win_allocate", "shared": "MPI_Win_allocate_shared"}
# Memory of MPI_Alloc_mem is mapped as that of MPI_Win_allocate is; Markdown leaves it out.
IN_MARKDOWN = ("malloc", "allocate")


class Run:
    """One run: its cells by (memory, bytes, mode), and the times of send and receive by (memory, bytes)."""

    def __init__(self, lines: list[results.Exchange], label: str):
        self.label = label
        self.lines = lines
        self.cells: dict[tuple[str, int, str], str] = {}
        self.sends: dict[tuple[str, int], list[float]] = {}
        self.notes: list[str] = []
        for line in lines:
            self.cells[line.memory, line.bytes, line.mode] = self._cell(line)
            if line.isend_us is not None:
                self.sends.setdefault((line.memory, line.bytes), []).append(line.isend_us)

    def _cell(self, line: results.Exchange) -> str:
        if line.ratio is not None:
            return f"{line.ratio:.{2 if line.ratio < 100 else 1}f}"
        wrong = line.reason.startswith("wrong")
        cell = "wrong" if wrong else "n/a"
        where = f" {words.size(line.bytes)}" if wrong else ""
        reason = line.reason.replace('"', "").replace("wrong: rank", "rank", 1)
        note = f"{cell}, {self.label}, {line.memory} {line.mode}{where}: {reason}"
        if note not in self.notes:
            self.notes.append(note)
        return cell

    def send(self, memory: str, count: int) -> Optional[float]:
        """Returns the mean time of MPI_Isend and MPI_Irecv beside the exchanges of this size."""
        times = self.sends.get((memory, count))
        return sum(times) / len(times) if times else None


class Halo:
    """Both runs, with memories, sizes and modes in the order in which they come."""

    def __init__(self, host: str, library: str):
        self.host = Run(results.exchanges(host), "host")
        self.library = Run(results.exchanges(library), "library")
        self.modes: dict[str, list[str]] = {}
        self.sizes: dict[str, list[int]] = {}
        for line in self.host.lines + self.library.lines:
            modes = self.modes.setdefault(line.memory, [])
            sizes = self.sizes.setdefault(line.memory, [])
            if line.mode not in modes:
                modes.append(line.mode)
            if line.bytes not in sizes:
                sizes.append(line.bytes)
        self.marked = False

    def cells(self, memory: str, count: int, mode: str) -> tuple[str, str]:
        """Returns what the host's run and the library's have of an exchange."""
        key = memory, count, mode
        return self.host.cells.get(key, "-"), self.library.cells.get(key, "-")

    def _sends(self, memory: str, count: int) -> tuple[str, str]:
        here, there = self.host.send(memory, count), self.library.send(memory, count)
        apart = here is not None and there is not None and (here > 1.5 * there or there > 1.5 * here)
        self.marked = self.marked or apart
        return ("-" if here is None else words.digits(here),
                ("-" if there is None else words.digits(there)) + ("!" if apart else ""))

    def library_in_use(self) -> bool:
        """Says whether the second run has results, and all of the library."""
        return bool(self.library.lines) and all(line.library for line in self.library.lines)

    def _text(self) -> Iterator[str]:
        for memory, modes in self.modes.items():
            yield f"\n{TITLES.get(memory, '')}: time of a step over isend/irecv's, host / libmpi-rma"
            yield f"{'bytes':>8} {'isend/irecv (us)':>17}" + "".join(f" {mode:>16}" for mode in modes)
            for count in self.sizes[memory]:
                here, there = self._sends(memory, count)
                sends = f"{here} /{there:>7}"
                yield f"{words.size(count):>8} {sends:>17}" + "".join(
                    " {:>7} /{:>7}".format(*self.cells(memory, count, mode)) for mode in modes)

    def _markdown(self) -> Iterator[str]:
        shown = [memory for memory in self.modes if memory in IN_MARKDOWN]
        columns = list(dict.fromkeys(mode for memory in shown for mode in self.modes[memory]))
        yield words.heading(["memory, bytes", "isend/irecv (us)"] + columns)
        for memory in shown:
            for count in self.sizes[memory]:
                cells = [" / ".join(self.cells(memory, count, mode)) if mode in self.modes[memory] else ""
                         for mode in columns]
                yield words.row([f"{memory}, {words.size(count)}", " / ".join(self._sends(memory, count))] + cells)
        for mode, title in (("shm", "Load and store in MPI_Win_allocate_shared"),
                            ("barriers", "The same between two bare barriers")):
            if mode in self.modes.get("shared", []):
                cells = [f"{words.size(count)} " + " / ".join(self.cells("shared", count, mode))
                         for count in self.sizes["shared"]]
                yield f"\n{title}: {'; '.join(cells)}."

    def lines(self, markdown: bool) -> Iterator[str]:
        """Returns the lines of the table, as Markdown or to be read as they are, and the notes below it."""
        yield from self._markdown() if markdown else self._text()
        notes = list(dict.fromkeys(self.host.notes + self.library.notes))
        if markdown and (self.marked or notes):
            yield ""
        if self.marked:
            yield "! isend/irecv took half as long again in one run as in the other: do not compare these two"
        yield from notes
        if not self.library_in_use():
            yield "the library was not in use in its run"
