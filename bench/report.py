# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables and plots of what the benches leave as CSV files: python3 bench/report.py COMMAND..., see --help.

A line of bench/rma or bench/net is one operation, a line of bench/halo one way to exchange halos. A file without any
line has no results: a run that failed leaves such a file. A file that has lines must have every column that is asked
for, and numbers where numbers are due.

Exit code: 0, 1 where a result is bad (each command says which), 2 for wrong arguments and for files that cannot be
read: the message names the file, and the column that is not there.
"""
import argparse
import csv
import dataclasses
import itertools
import math
import os
import statistics
import sys
import textwrap
from typing import Callable, Iterable, Iterator, NamedTuple, Optional, Sequence

import plot


class WrongResults(Exception):
    """A file that cannot be read as results; the text names it and says what is wrong."""


@dataclasses.dataclass(frozen=True)
class Measurement:
    """A line of bench/rma or bench/net: one operation. Times are nanoseconds, None where nothing was measured."""
    path: str
    host: str
    library: bool
    ranks: int
    suite: str
    op: str
    memory: str
    sync: str
    bytes: int
    ns: Optional[float]
    ns_min: Optional[float]
    ns_max: Optional[float]
    line_ns: Optional[float]  # what a cache line took from one processor to the other
    of_ns: Optional[float]    # of this operation, in turns with what is beside it
    beside_ns: Optional[float]
    note: str


DOUBTFUL = 0.25  # a spread over this; bench/halo/measure.c has the same


@dataclasses.dataclass(frozen=True)
class Exchange:
    """A line of bench/halo: a way to exchange halos. None where nothing was measured; reason says why."""
    path: str
    host: str
    library: bool
    ranks: int
    memory: str
    bytes: int
    mode: str
    isend_us: Optional[float]
    us: Optional[float]
    ratio: Optional[float]
    spread: Optional[float]  # from the lower to the upper quartile of the ratios of its repetitions, over their median
    reason: str

    @property
    def doubtful(self) -> bool:
        """Says whether the repetitions differ so much that something else must have kept the processors busy."""
        return self.spread is not None and self.spread > DOUBTFUL


def _number(text: str) -> Optional[float]:
    return float(text) if text else None


_PARSERS: dict[object, Callable] = {
    str: str, int: int, bool: lambda text: bool(int(text)), Optional[float]: _number}


class Table:
    """A CSV file: its columns, and its rows as the texts that stand there."""

    def __init__(self, path: str):
        self.path = path
        try:
            with open(path, newline="", encoding="utf-8", errors="replace") as file:
                reader = csv.DictReader(file, restval="")
                self.columns = list(reader.fieldnames or [])
                self.rows = list(reader)
        except (OSError, csv.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise WrongResults(f"{path}: cannot be read: {reason}") from error

    def require(self, columns: Sequence[str]) -> None:
        """Raises WrongResults unless the file has these columns, or has no line at all."""
        for column in columns:
            if self.columns and column not in self.columns:
                raise WrongResults(f"{self.path}: there is no column '{column}' among {', '.join(self.columns)}")

    def records(self, kind: type) -> list:
        """Returns the rows as records of this dataclass, whose fields are columns, but for path."""
        fields = [field for field in dataclasses.fields(kind) if field.name != "path"]
        self.require([field.name for field in fields])
        return [kind(self.path, *(self._value(number, row, field) for field in fields))
                for number, row in enumerate(self.rows, 1)]

    def _value(self, number: int, row: dict[str, str], field):
        try:
            return _PARSERS[field.type](row[field.name])
        except ValueError as error:
            raise WrongResults(f"{self.path}: result {number} has '{row[field.name]}' in column '{field.name}', "
                               "which must be a number") from error


def measurements(paths: Sequence[str]) -> list[Measurement]:
    """Returns the lines of all these files of bench/rma and bench/net, in their order."""
    return [one for path in paths for one in Table(path).records(Measurement)]


def exchanges(path: str) -> list[Exchange]:
    """Returns the lines of a file of bench/halo."""
    return Table(path).records(Exchange)


# ---- how the tables write hosts, numbers of bytes and times ---------------------------------------------------------------


def host_name(tag: str) -> str:
    """Returns the name of a host as it writes it itself."""
    return {"mpich": "MPICH", "openmpi": "Open MPI"}.get(tag, tag)


def size(count: int) -> str:
    """Returns a number of bytes, in Ki or Mi where it is a whole number of these."""
    for unit, name in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{name}"
    return str(count)


def digits(value: float) -> str:
    """Returns a number of microseconds with three digits, or all before the point."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def three_digits(ns: Optional[float]) -> str:
    """Returns nanoseconds with the unit that suits them and three digits, or all before the point; "n/a" if they are None."""
    if ns is None:
        return "n/a"
    for unit, name in ((1, "ns"), (1e3, "us"), (1e6, "ms")):
        if ns < 1000 * unit:
            return f"{digits(ns / unit)} {name}"
    return f"{digits(ns / 1e9)} s"


