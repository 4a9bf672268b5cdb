# SPDX-License-Identifier: BSD-3-Clause
"""The goals within a node and what bench/rma/rma has measured of them: of each run, or as a table of both hosts."""
from typing import Iterator, Optional, Sequence

import limits
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


def _extreme(one: limits.Outcome) -> str:
    return f"at {'least' if one.at_least else 'most'} {one.limit}"


def _cell(one: limits.Outcome) -> str:
    """Returns the table's cell, bold where the goal is not met."""
    if one.met is None:
        return one.verdict
    text = "{} ({})".format(*(words.time(number) if one.is_time else f"{number:.2f}" for number in (one.value, one.bound)))
    return text if one.met else f"**{text}**"


class Goals:
    """What became of the goals, by number, what is measured and limit, in the library's runs with both hosts."""

    def __init__(self, lines: Sequence[results.Measurement], processors: int):
        table = limits.read()
        self.runs = {run.host: run for run in limits.runs(lines, processors) if run.library}
        self.outcomes: dict[tuple[str, str, str], dict[str, limits.Outcome]] = {}
        for host, run in self.runs.items():
            for one in run.outcomes(table):
                # Lines "+K" allow for the price of a call, which the anchors tell.
                if not one.goal.endswith("K"):
                    self.outcomes.setdefault((one.goal, one.what, _extreme(one)), {})[host] = one

    def _anchor(self, host: str, op: str, count: int) -> str:
        return words.time(self.runs[host].time(op, count)) if host in self.runs else ""

    def _score(self, host: str) -> str:
        of_host = [of_hosts[host].met for of_hosts in self.outcomes.values()
                   if host in of_hosts and of_hosts[host].decides]
        return f"{of_host.count(True)} of {len(of_host) - of_host.count(None)}"

    def table(self) -> Iterator[str]:
        """Returns the section."""
        yield "\n## Goals within a node, 2 processes\n"
        yield "| anchor | | on MPICH | on Open MPI |\n|---|---|--:|--:|"
        for letter, op, count, meaning in ANCHORS:
            yield words.row([letter, meaning, *(self._anchor(host, op, count) for host in HOSTS)])
        yield "\n| goal | | limit | on MPICH | on Open MPI |\n|---|---|---|--:|--:|"
        for key, of_hosts in self.outcomes.items():
            yield words.row([*key, *(_cell(of_hosts[host]) if host in of_hosts else "" for host in HOSTS)])
        yield (f"\nMet: {self._score('mpich')} lines on MPICH, {self._score('openmpi')} on Open MPI (lines with a plus sign are "
               "not counted).")


def _heading(run: limits.Run) -> Iterator[str]:
    by = "libmpi-rma" if run.library else "the host itself"
    over = "; more ranks than processors" if run.ranks > run.processors else ""
    yield f"goals: {run.ranks} ranks, {words.host_name(run.host)}, one-sided calls by {by}; {run.processors} processors{over}"
    yield ", ".join(f"{letter} {words.three_digits(run.time(op, count))}" for letter, op, count, _ in ANCHORS)


def _number(one: limits.Outcome, number: Optional[float]) -> str:
    return words.three_digits(number) if one.is_time or number is None else f"{number:.3f}"


def _line(one: limits.Outcome) -> str:
    return (f"{one.goal:<4} {one.what:<66} {_number(one, one.value):>10}  {'>=' if one.at_least else '<='} {one.limit:<29} = "
            f"{_number(one, one.bound):>10}  {one.verdict}")


class Judged:
    """The lines of all runs of these files, and whether there is a goal that is not met."""

    def __init__(self, files: Sequence[str], table: str, processors: int, measured_only: bool):
        read = limits.read(table)
        self.lines: list[str] = []
        self.missed = False
        for run in limits.runs(results.measurements(files), processors):
            outcomes = list(run.outcomes(read))
            met = [one.met for one in outcomes if one.decides]
            within = [one.met for one in outcomes if not one.decides]
            self.missed = self.missed or False in met
            self.lines += [*([""] if self.lines else []), *_heading(run)]
            self.lines += [_line(one) for one in outcomes if one.met is not None or not measured_only]
            self.lines.append(f"{met.count(True)} met, {met.count(False)} not met, {met.count(None)} not measured; lines beside "
                              f"a goal (+K, +M, +S): {within.count(True)} within, {within.count(False)} not")
