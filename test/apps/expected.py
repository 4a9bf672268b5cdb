# SPDX-License-Identifier: BSD-3-Clause
"""The files of test/apps/expected: what each test of a program gives on each host, alone and with the library.

A file is named as the program; a line is
  POINT WHEN MPICH OPENMPI [REASON]
with `ci` for WHEN if CI runs the test, else `full`; and for each host three signs: the host alone, with the library,
with the library over pretended nodes, which is also what holds over each fabric:
  +  passes
  -  fails
  !  fails by not ending; it is given half a minute
  s  is skipped by the program
  ?  not told, for a host alone only: it changes with how busy the machine is, or was not seen yet
  .  is not run
REASON says why, as a part of a sentence, where a sign is none of these: + . ? A point is named as its test, or
by what follows a colon where a test has several.
"""
import os
import re
import sys
from typing import Iterator

HOSTS = "mpich", "openmpi"
VARIANTS = "host", "lib", "nodes"
FABRICS = "ideal", "verbs", "cxi", "efa", "opx", "psm3", "roce"  # variants with pretended nodes, too
RESULTS = {"+": "pass", "s": "skip", "-": "fail", "!": "fail"}  # of any other sign, none


def test_of(point: str) -> str:
    """Returns the test of a point that is named by its test, or by test and part."""
    return point.split(":")[0]


class Expected:
    """What one file says. Lines that are not of its form are told on standard error, and make it wrong."""

    def __init__(self, path: str):
        self.path = path
        self.wrong = False
        self.when: dict[str, str] = {}     # by point, in the order of the file
        self.reason: dict[str, str] = {}
        self.signs: dict[tuple[str, str, str], str] = {}  # by host, variant and point
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    self._read(line.rstrip("\n"))

    def _complain(self, text: str) -> None:
        print(f"{self.path}: {text}", file=sys.stderr)
        self.wrong = True

    def _read(self, line: str) -> None:
        point, when, *signs, reason = (line.split(maxsplit=4) + [""] * 5)[:5]
        if when not in ("ci", "full") or not all(re.fullmatch(r"[-+!s?.]{3}", three) for three in signs):
            self._complain(f"not a line of this form: {line}")
            return
        if re.search("[-!s]", "".join(signs)) and not reason:
            self._complain(f"no reason is given for {point}")
        if any("?" in three[1:] for three in signs):
            self._complain(f"only of a host alone nothing need be told: {point}")
        if point in self.when:
            self._complain(f"twice: {point}")
        self.when[point] = when
        self.reason[point] = reason
        for host, three in zip(HOSTS, signs):
            for variant, sign in (*zip(VARIANTS, three), *((fabric, three[2]) for fabric in FABRICS)):
                self.signs[host, variant, point] = sign

    def result(self, host: str, variant: str, point: str) -> str:
        """Returns the result that is expected: pass, fail, skip, or none where the point is not run or not told."""
        return RESULTS.get(self.signs.get((host, variant, point), "."), "none")

    def holds(self, host: str, variant: str, point: str, result: str) -> bool:
        """Says whether the result is one that is expected."""
        if self.signs.get((host, variant, point)) == "?":
            return result in ("pass", "fail")
        return result == self.result(host, variant, point)

    def points(self, test: str) -> Iterator[str]:
        """Returns the points of a test."""
        return (point for point in self.when if test_of(point) == test)

    def differs(self, host: str, variant: str, test: str, found: dict[str, str]) -> bool:
        """Says whether the results that were found of a test, by point, are not all those that are expected."""
        return not all(self.holds(host, variant, point, found.get(point, "none")) for point in self.points(test))

    def told(self, host: str, variant: str, point: str) -> str:
        """Returns pass, fail, skip or none, or hangs where it is to fail by not ending, or any where nothing is told."""
        return {"!": "hangs", "?": "any"}.get(self.signs[host, variant, point]) or self.result(host, variant, point)

    def runs(self, point: str, size: str) -> bool:
        """Says whether a run of this size (full, short or ci) has the point."""
        return size == "full" or self.when[point] == "ci"

    def chosen(self, size: str) -> set[str]:
        """Returns the tests that a run of this size has."""
        return {test_of(point) for point in self.when if self.runs(point, size)}