# ---- the halo exchange of two runs, the host's and the library's ------------------------------------------------------------
#
# A cell has the time of a step over that of MPI_Isend and MPI_Irecv in the same run: "wrong" where ghost cells were
# wrong, "n/a" where the exchange could not be measured, "-" where a run has no such line. A "!" marks the sizes whose
# MPI_Isend and MPI_Irecv differed by more than half between the two runs, a "?" the cells that are doubtful. Three sentences
# say what the other cells show.

COLUMNS = 80  # of a terminal

TITLES = {"malloc": "MPI_Win_create on malloc", "alloc_mem": "MPI_Win_create on MPI_Alloc_mem",
          "allocate": "MPI_Win_allocate", "shared": "MPI_Win_allocate_shared"}
# What the exchanges are. Those of MPI's one-sided calls come first, and they alone count in what the tables show.
ONE_SIDED = {
    "fence_assert": "fence, puts, fence, with the assertions that hold",
    "fence": "fence, a put to each neighbour, fence, without assertions",
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


class HaloRun:
    """One run: its cells by (memory, bytes, mode), and the times of send and receive by (memory, bytes)."""

    def __init__(self, lines: list[Exchange], label: str):
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

    def _cell(self, line: Exchange) -> str:
        if line.ratio is not None:
            return f"{line.ratio:.{2 if line.ratio < 100 else 1}f}{'?' if line.doubtful else ''}"
        wrong = line.reason.startswith("wrong")
        cell = "wrong" if wrong else "n/a"
        where = f" {size(line.bytes)}" if wrong else ""
        reason = line.reason.replace('"', "").replace("wrong: rank", "rank", 1)
        note = f"{cell}, {self.label}, {line.memory} {line.mode}{where}: {reason}"
        if note not in self.notes:
            self.notes.append(note)
        return cell

    def one_sided(self) -> dict[tuple[str, int, str], float]:
        """Returns the ratios to send and receive that MPI's one-sided calls have, by memory, bytes and mode."""
        return {(line.memory, line.bytes, line.mode): line.ratio for line in self.lines
                if line.mode in ONE_SIDED and line.ratio is not None and not line.doubtful}

    def doubtful(self) -> int:
        """Returns how many cells are doubtful."""
        return sum(line.doubtful for line in self.lines)

    def send(self, memory: str, count: int) -> Optional[float]:
        """Returns the mean time of MPI_Isend and MPI_Irecv beside the exchanges of this size."""
        times = self.sends.get((memory, count))
        return sum(times) / len(times) if times else None


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _extreme(ratios: dict[tuple[str, int, str], float], choose) -> str:
    memory, count, mode = choose(ratios, key=lambda cell: ratios[cell])
    return f"{_times(ratios[memory, count, mode])} ({mode}, {size(count)} bytes, {memory})"


class Halo:
    """Both runs, with memories, sizes and modes in the order in which they come."""

    def __init__(self, host: str, library: str):
        self.host = HaloRun(exchanges(host), "host")
        self.library = HaloRun(exchanges(library), "library")
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
        return ("-" if here is None else digits(here),
                ("-" if there is None else digits(there)) + ("!" if apart else ""))

    def library_in_use(self) -> bool:
        """Says whether the second run has results, and all of the library."""
        return bool(self.library.lines) and all(line.library for line in self.library.lines)

    def _table(self, memory: str, modes: list[str]) -> Iterator[str]:
        widths = [2 + max(6, len(mode)) for mode in modes]
        yield f"\n{TITLES.get(memory, memory)}"
        yield f"{'bytes':>7}  {'':10} {'isend/irecv':>11}" + "".join(
            f"{mode:>{width}}" for mode, width in zip(modes, widths))
        for count in self.sizes[memory]:
            both = zip((size(count), ""), ("host", "libmpi-rma"), self._sends(memory, count),
                       zip(*(self.cells(memory, count, mode) for mode in modes)))
            for number, who, send, cells in both:
                yield f"{number:>7}  {who:10} {send:>11}" + "".join(
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

    def legend(self) -> Iterator[str]:
        """Returns how the tables are read, and what the exchanges in them are."""
        yield ""
        yield from textwrap.wrap(HOW_TO_READ, COLUMNS)
        measured = {mode for modes in self.modes.values() for mode in modes}
        for mode, meaning in {**ONE_SIDED, **OTHERS}.items():
            if mode in measured:
                yield from textwrap.wrap(f"  {mode:13}  {meaning}", COLUMNS, subsequent_indent=" " * 17)

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

    def lines(self, processors: int, legend: bool = False) -> Iterator[str]:
        """Returns the tables, the notes below them and what they show; and says where ranks had to share processors."""
        if legend:
            yield from self.legend()
        if self.ranks() > processors:
            yield from textwrap.wrap(f"There are more ranks than processors, {self.ranks()} on {processors}: the times measure how "
                                     "the scheduler gives them turns.", COLUMNS)
        yield from self._text()
        if self.marked:
            yield from textwrap.wrap("! isend/irecv took half as long again in one run as in the other: do not compare these two",
                                     COLUMNS)
        doubtful = self.host.doubtful() + self.library.doubtful()
        if doubtful:
            yield from textwrap.wrap(f"? The repetitions of {doubtful} cells differ by more than a quarter: something else kept the "
                                     "processors busy. These cells do not count in what follows.", COLUMNS)
        for note in dict.fromkeys(self.host.notes + self.library.notes):
            yield from textwrap.wrap(note, COLUMNS)
        yield ""
        for sentence in self.shown():
            yield from textwrap.wrap(sentence, COLUMNS)
        if not self.library_in_use():
            yield "the library was not in use in its run"


# ---- the limits of bench/goals/limits.csv, and what a run of bench/rma/rma says of each ---------------------------------
#
# A line of the table names a measurement (suite, op, memory, sync, bytes) and what it may be:
#
#   goal      its number. One with a plus sign compares with something else beside a goal, and decides nothing
#   host      the limit is that of this host alone; nothing: of each
#   when      the limit is that of runs where this is so; nothing: of all
#   what      how it is called; {size}, {ranks} and {processors} are put in
#   measure   "time": at most so many nanoseconds. "rate": at least this share of the rate of something bare. "growth": at
#             most so many times what it takes with 0 bytes
#   memory    "mapped": of the kinds of window whose memory others map, the one that is slowest beside its limit
#   bytes     a number, or with "+" all that were measured from there on
#   beside    the anchor that was measured in turns with the operation; then their pair of blocks counts
#   factor    of what the limit is made of, the anchor or measurement `of` with of_bytes ("same": as many as the operation's).
#             Of a suite other than anchors it is written suite/op
#   times     "log2 P": of the number of ranks, upwards
#   plus_ns   and so many nanoseconds
#   plus_of   and what this takes
#   calls     the standard prescribes so many calls: a line beside the goal (+K) allows for an empty call for each
#
# Times that were measured beside an anchor are those of the pair of blocks with the median ratio.

LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "goals", "limits.csv")
MAPPED = ("allocate", "alloc_mem", "shared")
# How the limits name what they are made of.
NAMES = {"cache_line": "C", "fetch_add": "A", "cas": "A", "memcpy": "M", "cma_write": "S", "cma_read": "R", "switch": "X",
         "call": "K", "add": "the add loop", "fetch_add_both": "the bare rate", "cas_both": "the bare rate",
         "fetch_add_both_called": "bare and 2 calls", "cas_both_called": "bare and 2 calls",
         "cma_acc": "the kernel's way", "cma_acc_strided": "bare read, 8 pieces",
         "create/allgather_barrier": "(Allgather + Barrier)", "create/segment": "seg", "skew/copies": "bare copies' growth"}
WHEN = {
    "": lambda run: True,
    "a processor for each of 3 ranks or more": lambda run: 2 < run.ranks <= run.processors,
    "more ranks than processors": lambda run: run.ranks > run.processors,
}
UNITS = {"K": 1 << 10, "M": 1 << 20}


@dataclasses.dataclass(frozen=True)
class Limit:
    """A line of the table."""
    path: str
    goal: str
    host: str
    when: str
    what: str
    measure: str
    suite: str
    op: str
    memory: str
    sync: str
    bytes: str
    beside: str
    factor: Optional[float]
    of: str
    of_bytes: str
    times: str
    plus_ns: Optional[float]
    plus_of: str
    calls: Optional[float]

    @property
    def from_bytes(self) -> int:
        """The bytes of the operation, or the least of them."""
        digits = self.bytes.rstrip("+")
        unit = UNITS.get(digits[-1:], 1)
        return int(digits[:-1] if unit > 1 else digits) * unit

    @property
    def all_sizes(self) -> bool:
        """Says whether it is one for all sizes from from_bytes on."""
        return self.bytes.endswith("+")

    def text(self, calls: int = 0) -> str:
        """Returns the limit in words, without whether it is the least or the most; and so many calls."""
        name = NAMES.get(self.of, self.of)
        if self.measure == "growth":
            return f"{self.factor:.2f} of {name or 'it without'}"
        if self.measure == "rate":
            return f"{self.factor:.2f} of {name}{'(s)' if self.all_sizes else ''}"
        terms = [" ".join(term for term in ("" if self.factor == 1 else f"{self.factor:g}", name, self.times) if term)
                 ] if self.factor else []
        terms += [f"{self.plus_ns:g} ns"] if self.plus_ns else []
        terms += [NAMES.get(self.plus_of, self.plus_of)] if self.plus_of else []
        terms += [f"{calls} K"] if calls else []
        return " + ".join(terms)


def read_limits(path: str = LIMITS) -> list[Limit]:
    """Returns the limits of a table. Raises WrongResults where a line is none."""
    limits = Table(path).records(Limit)
    for number, limit in enumerate(limits, 1):
        for column, known in (("measure", ("time", "rate", "growth")), ("when", WHEN), ("times", ("", "log2 P"))):
            if getattr(limit, column) not in known:
                raise WrongResults(f"{path}: limit {number} has '{getattr(limit, column)}' in column '{column}', "
                                           f"which must be one of {', '.join(map(repr, known))}")
        try:
            _ = limit.from_bytes, limit.of_bytes in ("", "same") or int(limit.of_bytes)
        except ValueError as error:
            raise WrongResults(f"{path}: limit {number}, {limit.what}: a number of bytes is none") from error
    return limits


class Outcome(NamedTuple):
    """What became of a limit in a run: times in nanoseconds, or ratios; None where they were not measured."""
    goal: str
    what: str
    at_least: bool
    limit: str
    is_time: bool
    value: Optional[float]
    bound: Optional[float]

    @property
    def decides(self) -> bool:
        """Says whether it is that of a goal, and not beside one."""
        return "+" not in self.goal

    @property
    def met(self) -> Optional[bool]:
        """Says whether the limit holds; None: it was not measured."""
        if self.value is None or self.bound is None:
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def verdict(self) -> str:
        """What is said of it."""
        if self.met is None:
            return "not measured"
        return ("" if self.met else "NOT ") + ("met" if self.decides else "within")


class _Pair(NamedTuple):
    """An operation's time, and that of what is beside it; None where they were not measured."""
    of: Optional[float]
    bare: Optional[float]

    def slowness(self) -> float:
        """Returns the ratio; the time alone where there is nothing beside it, which is so of all kinds then."""
        return -math.inf if self.of is None else self.of / (self.bare or 1)


class Run:
    """The measurements of a run of bench/rma/rma, by the library or by a host itself."""

    def __init__(self, lines: Iterable[Measurement], processors: int):
        self.lines = {}
        for line in lines:
            self.lines.setdefault((line.suite, line.op, line.memory, line.sync, line.bytes), line)
        first = next(iter(self.lines.values()))
        self.host, self.library, self.ranks, self.processors = first.host, first.library, first.ranks, processors

    def _line(self, *key) -> Optional[Measurement]:
        line = self.lines.get(key)
        return line if line and line.ns is not None else None

    def time(self, name: str, count: int, memory: str = "") -> Optional[float]:
        """Returns what an anchor, or what is named suite/op, takes, for this kind of window if it has one."""
        suite, _, op = name.rpartition("/")
        line = self._line(suite or "anchors", op, memory, "", count) or self._line(suite or "anchors", op, "", "", count)
        return line.ns if line else None

    def _pair(self, limit: Limit, memory: str, count: int) -> _Pair:
        """Returns the operation and what the limit is made of; both of one pair of blocks where these were in turns."""
        line = self._line(limit.suite, limit.op, memory, limit.sync, count)
        of_bytes = count if limit.of_bytes == "same" else int(limit.of_bytes or 0)
        bare = self.time(limit.of, of_bytes, memory) if limit.of else None
        if line is None or not (limit.beside and line.of_ns and line.beside_ns):
            return _Pair(line.ns if line else None, bare)
        if limit.beside == limit.of:
            return _Pair(line.of_ns, line.beside_ns)
        anchor = self.time(limit.beside, of_bytes)
        return _Pair(line.of_ns, line.beside_ns * bare / anchor if bare and anchor else None)

    def _worst(self, limit: Limit, count: int) -> _Pair:
        if limit.memory != "mapped":
            return self._pair(limit, limit.memory, count)
        pairs = [self._pair(limit, memory, count) for memory in MAPPED]
        return max(pairs, key=_Pair.slowness)

    def _growth(self, limit: Limit, count: int) -> tuple[Optional[float], Optional[float]]:
        def grown(suite: str, op: str, sync: str) -> Optional[float]:
            small, large = (self._line(suite, op, limit.memory, sync, size) for size in (0, count))
            return large.ns / small.ns if small and large and small.ns else None

        bound = grown(*limit.of.split("/"), "") if limit.of else 1
        return grown(limit.suite, limit.op, limit.sync), None if bound is None else limit.factor * bound

    def _numbers(self, limit: Limit, count: int) -> tuple[Optional[float], Optional[float]]:
        """Returns the value and the bound."""
        if limit.measure == "growth":
            return self._growth(limit, count)
        pair = self._worst(limit, count)
        if limit.measure == "rate":
            return pair.bare / pair.of if pair.bare and pair.of else None, limit.factor
        terms = [limit.plus_ns or 0]
        if limit.of:
            times = math.ceil(math.log2(self.ranks)) if limit.times else 1
            terms.append(None if pair.bare is None else limit.factor * times * pair.bare)
        if limit.plus_of:
            terms.append(self.time(limit.plus_of, count))
        return pair.of, None if None in terms else sum(terms)

    def _sizes(self, limit: Limit) -> list[int]:
        if not limit.all_sizes:
            return [limit.from_bytes]
        measured = {line.bytes for line in self.lines.values() if (line.suite, line.op) == (limit.suite, limit.op)}
        return sorted(count for count in measured if count >= limit.from_bytes) or [limit.from_bytes]

    def outcomes(self, limits: Iterable[Limit]) -> Iterator[Outcome]:
        """Returns what becomes of the limits that are those of this run."""
        for limit in limits:
            if limit.host not in ("", self.host) or not WHEN[limit.when](self):
                continue
            for count in self._sizes(limit):
                what = limit.what.format(size=size(count), ranks=self.ranks, processors=self.processors)
                value, bound = self._numbers(limit, count)
                one = Outcome(limit.goal, what, limit.measure == "rate", limit.text(), limit.measure == "time", value, bound)
                yield one
                if limit.calls:
                    call = self.time("call", 0)
                    allowed = None if bound is None or call is None else bound + limit.calls * call
                    yield one._replace(goal=limit.goal + "+K", limit=limit.text(int(limit.calls)), bound=allowed)


def runs(lines: Iterable[Measurement], processors: int) -> list[Run]:
    """Returns the runs that these lines are of: of each host, by the library or itself, with each number of ranks."""
    of_runs: dict[tuple[str, bool, int], list[Measurement]] = {}
    for line in lines:
        of_runs.setdefault((line.host, line.library, line.ranks), []).append(line)
    return [Run(one, processors) for one in of_runs.values()]


# What limits are made of.
ANCHORS = (
    ("C", "cache_line", 0, "a cache line from one processor to the other"),
    ("A", "fetch_add", 8, "an atomic addition"),
    ("M", "memcpy", 8, "memcpy of 8 bytes"),
    ("S", "cma_write", 8, "process_vm_writev of 8 bytes"),
    ("K", "call", 0, "a call of an empty function of another library"),
)


def _heading(run: Run) -> Iterator[str]:
    by = "libmpi-rma" if run.library else "the host itself"
    over = "; more ranks than processors" if run.ranks > run.processors else ""
    yield f"goals: {run.ranks} ranks, {host_name(run.host)}, one-sided calls by {by}; {run.processors} processors{over}"
    yield ", ".join(f"{letter} {three_digits(run.time(op, count))}" for letter, op, count, _ in ANCHORS)


def _shown(one: Outcome, number: Optional[float]) -> str:
    return three_digits(number) if one.is_time or number is None else f"{number:.3f}"


def _line(one: Outcome) -> str:
    return (f"{one.goal:<4} {one.what:<66} {_shown(one, one.value):>10}  {'>=' if one.at_least else '<='} {one.limit:<29} = "
            f"{_shown(one, one.bound):>10}  {one.verdict}")


class Judged:
    """The lines of all runs of these files, and whether there is a goal that is not met."""

    def __init__(self, files: Sequence[str], table: str, processors: int, measured_only: bool):
        read = read_limits(table)
        self.lines: list[str] = []
        self.missed = False
        for run in runs(measurements(files), processors):
            outcomes = list(run.outcomes(read))
            met = [one.met for one in outcomes if one.decides]
            within = [one.met for one in outcomes if not one.decides]
            self.missed = self.missed or False in met
            self.lines += [*([""] if self.lines else []), *_heading(run)]
            self.lines += [_line(one) for one in outcomes if one.met is not None or not measured_only]
            self.lines.append(f"{met.count(True)} met, {met.count(False)} not met, {met.count(None)} not measured; lines beside "
                              f"a goal (+K, +M, +S): {within.count(True)} within, {within.count(False)} not")


# ---- where the library is slower than the better host ---------------------------------------------------------------------
#
# The library's time over the better host's is listed for everything that both have measured, worst first. Of several
# runs of one host, or of the library on it, the fastest counts. Where the distance of the two processors changes (a
# cache line takes more than twice the shortest time of all), only what found it alike is compared.

# What the suites measure to hold the rest against is no one-sided call: the host's collectives, a segment by system
# calls, memory of malloc.
REFERENCES = {("create", "allgather_barrier"), ("create", "segment"), ("active", "barrier"), ("memory", "malloc_free"),
              ("memory", "malloc_first_touch"), ("memory", "malloc_stream"), ("memory", "malloc_random")}
DISTANCES = ("near", "far", "-")


class Case(NamedTuple):
    """What says which measurement it is, but for who made it."""
    ranks: int
    suite: str
    op: str
    memory: str
    sync: str
    bytes: int


class Comparison:
    """The fastest times: of any host by distance and case, and of the library by its host as well."""

    def __init__(self, paths: Sequence[str]):
        lines = [line for line in measurements(paths)
                 if line.ns is not None and line.suite != "anchors"
                 and (line.suite, line.op) not in REFERENCES]
        self.nearest = min((line.line_ns for line in lines if line.line_ns), default=0)
        self.hosts: dict[tuple[str, Case], tuple[float, str]] = {}
        self.library: dict[tuple[str, str, Case], float] = {}
        self.seen: dict[tuple[str, Case], None] = {}
        for line in lines:
            self._add(line)

    def _add(self, line: Measurement) -> None:
        case = Case(line.ranks, line.suite, line.op, line.memory, line.sync, line.bytes)
        at = "-" if not line.line_ns else "near" if line.line_ns <= 2 * self.nearest else "far"
        if line.library:
            self.seen[line.host, case] = None
            known = self.library.get((at, line.host, case))
            if known is None or line.ns < known:
                self.library[at, line.host, case] = line.ns
        elif (at, case) not in self.hosts or line.ns < self.hosts[at, case][0]:
            self.hosts[at, case] = line.ns, line.host

    def _both(self, at: str, host: str, case: Case) -> bool:
        return (at, host, case) in self.library and self.hosts.get((at, case), (0, ""))[0] > 0

    def report(self, factor: float) -> tuple[list[str], int]:
        """Returns the lines, and how many measurements are slower; without lines nothing can be compared."""
        compared = clearly = apart = 0
        slower = []
        for host, case in self.seen:
            at = next((at for at in DISTANCES if self._both(at, host, case)), None)
            if at is None:
                apart += ("near", case) in self.hosts or ("far", case) in self.hosts
                continue
            compared += 1
            mine, (best, who) = self.library[at, host, case], self.hosts[at, case]
            clearly += mine / best > 1.05
            if mine / best > factor:
                slower.append(f"{mine / best:8.2f}  {host:<8} P={case.ranks:<3} {case.suite:<8} {case.op:<24} "
                              f"{case.memory:<10} {case.sync:<9} {case.bytes:>10}  {mine:14.1f} {best:14.1f} ({who}) {at}")
        if not compared:
            return [], 0
        lines = [f"{len(slower)} of {compared} measurements slower than {factor:.2f} times the better host"]
        if slower:
            lines.append(f"{'ratio':>8}  {'library':<8} {'ranks':<5} {'suite':<8} {'operation':<24} {'memory':<10} {'sync':<9} "
                         f"{'bytes':>10}  {'library ns':>14} {'host ns':>14}")
            lines += sorted(slower, key=lambda line: (float(line.split()[0]), line), reverse=True)
        lines.append(f"slower by more than 5 %: {clearly} of {compared}; {apart} found the processors never as far as a "
                     "host did")
        return lines, len(slower)


# ---- what grows with the number of ranks -------------------------------------------------------------------------------------
#
# Goal 3: a fence takes steps of log2 P; where ranks share processors each step also waits for as many switches as
# there are ranks on a processor. Goal 11: lock_all is one atomic and a flush of nothing touches nothing, whatever P.
# The shortest block counts: with more ranks than processors the median has others' time in it.


def _verdict(goal: str, case: str, ranks: tuple[int, int], value: float, limit: float, unit: str, text: str) -> str:
    before, now = ranks
    return (f"{goal:<4} {case:<50} {now:2d} ranks over {before:2d}: {value:8.2f}{unit}  <= {text:<34} = {limit:8.2f}{unit}"
            f"  {'met' if value <= limit else 'NOT met'}")


def _judge(op: str, suite: str, case: str, ranks: tuple[int, int], times: tuple[float, float],
           processors: int) -> Iterator[str]:
    before, now = ranks
    crowd = [max(count / processors, 1) for count in ranks]
    if op == "fence" and (before > 2 or crowd[1] == 1):
        limit = 1.1 * math.log(now) / math.log(before) * crowd[1] / crowd[0]
        yield _verdict("3", case, ranks, times[1] / times[0], limit, "   ", "1.1 x steps x ranks a processor")
    elif suite == "calls" and (op == "lock_all" or op.startswith("flush")):
        yield _verdict("11", case, ranks, times[1], 1.25 * times[0] + 5, " ns", "1.25 x that of fewer + 5 ns")


def growth(paths: Sequence[str], processors: int) -> Iterator[str]:
    """Returns the verdicts and below them the times; nothing where the library was in no run."""
    times: dict[tuple[str, str, str, str], dict[int, float]] = {}
    for line in measurements(paths):
        if line.library and line.suite in ("calls", "active") and line.ns_min:
            times.setdefault((line.host, line.suite, line.op, line.memory), {})[line.ranks] = line.ns_min
    ranks = sorted({count for case in times.values() for count in case})
    if not times:
        return
    yield "growth with the number of ranks (shortest blocks)"
    lines = []
    for (host, suite, op, memory), at in times.items():
        case = f"{host}, {suite} {op}, {memory}"
        lines.append(f"     {case:<50}" + "".join(f"  P={count} {at.get(count, 0):.1f} ns" for count in ranks))
        for before, now in itertools.pairwise(ranks):
            if before in at and now in at:
                yield from _judge(op, suite, case, (before, now), (at[before], at[now]), processors)
    yield from sorted(lines)


# ---- what a trace costs ------------------------------------------------------------------------------------------------------

# What is told, and the columns that it is the sum of.
TIMES = (("wall", ("wall",)), ("cpu", ("user", "system")))


def _seconds(table: Table, trace: str, columns: tuple[str, ...]) -> list[float]:
    times = sorted(sum(float(row[column]) for column in columns) for row in table.rows if row["trace"] == trace)
    if not times:
        raise WrongResults(f"{table.path}: there are no runs {trace} a trace")
    return times


def overhead(path: str) -> Iterator[str]:
    """Returns a line for the time from begin to end, and one for that of the processors."""
    table = Table(path)
    table.require(["trace", "wall", "user", "system"])
    for name, columns in TIMES:
        without, with_it = (_seconds(table, trace, columns) for trace in ("without", "with"))
        texts = [f"{statistics.median(times):.2f} s ({times[0]:g} to {times[-1]:g})" for times in (without, with_it)]
        yield (f"{name}: without a trace {texts[0]}, with it {texts[1]}, "
               f"ratio {statistics.median(with_it) / statistics.median(without):.3f}")

# ---- one table of everything that make bench has measured ------------------------------------------------------------

SIZES = (8, 16, 1024, 64 << 10, 1 << 20)


class Summary:
    """The times of a directory of make bench: by what was done, number of bytes and host, of the host alone and with the library."""

    def __init__(self, directory: str):
        self.times: dict[tuple[str, ...], dict[tuple[int, str, bool], float]] = {}
        self.sends: dict[tuple[str, ...], dict[tuple[int, str], float]] = {}
        self.hosts: dict[str, None] = {}
        for path in sorted(_csv_files(directory)):
            table = Table(path)
            if "mode" in table.columns:
                for line in table.records(Exchange):
                    self._exchange(line)
            else:
                for line in table.records(Measurement):
                    self._measurement(line)

    def _add(self, what: tuple[str, ...], count: int, host: str, library: bool, us: float) -> None:
        self.hosts[host] = None
        known = self.times.setdefault(what, {})
        known[count, host, library] = min(us, known.get((count, host, library), us))

    def _exchange(self, line: Exchange) -> None:
        if line.us is not None and line.mode in ONE_SIDED:
            what = f"halo, P = {line.ranks}", line.memory, line.mode
            self._add(what, line.bytes, line.host, line.library, line.us)
            if line.library and line.isend_us is not None:
                self.sends.setdefault(what, {})[line.bytes, line.host] = line.isend_us

    def _measurement(self, line: Measurement) -> None:
        if line.ns is not None and line.suite in ("latency", "acc", "atomic", "create", "overlap") \
                and (line.suite, line.op) not in REFERENCES:
            self._add((f"{line.suite}, {line.op}", line.memory, line.sync), line.bytes, line.host, line.library, line.ns / 1000)

    def _cell(self, what: tuple[str, ...], count: int, host: str) -> str:
        alone, mine = (self.times[what].get((count, host, library)) for library in (False, True))
        if mine is None:
            return "-"
        send = self.sends.get(what, {}).get((count, host))
        slow = alone is not None and mine > 1.1 * alone or send is not None and mine > 1.1 * send
        return f"{'-' if alone is None else digits(alone)}/{digits(mine)}{'*' if slow else ''}"

    def lines(self) -> Iterator[str]:
        """Returns the table, a part for each host, with the sizes that were measured of SIZES."""
        if not self.times:
            return
        for host in self.hosts:
            sizes = [count for count in SIZES
                     if any((count, host, True) in times and count in SIZES for times in self.times.values())]
            yield ""
            yield f"{host_name(host)}: microseconds by the host alone/with libmpi-rma; * slower by a tenth than either the host or isend/irecv"
            yield f"{'':46}" + "".join(f"{size(count):>15}" for count in sizes)
            for what in self.times:
                cells = [self._cell(what, count, host) for count in sizes]
                if any(cell != "-" for cell in cells):
                    yield f"{', '.join(word for word in what if word):46}" + "".join(f"{cell:>15}" for cell in cells)


def _csv_files(directory: str) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".csv"))


