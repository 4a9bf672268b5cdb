# SPDX-License-Identifier: BSD-3-Clause
"""The results that scripts/check-apps.sh leaves: a file for each program and host, as test/apps/common.sh writes it.

A line has its kind and values, parted by tabs: `program` begins a program on a host, `skipped` says why it
was not run, `run` is one run of a test, and `point` one result of a run. Each kind has the columns below.
"""
import os
import re
from typing import Optional, Sequence

from expected import FABRICS, HOSTS, VARIANTS, Expected

COLUMNS = {
    "program": ("program", "title", "host", "host_version", "version", "time_bound", "date", "size", "variants"),
    "skipped": ("why",),
    "run": ("test", "variant", "round", "centiseconds", "exit_code", "windows"),
    "point": ("test", "variant", "round", "point", "result"),
}


class Point:
    """The results of a point in one variant, in the order of the rounds; told, whether each is what a file tells."""

    def __init__(self) -> None:
        self.results: list[str] = []
        self.told: list[bool] = []

    def changed(self) -> bool:
        """Says whether the point did as told in some rounds only."""
        return any(self.told) and not all(self.told)


class Row:
    """A program on a host: its tests and points in the order in which they ran."""

    def __init__(self, columns: dict[str, str], expected: Optional[Expected]):
        self.program = columns["program"]
        self.title = columns["title"]
        self.host = columns["host"]
        self.host_version = columns["host_version"]
        self.version = columns["version"]
        self.time_bound = int(columns["time_bound"])  # per cent of the host's time; 0 for none
        self.date = columns["date"]
        self.size = columns["size"]
        self.variants = columns["variants"].split()  # those that were to run
        self.expected = expected
        self.why_skipped = ""
        self.ran_alone = False
        self.windows = dict.fromkeys(VARIANTS + FABRICS, 0)
        self.points: dict[str, dict[str, dict[str, Point]]] = {}  # by test, point and variant
        self.seconds: dict[tuple[str, str], list[float]] = {}     # of the rounds, by test and variant

    def add_run(self, columns: dict[str, str]) -> None:
        """Adds one run of a test."""
        test, variant = columns["test"], columns["variant"]
        self.points.setdefault(test, {})
        self.seconds.setdefault((test, variant), []).append(int(columns["centiseconds"]) / 100)
        self.windows[variant] += int(columns["windows"])
        self.ran_alone = self.ran_alone or variant == "host"

    def add_point(self, columns: dict[str, str]) -> None:
        """Adds one result of a run that was added."""
        name, variant, result = columns["point"], columns["variant"], columns["result"]
        point = self.points[columns["test"]].setdefault(name, {}).setdefault(variant, Point())
        point.results.append(result)
        point.told.append(bool(self.expected) and self.expected.holds(self.host, variant, name, result))

    def ran(self, test: str, point: str, variant: str) -> Point:
        """Returns what a point gave; a point without results where it did not run."""
        return self.points.get(test, {}).get(point, {}).get(variant) or Point()

    def result(self, test: str, point: str, variant: str) -> str:
        """Returns pass, fail, skip or none. A point passes if it passes in every round; one whose result a file
        tells, if it once does as told, and if it did not run, it is taken to do as told."""
        ran = self.ran(test, point, variant)
        if self.expected:
            if not ran.results:
                return self.expected.result(self.host, variant, point)
            return next((result for result, told in zip(reversed(ran.results), reversed(ran.told)) if told),
                        ran.results[-1])
        if not ran.results:
            return "none"
        if "skip" in ran.results:
            return "skip"
        return "pass" if set(ran.results) == {"pass"} else "fail"

    def comparable(self, test: str) -> bool:
        """Says whether all points of a test have one outcome everywhere, and one passes: then its times compare."""
        alone = [self.result(test, point, "host") for point in self.points[test]]
        return "pass" in alone and all(
            [self.result(test, point, variant) for point in self.points[test]] == alone for variant in ("lib", "nodes"))

    def median(self, test: str, variant: str) -> float:
        """Returns the median of the seconds that the rounds of a test took; 0 if there are none."""
        times = sorted(self.seconds.get((test, variant), [0.0]))
        return (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2

    def compared(self) -> list[str]:
        """Returns the tests that are comparable."""
        return [test for test in self.points if self.comparable(test)]

    def total(self, variant: str) -> float:
        """Returns the seconds of the comparable tests, or where there are none, of all tests."""
        return sum(self.median(test, variant) for test in self.compared() or self.points)

    def all_points(self) -> list[tuple[str, str]]:
        """Returns test and point of all points."""
        return [(test, point) for test, points in self.points.items() for point in points]


class Known:
    """The points that are not held against the library, from test/apps/known."""

    def __init__(self, path: str):
        self.reasons: list[tuple[re.Pattern, str]] = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    *names, reason = line.rstrip("\n").split(maxsplit=4)
                    pattern = re.escape("/".join(names)).replace(r"\*", ".*")
                    self.reasons.append((re.compile(pattern), reason))

    def excuse(self, row: Row, variant: str, point: str) -> str:
        """Returns why a point is not held against the library, or nothing."""
        if row.expected:
            told = row.expected.result(row.host, variant, point) in ("fail", "skip")
            return row.expected.reason[point] if told else ""
        name = "/".join((row.program, row.host, variant, point))
        return next((reason for pattern, reason in self.reasons if pattern.fullmatch(name)), "")


def read(paths: Sequence[str], expected: dict[str, Expected]) -> list[Row]:
    """Returns the rows of the result files, in their order."""
    rows: list[Row] = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                kind, *values = line.rstrip("\n").split("\t")
                columns = dict(zip(COLUMNS[kind], values))
                if kind == "program":
                    # The build for the standard ABI is held against the host alone.
                    rows.append(Row(columns, expected.get(columns["program"]) if columns["host"] in HOSTS else None))
                elif kind == "skipped":
                    rows[-1].why_skipped = columns["why"]
                elif kind == "run":
                    rows[-1].add_run(columns)
                else:
                    rows[-1].add_point(columns)
    return rows


def expected_files(directory: str) -> dict[str, Expected]:
    """Returns the files of a directory by the program's name."""
    return {name: Expected(os.path.join(directory, name)) for name in sorted(os.listdir(directory))}
