# SPDX-License-Identifier: BSD-3-Clause
"""The counterparts of the papers' figures as tables in Markdown, from CSV files of bench/rma and bench/net, of the host
alone and with the library.

A cell is "host itself / through the library", and "-" where a run gave no figure.
"""
from typing import Iterator, Optional, Sequence

import results
import words

MEMORIES = ("malloc", "allocate")
OPERATIONS = ("put", "get")
SYNCS = ("fence", "pscw", "lock", "lock_all")
SIDES = ("origin", "target", "origin_0.25", "origin_0.5", "origin_1", "origin_2")
TOGETHER = ("fence", "pscw", "lock", "lock_exclusive", "fetch_and_op")
MIB = 1 << 20


def _heading(title: str, text: str) -> str:
    return f"\n### {title}\n\n{text}"


def _ratio(over: Optional[float], under: Optional[float]) -> str:
    return f"{over / under:.2f}" if over and under else "-"


def _hidden(line: Optional[results.Measurement]) -> str:
    """Says which part of the communication a computation has hidden; less than nothing where both together took longer
    than one after the other."""
    if line is None or not line.of_ns or line.beside_ns is None:
        return "-"
    return f"{100 * (line.of_ns + line.beside_ns - line.ns) / line.of_ns:.0f} %"


class Papers:
    """The figures by what they measure, and what the tables need to know of them."""

    def __init__(self, paths: Sequence[str]):
        self.lines: dict[tuple, results.Measurement] = {}
        self.unlocks: dict[tuple[str, bool, str], float] = {}
        for line in results.measurements(paths):
            if line.ns is None:
                continue
            if line.suite == "net":
                self.unlocks[line.host, "net-packets" in line.path, line.op] = line.ns
            else:
                self.lines[line.host, line.library, line.ranks, line.suite, line.op, line.memory, line.sync,
                           line.bytes] = line
        self.hosts = list(dict.fromkeys(line.host for line in self.lines.values()))

    def _suite(self, name: str) -> list[results.Measurement]:
        return [line for line in self.lines.values() if line.suite == name]

    def _sizes(self, suite: str) -> list[int]:
        return sorted({line.bytes for line in self._suite(suite)})

    def _of_two(self, host: str, library: bool, suite: str, op: str, memory: str, sync: str,
                count: int) -> Optional[results.Measurement]:
        return self.lines.get((host, library, 2, suite, op, memory, sync, count))

    def _us_of_two(self, host: str, suite: str, op: str, memory: str, sync: str, count: int) -> str:
        both = (self._of_two(host, library, suite, op, memory, sync, count) for library in (False, True))
        return " / ".join(words.microseconds(line.ns if line else None) for line in both)

    def latency(self) -> Iterator[str]:
        """Returns the table of one operation an epoch."""
        yield _heading("One operation a PSCW epoch", """\
Microseconds of an epoch (truly one-sided paper, Figs. 4a, 5a and 6a), by the host itself / through the library.""")
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: bytes"] + [
                f"{op} {memory}" for op in OPERATIONS for memory in MEMORIES])
            for count in self._sizes("latency"):
                yield words.row([words.size(count)] + [self._us_of_two(host, "latency", op, memory, "pscw", count)
                                                       for op in OPERATIONS for memory in MEMORIES])

    def bandwidth(self) -> Iterator[str]:
        """Returns the table of many operations an epoch."""
        yield _heading("32 operations an epoch", """\
Time of an epoch over that of 32 `MPI_Isend` and `MPI_Irecv` of the same bytes, measured in turns with it, by the host
itself / through the library; in front of it what send and receive move (truly one-sided paper, Figs. 4b, 5 and 6).""")
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: operation, memory, bytes", "isend/irecv (MB/s)", *SYNCS])
            for op in OPERATIONS:
                for memory in MEMORIES:
                    for count in self._sizes("bw"):
                        yield self._bandwidth_row(host, op, memory, count)

    def _bandwidth_row(self, host: str, op: str, memory: str, count: int) -> str:
        sends = self._of_two(host, True, "bw", op, memory, "lock_all", count)
        cells = []
        for sync in SYNCS:
            both = (self._of_two(host, library, "bw", op, memory, sync, count) for library in (False, True))
            cells.append(" / ".join(_ratio(line.of_ns, line.beside_ns) if line else "-" for line in both))
        moved = f"{1000 * count / sends.beside_ns:.0f}" if sends and sends.beside_ns else "-"
        return words.row([f"{op}, {memory}, {words.size(count)}", moved, *cells])

    def skew(self) -> Iterator[str]:
        """Returns the table of origins whose target computes."""
        yield _heading("Process skew", """\
16 puts of 256 KiB in a PSCW epoch, the target multiplying two matrices of this order between post and wait: microseconds of
the origin, and of the target's multiplication (truly one-sided paper, Table 1), by the host itself / through the library;
bare copies of the same bytes beside the same multiplication.""")
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: memory, order", "origin", "target's computation",
                                        "bare copies"])
            for memory in MEMORIES:
                for order in self._sizes("skew"):
                    copies = self._of_two(host, True, "skew", "copies", memory, "", order)
                    yield words.row([f"{memory}, {order}", self._us_of_two(host, "skew", "epoch", memory, "pscw", order),
                                     self._us_of_two(host, "skew", "compute", memory, "pscw", order),
                                     words.microseconds(copies.ns if copies else None)])

    def overlap(self) -> Iterator[str]:
        """Returns the table of communication that a computation hides."""
        yield _heading("Overlap", """\
Which part of the time of 16 puts in a PSCW epoch, or of 16 `MPI_Isend` and `MPI_Irecv`, a computation of 1.2 times that time
hides, at the origin (sender) and at the target (receiver), and at the origin with 1 MiB and computations of other lengths
(truly one-sided paper, Fig. 7). At the origin nothing can be hidden where the call itself copies: mapped memory and what the
kernel copies. Below 0 both together took longer than one after the other.""")
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: memory, side, bytes", "isend/irecv", "PSCW by the host",
                                        "PSCW through the library"])
            for memory in MEMORIES:
                for side in SIDES:
                    for count in self._sizes("overlap"):
                        if side in ("origin", "target") or count == MIB:
                            runs = ((True, "isend_irecv"), (False, "pscw"), (True, "pscw"))
                            yield words.row([f"{memory}, {side}, {words.size(count)}"] + [
                                _hidden(self._of_two(host, library, "overlap", side, memory, sync, count))
                                for library, sync in runs])

    def origins(self) -> Iterator[str]:
        """Returns the table of several origins of one target, and several targets of one origin."""
        yield _heading("Many origins, many targets", """\
16 puts by each of k origins to one target, or by one origin to each of k targets, a window for each pair: the time of the one
over that of `MPI_Isend` and `MPI_Irecv` of the same bytes, by the host itself / through the library (truly one-sided paper,
Fig. 8).""")
        ranks = max((line.ranks for line in self._suite("origins")), default=0)
        cases = [f"{count} {side}{'s' if count > 1 else ''}" for side in ("origin", "target") for count in range(1, ranks)]
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: memory, bytes", "isend/irecv with 1 origin (us)", *cases])
            for memory in MEMORIES:
                for count in filter(None, self._sizes("origins")):
                    def line(library: bool, case: str, sync: str) -> Optional[float]:
                        found = self.lines.get((host, library, ranks, "origins", case.replace(" ", "_"), memory, sync, count))
                        return found.ns if found else None
                    yield words.row([f"{memory}, {words.size(count)}",
                                     words.microseconds(line(True, "1 origin", "isend_irecv"))] + [
                        " / ".join(_ratio(line(library, case, "pscw"), line(library, case, "isend_irecv"))
                                   for library in (False, True)) for case in cases])
        yield from self._empty_epochs(ranks, cases)

    def _empty_epochs(self, ranks: int, cases: Sequence[str]) -> Iterator[str]:
        """Returns the table of the same epochs without a put."""
        yield _heading("Empty epochs", """\
Microseconds of one process's epochs with k others, a window for each, in which nothing is put, by the host itself / through the
library (truly one-sided paper, Fig. 8a).""")
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: memory", *cases])
            for memory in MEMORIES:
                yield words.row([memory] + [" / ".join(
                    words.microseconds(found.ns if (found := self.lines.get(
                        (host, library, ranks, "origins", case.replace(" ", "_"), memory, "pscw", 0))) else None)
                    for library in (False, True)) for case in cases])

    def together(self) -> Iterator[str]:
        """Returns the table of calls by all processes at once."""
        yield _heading("All processes at once", """\
Microseconds of a fence with a put by each process (MPICH2 paper, Fig. 4), of PSCW epochs to a neighbour, and of locks and
fetch_and_op, by the number of processes, by the host itself / through the library. How many messages a fence takes between
machines is in [scaling](../scaling.md).""")
        lines = {(line.host, line.library, line.ranks, line.op): line.ns
                 for line in self._suite("active") if line.memory != "malloc"}
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: processes", *TOGETHER])
            for ranks in sorted({line.ranks for line in self._suite("active")}):
                yield words.row([str(ranks)] + [
                    " / ".join(words.microseconds(lines.get((host, library, ranks, op))) for library in (False, True))
                    for op in TOGETHER])

    def weak_unlocks(self) -> Iterator[str]:
        """Returns the table of what weak unlocks save."""
        yield _heading("Weak unlock", """\
Microseconds of a lock, a put of 8 bytes and an unlock, by the library, to two targets in turn that wait in `MPI_Win_wait`, with and
without the info key `mpirma_weak_unlock`, with which an unlock does not wait until the put is complete at the target (MPICH2
paper, future work), and a round trip of a bare libfabric endpoint.""")
        for host in self.hosts:
            yield "\n" + words.heading([f"{words.host_name(host)}: path", "unlock", "weak unlock", "bare round trip"])
            for network, path in ((False, "packets in a node"), (True, "network (tcp on loopback)")):
                half = self.unlocks.get((host, network, "T")) if network else None
                yield words.row([path] + [words.microseconds(self.unlocks.get((host, network, op)))
                                          for op in ("unlock", "unlock_weak")] +
                                [words.microseconds(None if half is None else 2 * half)])


def report(paths: Sequence[str]) -> Iterator[str]:
    """Returns all tables."""
    papers = Papers(paths)
    yield "\n## The papers' figures"
    for table in (papers.latency, papers.bandwidth, papers.skew, papers.overlap, papers.origins, papers.together):
        yield from table()
    if papers.unlocks:
        yield from papers.weak_unlocks()
