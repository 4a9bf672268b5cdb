# SPDX-License-Identifier: BSD-3-Clause
"""Every case in which the library is slower than send and receive, or than the host's own one-sided calls.

The files are those of bench/rma and bench/halo, of several rounds, which the directories roundN in their names tell.
A case is an operation in a kind of memory with so many processes on one host; it has a row with all its sizes that
are slow. A size is listed from margin times the other's time on, as single runs differ by some per cent, and only if
it is so in every round that has it. Its ratio is that of the round in the middle. Beside these stands how long it
takes over the bare calls that it cannot do without, where the same round has measured them. The cases stand under
what makes them slow, as far as that is known.
"""
import dataclasses
import re
import statistics
from typing import Iterator, NamedTuple, Optional, Sequence

import causes
import results
import words

# Load and store, and bare calls, are no calls of the library; what only the rest is held against is no case of its own.
NO_CASE_OF_HALO = re.compile(r"^(shm|barriers|writev|isend|.*_msgs)$")
NO_CASE_OF_RMA = re.compile(r"^(malloc_|allgather|segment|barrier|compute)|^copies$")
AGAINST = ("send", "host")


class Row(NamedTuple):
    """What says which case it is."""
    host: str
    case: str
    ranks: int
    memory: str


@dataclasses.dataclass
class Times:
    """What the rounds say of one size of a case: times by round, and the bare call that it cannot do without."""
    bytes: int
    bare: str
    library: dict[int, float] = dataclasses.field(default_factory=dict)
    host: dict[int, float] = dataclasses.field(default_factory=dict)


def _case_name(line: results.Measurement, sync: str) -> str:
    """Operations of a case that differ by a number only have that in their sizes' names."""
    op, suite = line.op, line.suite
    if suite == "origins":
        op, suite = "origins" if "origin" in op else "targets", "many"
    op = re.sub(r"_[0-9.]+$", "", op)
    return f"{suite}, {op}" + (f", {sync}" if sync else "")


def _size_name(line: results.Measurement) -> str:
    if line.suite == "origins":
        return f"{int(line.op.split('_')[0])} x {words.size(line.bytes)}"
    number = re.search(r"_([0-9.]+)$", line.op)
    return words.size(line.bytes) + (f" ({number[1]})" if number else "")


def _bare_call(line: results.Measurement) -> str:
    """Returns the bare call of an operation on memory that only the kernel reaches. That of a large one moves the same
    bytes again and again, which stay in the cache, and 32 different ones of an epoch do not."""
    if line.suite == "skew":
        return f"skew copies {line.memory}"
    if not re.fullmatch(causes.KERNEL_MEMORY, line.memory):
        return ""
    if line.suite == "latency" or line.suite == "bw" and line.bytes <= 4096:
        return "cma_write" if line.op == "put" else "cma_read"
    if line.suite == "atomic":
        return "cma_acc"
    if line.suite == "acc":
        return "cma_acc_strided" if "strided" in line.op else "cma_acc"
    return ""


