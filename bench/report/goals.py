# SPDX-License-Identifier: BSD-3-Clause
"""The goals within a node and what bench/rma has measured of them, as a table of both hosts."""
from typing import Iterator, NamedTuple, Sequence

import results
import words

HOSTS = ("mpich", "openmpi")
# What limits are made of.
ANCHORS = (
    ("C", "cache_line", 0, "a cache line from one processor to the other"),
    ("A", "fetch_add", 8, "an atomic addition"),
    ("M", "memcpy", 8, "memcpy of 8 bytes"),
    ("S", "cma_write", 8, "process_vm_writev of 8 bytes"),
    ("K", "call", 0, "a call of an empty function of another library"),
)


class Outcome(NamedTuple):
    """What became of a goal on a host: measured value and limit, as text, and the verdict."""
    value: str
    limit: str
    verdict: str

    def cell(self) -> str:
        """Returns the table's cell, bold where the goal is not met."""
        text = f"{self.value} ({self.limit})" if self.limit else self.value
        return f"**{text}**" if self.verdict.startswith("NOT") else text


class Goals:
    """The goals by number, what is measured and the limit's text; for each the outcome on each host."""

    def __init__(self, lines: Sequence[results.Measurement]):
        self.anchors = {(line.host, line.op, line.bytes): line.ns
                        for line in lines if line.suite == "anchors" and line.library}
        self.outcomes: dict[tuple[str, str, str], dict[str, Outcome]] = {}
        for line in lines:
            # Lines "+K" allow for the price of a call, which the anchors tell.
            if line.suite == "goal" and line.library and not line.op.endswith("K"):
                self._add(line)

    def _add(self, line: results.Measurement) -> None:
        what, _, rest = line.note.partition("; ")
        limit, _, verdict = rest.rpartition(": ")
        is_ratio = limit.startswith("at least") or what.endswith("growth")
        texts = [f"{ns or 0:.2f}" if is_ratio else words.time(ns) for ns in (line.ns, line.ns_min)]
        if verdict == "not measured":
            texts = [verdict, ""]
        self.outcomes.setdefault((line.op, what, limit), {})[line.host] = Outcome(*texts, verdict)

    def outcome(self, goal: str, what: str, host: str) -> Outcome:
        """Returns the outcome of what is measured for a goal; one of nothing if there is none."""
        for (number, measured, _), of_hosts in self.outcomes.items():
            if (number, measured) == (goal, what) and host in of_hosts:
                return of_hosts[host]
        return Outcome("", "", "")

    def _score(self, host: str) -> tuple[int, int]:
        verdicts = [of_hosts[host].verdict for of_hosts in self.outcomes.values() if host in of_hosts]
        return verdicts.count("met"), verdicts.count("met") + verdicts.count("NOT met")

    def table(self) -> Iterator[str]:
        """Returns the section."""
        yield "\n## Goals within a node, 2 processes\n"
        yield "| anchor | | on MPICH | on Open MPI |\n|---|---|--:|--:|"
        for letter, op, count, meaning in ANCHORS:
            yield words.row([letter, meaning, *(words.time(self.anchors.get((host, op, count))) for host in HOSTS)])
        yield "\n| goal | | limit | on MPICH | on Open MPI |\n|---|---|---|--:|--:|"
        for key, of_hosts in self.outcomes.items():
            yield words.row([*key, *(of_hosts[host].cell() if host in of_hosts else "" for host in HOSTS)])
        scores = ["{} of {}".format(*self._score(host)) for host in HOSTS]
        yield f"\nMet: {scores[0]} lines on MPICH, {scores[1]} on Open MPI (lines with a plus sign are not counted)."