# ---- plots of the halo exchange -----------------------------------------------------------------------------------------

# A hue for each host, on light and on dark pages; the library's line is the thick one.
COLOURS = {("mpich", False): ("#c77700", "#f0b35a"), ("mpich", True): ("#b3261e", "#ff7a6b"),
           ("openmpi", False): ("#3d8fc4", "#9ad0f5"), ("openmpi", True): ("#0b4f8a", "#4f9ff0")}
OTHER_HOST = {False: ("#4f9a63", "#a5d8b0"), True: ("#1d6b36", "#55c077")}


def _series(lines: Iterable[Exchange]) -> list[plot.Series]:
    """Returns the microseconds by bytes, of each host alone and with the library."""
    curves: dict[tuple[str, bool], dict[int, float]] = {}
    for line in lines:
        if line.us is not None:
            curves.setdefault((line.host, line.library), {})[line.bytes] = line.us
    return [plot.Series(f"{host_name(host)}{' + libmpi-rma' if library else ''}",
                        *COLOURS.get((host, library), OTHER_HOST[library]), not library, points)
            for (host, library), points in sorted(curves.items())]


def plots(directory: str) -> Iterator[str]:
    """Draws the exchanges below DIRECTORY as DIRECTORY/halo-RANKS-MEMORY-MODE, with -light.svg and -dark.svg; returns these names."""
    found: dict[tuple[int, str, str], list[Exchange]] = {}
    for path in sorted(_csv_files(directory)):
        if "mode" in Table(path).columns:
            for line in exchanges(path):
                if line.mode in ONE_SIDED and line.memory in ("malloc", "allocate"):
                    found.setdefault((line.ranks, line.memory, line.mode), []).append(line)
    for (ranks, memory, mode), lines in sorted(found.items()):
        if len({line.bytes for line in lines}) > 1:
            out = os.path.join(directory, f"halo-{ranks}-{memory}-{mode}")
            plot.draw(out, f"Time of a halo exchange: {ranks} processes, {TITLES[memory]}, {mode}", _series(lines), size)
            yield out