class Slower:
    """All cases with their times."""

    def __init__(self, paths: Sequence[str], margin: float, processors: int):
        self.margin = margin
        self.processors = processors
        self.rounds = 0
        self.rows: dict[Row, dict[str, Times]] = {}
        self.bare: dict[tuple[str, str, int, int, int], float] = {}   # host, call, ranks, bytes, round
        self.sends: dict[tuple[Row, str, int], float] = {}            # row, size, round; of the library's run
        for path in paths:
            self._read(path)

    def _read(self, path: str) -> None:
        found = re.match(r".*round(\d+)", path)
        number = int(found[1]) if found else 0
        self.rounds = max(self.rounds, number)
        over_tcp = bool(re.search(r"/round\d+/net/", path))
        for line in results.either(path):
            if isinstance(line, results.Exchange):
                if line.us is not None:
                    self._add_halo(line, over_tcp, number)
            elif line.ns is not None:
                self._add_rma(line, "/goals-" in path, number)

    def _add_halo(self, line: results.Exchange, over_tcp: bool, number: int) -> None:
        ns = line.us * 1000
        if line.library and (line.mode.endswith("_msgs") if over_tcp else line.mode in ("writev", "barriers")):
            self.bare[line.host, line.mode, line.ranks, line.bytes, number] = ns
        if NO_CASE_OF_HALO.search(line.mode):
            return
        bare = ""
        if over_tcp and line.mode in ("fence", "pscw", "lock", "lock_all"):
            bare = line.mode + "_msgs"
        elif not over_tcp and line.mode == "fence":
            bare = "barriers"
        elif not over_tcp and line.memory == "malloc" and line.mode.startswith("lock"):
            bare = "writev"
        row = Row(line.host, f"halo exchange{' over tcp' if over_tcp else ''}, {line.mode}", line.ranks, line.memory)
        size = words.size(line.bytes)
        self._add(row, size, line, ns, bare, number)
        if line.library and line.isend_us is not None:
            self.sends[row, size, number] = line.isend_us * 1000

    def _add_rma(self, line: results.Measurement, of_goals: bool, number: int) -> None:
        if line.library and line.suite == "anchors":
            self.bare[line.host, line.op, 2, line.bytes, number] = line.ns
        if line.library and line.op == "copies":
            self.bare[line.host, f"{line.suite} copies {line.memory}", 2, line.bytes, number] = line.ns
        if of_goals:
            return
        is_send = line.sync == "isend_irecv"
        row = Row(line.host, _case_name(line, "pscw" if is_send else line.sync), line.ranks, line.memory)
        size = _size_name(line)
        if is_send:
            if line.library:
                self.sends[row, size, number] = line.ns
        elif line.suite != "anchors" and not NO_CASE_OF_RMA.search(line.op):
            self._add(row, size, line, line.ns, _bare_call(line), number)
            if line.library and line.suite == "bw" and line.beside_ns:
                self.sends[row, size, number] = line.ns * line.beside_ns / line.of_ns

    def _add(self, row: Row, size: str, line, ns: float, bare: str, number: int) -> None:
        times = self.rows.setdefault(row, {}).setdefault(size, Times(line.bytes, bare))
        (times.library if line.library else times.host)[number] = ns

    def _ratios(self, row: Row, size: str, against: str) -> list[float]:
        """Returns the library's time over the other's, for each round that has both."""
        times = self.rows[row][size]
        ratios = []
        for number, mine in times.library.items():
            if against == "bare":
                other = self.bare.get((row.host, times.bare, row.ranks, times.bytes, number))
            elif against == "send":
                other = self.sends.get((row, size, number))
            else:
                other = times.host.get(number)
            if mine > 0 and other:
                ratios.append(mine / other)
        return ratios

    def _middle(self, row: Row, size: str, against: str) -> Optional[float]:
        ratios = self._ratios(row, size, against)
        return statistics.median_low(ratios) if ratios else None

    def _slow(self, row: Row, size: str) -> dict[str, float]:
        """Returns the ratio in the middle, against each of what this size is slower than in every round."""
        slow = {}
        for against in AGAINST:
            ratios = self._ratios(row, size, against)
            if ratios and min(ratios) >= self.margin:
                slow[against] = statistics.median_low(ratios)
        return slow

    def _cell(self, row: Row, slow: dict[str, dict[str, float]], against: str) -> str:
        """Returns the sizes that are slow against it; if none is, the greatest ratio of those that are otherwise."""
        ratios = {size: self._middle(row, size, against) for size in slow}
        known = {size: ratio for size, ratio in ratios.items() if ratio is not None}
        shown = [f"{size}: {ratio:.2f}" for size, ratio in known.items() if against == "bare" or against in slow[size]]
        return ", ".join(shown) if shown else f"at most {max(known.values()):.2f}" if known else "-"

    def report(self) -> Iterator[str]:
        """Returns the whole section."""
        cases = compared = 0
        found: dict[causes.Cause, list[tuple[float, str]]] = {}
        slow_sizes = 0
        for row, sizes in self.rows.items():
            measured = [size for size in sizes if any(self._middle(row, size, against) is not None for against in AGAINST)]
            compared += len(measured)
            cases += bool(measured)
            slow = {size: ratios for size in sizes if (ratios := self._slow(row, size))}
            if not slow:
                continue
            slow_sizes += len(slow)
            worst = max(max(ratios.values()) for ratios in slow.values())
            cells = [self._cell(row, slow, against) for against in (*AGAINST, "bare")]
            why = causes.cause_of(row.case, row.memory, row.ranks, self.processors)
            found.setdefault(why, []).append((round(worst, 3), words.row(
                [words.host_name(row.host), row.case, row.memory, str(row.ranks), *cells])))
        listed = sum(map(len, found.values()))
        yield from self._introduction(f"{listed} of {cases} cases, with {slow_sizes} of their {compared} sizes, the worst of each")
        for cause in causes.Cause:
            if cause in found:
                yield f"\n### {cause.value} ({len(found[cause])})\n"
                yield "| host | case | memory | processes | over send/receive | over the host | over bare calls |"
                yield "|---|---|---|--:|---|---|---|"
                yield from (line for _, line in sorted(found[cause], reverse=True))

    def _introduction(self, counts: str) -> Iterator[str]:
        in_each = f", in each of the {self.rounds} rounds" if self.rounds > 1 else ""
        yield "\n## Where the library is slower\n"
        yield (f"Every case in which it takes at least {self.margin:.1f} times as long as `MPI_Isend` and `MPI_Irecv` of the same "
               "bytes, where they were")
        yield f"measured, or as the host's own call{in_each}: {counts}"
        yield """\
cause first. A cell has the bytes that are slow and how many times as long they take; `at most` is for those that are slow in
the other column only. The last column is what the library takes over the bare calls in the same round that an operation can't
do without, where such were measured: near 1 it is the machine that takes the time. `3 x 64 Ki` are three origins or targets,
`1 Mi (0.5)` is a computation of half the epoch's length."""


def report(paths: Sequence[str], margin: float, processors: int) -> Iterator[str]:
    """Returns the lines of the list, in Markdown."""
    return Slower(paths, margin, processors).report()
