# SPDX-License-Identifier: BSD-3-Clause
"""The limits of bench/goals/limits.csv, and what a run of bench/rma/rma says of each.

A line of the table names a measurement (suite, op, memory, sync, bytes) and what it may be:

  goal      its number. One with a plus sign compares with something else beside a goal, and decides nothing
  host      the limit is that of this host alone; nothing: of each
  when      the limit is that of runs where this is so; nothing: of all
  what      how it is called; {size}, {ranks} and {processors} are put in
  measure   "time": at most so many nanoseconds. "rate": at least this share of the rate of something bare. "growth": at
            most so many times what it takes with 0 bytes
  memory    "mapped": of the kinds of window whose memory others map, the one that is slowest beside its limit
  bytes     a number, or with "+" all that were measured from there on
  beside    the anchor that was measured in turns with the operation; then their pair of blocks counts
  factor    of what the limit is made of, the anchor or measurement `of` with of_bytes ("same": as many as the operation's).
            Of a suite other than anchors it is written suite/op
  times     "log2 P": of the number of ranks, upwards
  plus_ns   and so many nanoseconds
  plus_of   and what this takes
  calls     the standard prescribes so many calls: a line beside the goal (+K) allows for an empty call for each

Times that were measured beside an anchor are those of the pair of blocks with the median ratio.
"""
import dataclasses
import math
import os
from typing import Iterable, Iterator, NamedTuple, Optional

import results
import words

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "goals", "limits.csv")
MAPPED = ("allocate", "alloc_mem", "shared")
# How limits name what they are made of.
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


def read(path: str = TABLE) -> list[Limit]:
    """Returns the limits of a table. Raises WrongResults where a line is none."""
    limits = results.Table(path).records(Limit)
    for number, limit in enumerate(limits, 1):
        for column, known in (("measure", ("time", "rate", "growth")), ("when", WHEN), ("times", ("", "log2 P"))):
            if getattr(limit, column) not in known:
                raise results.WrongResults(f"{path}: limit {number} has '{getattr(limit, column)}' in column '{column}', "
                                           f"which must be one of {', '.join(map(repr, known))}")
        try:
            _ = limit.from_bytes, limit.of_bytes in ("", "same") or int(limit.of_bytes)
        except ValueError as error:
            raise results.WrongResults(f"{path}: limit {number}, {limit.what}: a number of bytes is none") from error
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

    def __init__(self, lines: Iterable[results.Measurement], processors: int):
        self.lines = {}
        for line in lines:
            self.lines.setdefault((line.suite, line.op, line.memory, line.sync, line.bytes), line)
        first = next(iter(self.lines.values()))
        self.host, self.library, self.ranks, self.processors = first.host, first.library, first.ranks, processors

    def _line(self, *key) -> Optional[results.Measurement]:
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
                what = limit.what.format(size=words.size(count), ranks=self.ranks, processors=self.processors)
                value, bound = self._numbers(limit, count)
                one = Outcome(limit.goal, what, limit.measure == "rate", limit.text(), limit.measure == "time", value, bound)
                yield one
                if limit.calls:
                    call = self.time("call", 0)
                    allowed = None if bound is None or call is None else bound + limit.calls * call
                    yield one._replace(goal=limit.goal + "+K", limit=limit.text(int(limit.calls)), bound=allowed)


def runs(lines: Iterable[results.Measurement], processors: int) -> list[Run]:
    """Returns the runs that these lines are of: of each host, by the library or itself, with each number of ranks."""
    of_runs: dict[tuple[str, bool, int], list[results.Measurement]] = {}
    for line in lines:
        of_runs.setdefault((line.host, line.library, line.ranks), []).append(line)
    return [Run(one, processors) for one in of_runs.values()]