# ---- the commands ---------------------------------------------------------------------------------------------------------


def _show(lines: Iterable[str]) -> bool:
    """Prints the lines, and says whether there were any."""
    shown = False
    for line in lines:
        print(line)
        shown = True
    return shown


def _halo(args) -> int:
    both = Halo(args.host, args.library)
    _show(both.lines(args.processors, args.legend))
    return 0 if both.library_in_use() else 1


def _goals(args) -> int:
    judged = Judged(args.files, args.limits, args.processors, args.measured)
    _show(judged.lines or ["no runs"])
    return 1 if judged.missed or not judged.lines else 0


def _compare(args) -> int:
    lines, slower = Comparison(args.files).report(args.factor)
    _show(lines or ["nothing to compare: no runs of a host and with the library"])
    return 1 if slower or not lines else 0


def _some(lines: Iterable[str], otherwise: str) -> int:
    if _show(lines):
        return 0
    print(otherwise)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="report.py", description="Make tables and plots of the benches' results.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, text: str, run: Callable, *, processors: bool = False, files: str = "") -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(run=run)
        if processors:
            one.add_argument("--processors", type=int, default=os.cpu_count(), metavar="N",
                             help="of the machine that was measured (default: of this one)")
        if files:
            one.add_argument("files", nargs="+", metavar=files)
        return one

    one = command("halo", "the halo exchange of two runs, the host's and the library's; exit code 1 where the second did not "
                  "use the library", _halo, processors=True)
    one.add_argument("--legend", action="store_true", help="say first how the tables are read, and what the exchanges are")
    one.add_argument("host", metavar="HOST.csv")
    one.add_argument("library", metavar="LIBRARY.csv")
    one = command("goals", "what runs of bench/rma/rma say of each goal within a node; exit code 1 where a goal is not met, or "
                  "there is no run", _goals, processors=True, files="FILE.csv")
    one.add_argument("--limits", default=LIMITS, metavar="FILE.csv", help="the table of limits (default: bench/goals/limits.csv)")
    one.add_argument("--measured", action="store_true", help="leave out what was not measured")
    command("growth", "what grows with the number of ranks; exit code 1 where there are no runs with the library",
            lambda args: _some(growth(args.files, args.processors), "no runs with the library"), processors=True, files="FILE.csv")
    one = command("compare", "where the library is slower than the better host; exit code 1 if it is anywhere", _compare,
                  files="FILE.csv")
    one.add_argument("--factor", type=float, default=1, metavar="TIMES", help="list it from so many times on (default 1)")
    command("overhead", "what a trace costs", lambda args: _some(overhead(args.file), "no runs")).add_argument("file", metavar="FILE.csv")
    for name, text, run in (("table", "one table of all results below a directory", lambda args: _some(
            Summary(args.directory).lines(), "no results")),
            ("plots", "plots of the halo exchanges below a directory, as SVG files there",
             lambda args: _some(plots(args.directory), "no exchanges of more than one size"))):
        command(name, text, run).add_argument("directory", metavar="DIRECTORY")
    return parser


def main() -> int:
    """Runs the command that the arguments name."""
    args = _parser().parse_args()
    try:
        return args.run(args)
    except WrongResults as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
