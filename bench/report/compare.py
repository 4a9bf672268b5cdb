# SPDX-License-Identifier: BSD-3-Clause
"""Where the library is slower than the better host, from CSV files of bench/rma, some of hosts' own calls and some
with libmpi-rma.

The library's time over the better host's is listed for everything that both have measured, worst first. Of several
runs of one host, or of the library on it, the fastest counts. Where the distance of the two processors changes (a
cache line takes more than twice the shortest time of all), only what found it alike is compared.
"""
from typing import NamedTuple, Sequence

import results

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
        lines = [line for line in results.measurements(paths)
                 if line.ns is not None and line.suite != "anchors"
                 and (line.suite, line.op) not in REFERENCES]
        self.nearest = min((line.line_ns for line in lines if line.line_ns), default=0)
        self.hosts: dict[tuple[str, Case], tuple[float, str]] = {}
        self.library: dict[tuple[str, str, Case], float] = {}
        self.seen: dict[tuple[str, Case], None] = {}
        for line in lines:
            self._add(line)

    def _add(self, line: results.Measurement) -> None:
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
