# SPDX-License-Identifier: BSD-3-Clause
"""The halo exchange of two runs of bench/halo, the host's and the library's, as tables.

A cell has the time of a step over that of MPI_Isend and MPI_Irecv in the same run: "wrong" where ghost cells were
wrong, "n/a" where the exchange could not be measured, "-" where a run has no such line. A "!" marks the sizes whose
MPI_Isend and MPI_Irecv differed by more than half between the two runs. Three sentences say what all cells show.
"""
import statistics
import textwrap
from typing import Iterator, Optional

import results
import words

COLUMNS = 100  # of a terminal

TITLES = {"malloc": "MPI_Win_create on malloc", "alloc_mem": "MPI_Win_create on MPI_Alloc_mem",
          "allocate": "MPI_Win_allocate", "shared": "MPI_Win_allocate_shared"}
# Memory of MPI_Alloc_mem is mapped as that of MPI_Win_allocate is; Markdown leaves it out.
IN_MARKDOWN = ("malloc", "allocate")
# What the exchanges are. Those of MPI's one-sided calls come first, and they alone count in what the tables show.
ONE_SIDED = {
    "fence_assert": "fence, a put to each neighbour, fence, with the assertions that hold",
    "fence": "fence, puts, fence, without assertions",
    "fence_one": "one fence a step, with two buffers in turn",
    "pscw": "post, start, puts, complete, wait",
    "lock": "lock, put, unlock for each neighbour, then a notice to it",
    "lock_all": "puts and a flush in one epoch of lock_all, then notices"}
OTHERS = {
    "isend": "MPI_Isend and MPI_Irecv again",
    "fence_msgs": "messages that a fence cannot do without, by the host",
    "pscw_msgs": "messages that post, start, complete, wait cannot do without, by the host",
    "lock_msgs": "messages that lock, put, unlock cannot do without, by the host",
    "lock_all_msgs": "messages that lock_all cannot do without, by the host",
    "writev": "bare writes by the kernel (process_vm_writev), no one-sided call",
    "shm": "bare copies and flags in shared memory, no one-sided call",
    "barriers": "bare copies in shared memory between two barriers, no one-sided call"}
HOW_TO_READ = """\
A step is the exchange of ghost cells with all four neighbours. The column isend/irecv has the microseconds that \
it takes by MPI_Isend and MPI_Irecv; the others have how many times as long it takes in other ways, in the same run: \
below 1 is less time. "host" is a run with the one-sided calls of the MPI library, "libmpi-rma" one with those of \
this library. "wrong": ghost cells were wrong; "n/a": it could not be measured; "-": it was not measured."""


class Run:
    """One run: its cells by (memory, bytes, mode), and the times of send and receive by (memory, bytes)."""

    def __init__(self, lines: list[results.Exchange], label: str):
        self.label = label
        self.name = "libmpi-rma" if label == "library" else "the host"
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

    def one_sided(self) -> dict[tuple[str, int, str], float]:
        """Returns the ratios to send and receive that MPI's one-sided calls have, by memory, bytes and mode."""
        return {(line.memory, line.bytes, line.mode): line.ratio for line in self.lines
                if line.mode in ONE_SIDED and line.ratio is not None}

    def send(self, memory: str, count: int) -> Optional[float]:
        """Returns the mean time of MPI_Isend and MPI_Irecv beside the exchanges of this size."""
        times = self.sends.get((memory, count))
        return sum(times) / len(times) if times else None


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _extreme(ratios: dict[tuple[str, int, str], float], choose) -> str:
    memory, count, mode = choose(ratios, key=lambda cell: ratios[cell])
    return f"{_times(ratios[memory, count, mode])} ({mode}, {words.size(count)} bytes, {memory})"


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

    def _apart(self, memory: str, count: int) -> bool:
        """Says whether MPI_Isend and MPI_Irecv differed so much between the runs that these cannot be compared."""
        here, there = self.host.send(memory, count), self.library.send(memory, count)
        return here is not None and there is not None and (here > 1.5 * there or there > 1.5 * here)

    def _sends(self, memory: str, count: int) -> tuple[str, str]:
        here, there = self.host.send(memory, count), self.library.send(memory, count)
        apart = self._apart(memory, count)
        self.marked = self.marked or apart
        return ("-" if here is None else words.digits(here),
                ("-" if there is None else words.digits(there)) + ("!" if apart else ""))

    def library_in_use(self) -> bool:
        """Says whether the second run has results, and all of the library."""
        return bool(self.library.lines) and all(line.library for line in self.library.lines)

    def _table(self, memory: str, modes: list[str]) -> Iterator[str]:
        widths = [2 + max(6, len(mode)) for mode in modes]
        yield f"\n{TITLES.get(memory, memory)}"
        yield f"{'bytes':>7}  {'':10} {'isend/irecv':>11}" + "".join(
            f"{mode:>{width}}" for mode, width in zip(modes, widths))
        for count in self.sizes[memory]:
            both = zip((words.size(count), ""), ("host", "libmpi-rma"), self._sends(memory, count),
                       zip(*(self.cells(memory, count, mode) for mode in modes)))
            for size, who, send, cells in both:
                yield f"{size:>7}  {who:10} {send:>11}" + "".join(
                    f"{cell:>{width}}" for cell, width in zip(cells, widths))

    def _text(self) -> Iterator[str]:
        for memory, modes in self.modes.items():
            left = list(modes)
            while left:
                fit = 1
                while fit < len(left) and 31 + sum(2 + max(6, len(mode)) for mode in left[:fit + 1]) <= COLUMNS:
                    fit += 1
                yield from self._table(memory, left[:fit])
                del left[:fit]

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

    def legend(self) -> Iterator[str]:
        """Returns how the tables are read, and what the exchanges in them are."""
        yield ""
        yield from textwrap.wrap(HOW_TO_READ, COLUMNS)
        measured = {mode for modes in self.modes.values() for mode in modes}
        for mode, meaning in {**ONE_SIDED, **OTHERS}.items():
            if mode in measured:
                yield f"  {mode:13}  {meaning}"

    def ranks(self) -> int:
        """Returns the number of ranks."""
        return max((line.ranks for line in self.host.lines + self.library.lines), default=0)

    def shown(self) -> Iterator[str]:
        """Returns three sentences: what the library's one-sided calls take, what the host's do, and both compared."""
        for run in (self.library, self.host):
            ratios = run.one_sided()
            if not ratios:
                continue
            yield (f"One-sided calls of {run.name} take less time than isend/irecv in {sum(ratio < 1 for ratio in ratios.values())} "
                   f"of {len(ratios)} cells: {_times(statistics.median(ratios.values()))} times at the median, "
                   f"{_extreme(ratios, min)} at best, {_extreme(ratios, max)} at worst.")
        here, there = self.host.one_sided(), self.library.one_sided()
        both = {cell: there[cell] / here[cell] for cell in here if cell in there and not self._apart(*cell[:2])}
        if both:
            yield (f"Beside isend/irecv of its run libmpi-rma takes less time than the host in {sum(ratio < 1 for ratio in both.values())} "
                   f"of {len(both)} cells: {_times(statistics.median(both.values()))} times the host's at the median, "
                   f"{_extreme(both, min)} at best, {_extreme(both, max)} at worst.")
        elif here and there:
            yield "The two cannot be compared: isend/irecv differed too much between their runs, at every size."

    def lines(self, markdown: bool, processors: int, legend: bool = False) -> Iterator[str]:
        """Returns the lines of the tables, as Markdown or to be read as they are, the notes below them, and in the
        second case what they show; and says where ranks had to share processors."""
        if legend:
            yield from self.legend()
        if self.ranks() > processors:
            yield from textwrap.wrap(f"There are more ranks than processors, {self.ranks()} on {processors}: the times measure how "
                                     "the scheduler gives them turns.", COLUMNS)
        if markdown and self.ranks() > processors:
            yield ""
        yield from self._markdown() if markdown else self._text()
        notes = list(dict.fromkeys(self.host.notes + self.library.notes))
        if markdown and (self.marked or notes):
            yield ""
        if self.marked:
            yield "! isend/irecv took half as long again in one run as in the other: do not compare these two"
        for note in notes:
            yield from [note] if markdown else textwrap.wrap(note, COLUMNS)
        if not markdown:
            yield ""
            for sentence in self.shown():
                yield from textwrap.wrap(sentence, COLUMNS)
        if not self.library_in_use():
            yield "the library was not in use in its run"
