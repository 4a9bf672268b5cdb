# SPDX-License-Identifier: BSD-3-Clause
"""Tells what real programs gave: python3 test/apps/results.py COMMAND..., see --help.

`table`, `details` and `totals` are of the result files of scripts/check-apps.sh; `told`, `differs` and `chosen` are
what test/apps/common.sh asks of a file of test/apps/expected.
"""
import argparse
import os
import sys
from typing import Iterator

sys.dont_write_bytecode = True  # the source may be another's, or read-only

import runs  # noqa: E402
from expected import FABRICS, HOSTS, VARIANTS, Expected, test_of  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WITH_LIBRARY = VARIANTS[1:]
HEADING = """\
| program | host | tests | pass: host | with libmpi-rma | over nodes | time: host | with libmpi-rma | over nodes | windows |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"""
LONGER = "longer in a node than on the host alone, by more than a tenth and half a second"


def _slower(host_time: float, time: float) -> bool:
    """Says whether a time is longer than the host's by a tenth and by half a second, which two runs may differ by."""
    return time > 1.1 * host_time and time > host_time + 0.5


def _time(row: runs.Row, variant: str) -> str:
    """Returns the time of a variant, with how many times the host's it is where it is slower."""
    if variant not in row.variants:
        return "not run"
    time, host_time = row.total(variant), row.total("host")
    if row.compared() and host_time > 0 and _slower(host_time, time):
        return f"{time:.1f} s ({time / host_time:.1f} times)"
    return f"{time:.1f} s"


def _passed(row: runs.Row, variant: str) -> str:
    """Returns how many points pass; of the host alone, where it did not run, how many are known to."""
    if variant != "host" and variant not in row.variants:
        return "not run"
    return str(sum(row.result(test, point, variant) == "pass" for test, point in row.all_points()))


def _time_alone(row: runs.Row) -> str:
    if not row.ran_alone:
        return "not run"
    return f"{row.total('host'):.1f} s" if row.compared() else "fails"


def table(rows: list[runs.Row]) -> Iterator[str]:
    """Returns a row of Markdown for each program and host."""
    yield HEADING
    for row in rows:
        version = "" if row.version == "-" else f" ({row.version})"
        host = {"mpich": "MPICH", "openmpi": "Open MPI"}.get(row.host, "the standard ABI")
        begin = f"| {row.title}{version} | {host} {row.host_version} | "
        if row.why_skipped:
            yield f"{begin}skipped: {row.why_skipped} | | | | | | | |"
            continue
        passed = [_passed(row, variant) for variant in VARIANTS]
        cells = [len(row.all_points()), *passed, _time_alone(row), _time(row, "lib"), _time(row, "nodes"),
                 row.windows["lib"] or "none"]
        yield begin + " | ".join(str(cell) for cell in cells) + " |"
    yield ""
    yield f"Made on {max(row.date for row in rows)} by `scripts/check-apps.sh`."


def fabrics(rows: list[runs.Row]) -> Iterator[str]:
    """Returns a row of Markdown for each program, host and fabric."""
    yield "| program | host | fabric | tests | as expected | pass | windows |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for row in rows:
        points = row.all_points()
        for variant in row.variants:
            results = [(point, row.result(test, point, variant)) for test, point in points]
            held = sum(bool(row.expected) and row.expected.holds(row.host, variant, *result) for result in results)
            passed = sum(result == "pass" for _, result in results)
            yield (f"| {row.title} ({row.version}) | {'MPICH' if row.host == 'mpich' else 'Open MPI'} {row.host_version} | "
                   f"{variant} | {len(points)} | {held} | {passed} | {row.windows[variant]} |")
    yield ""
    yield f"Made on {max(row.date for row in rows)} by `scripts/check-apps.sh --fabrics`."


def _worse(rows: list[runs.Row], known: runs.Known) -> Iterator[str]:
    """Returns what passes on the host and not with the library, point by point."""
    for row in rows:
        for test, point in row.all_points():
            for variant in WITH_LIBRARY:
                if row.result(test, point, "host") != "pass" or row.result(test, point, variant) == "pass":
                    continue
                ran = row.ran(test, point, variant)
                reason = known.excuse(row, variant, point)
                yield (f"- {row.program}, {row.host}{', over nodes' if variant == 'nodes' else ''}: `{point}`"
                       f"{'' if point == test else f' of `{test}`'} ({ran.results.count('pass')} of {len(ran.results)} runs pass)"
                       f"{f', not held against the library: {reason}' if reason else ''}")


def _changing(rows: list[runs.Row], mark: str) -> Iterator[str]:
    """Returns the points that did as test/apps/expected says only when they ran again."""
    for row in rows:
        for test, point in row.all_points():
            for variant in VARIANTS:
                ran = row.ran(test, point, variant)
                if ran.changed():
                    yield (f"{mark}{row.program}, {row.host}, {variant}: `{point}` "
                           f"({ran.told.count(False)} of {len(ran.told)} runs not as expected)")


def _longer(rows: list[runs.Row]) -> Iterator[str]:
    """Returns the tests that take longer with the library, in a node."""
    for row in rows:
        for test in row.compared() if row.ran_alone else []:
            host_time, time = row.median(test, "host"), row.median(test, "lib")
            if _slower(host_time, time):
                yield f"- {row.program}, {row.host}: `{test}`: {time:.2f} s for {host_time:.2f} s"


def _list(heading: str, lines: Iterator[str], nothing: str) -> Iterator[str]:
    found = list(lines)
    if found or nothing:
        yield ""
        yield heading if found else nothing
    if found:
        yield ""
        yield from found


def details(rows: list[runs.Row], known: runs.Known) -> Iterator[str]:
    """Returns, as Markdown, what does worse with the library than without, test by test."""
    yield from _list("These pass on the host and not with the library:", _worse(rows, known),
                     "No test passes on the host and fails with the library.")
    yield from _list("These did not always do the same:", _changing(rows, "- "), "")
    yield from _list(f"These take {LONGER}:", _longer(rows), f"No test takes {LONGER}.")


class Totals:
    """Counts what passed, what is held against the library, and what is left out."""

    def __init__(self) -> None:
        self.passed = 0
        self.left_out = 0
        self.lines: list[str] = []
        self.failed = 0

    def fail(self, *words: str) -> None:
        """Counts a failure, which the words tell."""
        self.failed += 1
        self.lines.append(f"not ok: {words[0]}, {', '.join(words[1:-1])}: {words[-1]}")

    def against_file(self, row: runs.Row, expected: Expected) -> None:
        """Counts each point that the file tells: anything else fails, also what was to run and did not."""
        test_of = {point: test for test, point in row.all_points()}
        for _, point in row.all_points():
            if point not in expected.when:
                self.fail(row.program, row.host, f"{point} is not in test/apps/expected/{row.program}")
        for point in expected.when:
            if not expected.runs(point, row.size):
                continue
            for variant in row.variants:
                test = test_of.get(point, "")
                result = row.result(test, point, variant) if row.ran(test, point, variant).results else "none"
                if not expected.holds(row.host, variant, point, result):
                    told, seen = (word.replace("none", "not run") for word in
                                  (expected.result(row.host, variant, point), result))
                    self.fail(row.program, row.host, variant, f"{point}: {seen}, expected: {told}")
                elif expected.signs[row.host, variant, point] == "+":
                    self.passed += 1
                else:
                    self.left_out += 1

    def against_host(self, row: runs.Row, known: runs.Known) -> None:
        """Counts each point with the library: what passes on the host must pass."""
        for test, point in row.all_points():
            for variant in WITH_LIBRARY:
                if row.result(test, point, variant) == "pass":
                    self.passed += 1
                elif row.result(test, point, "host") != "pass" or known.excuse(row, variant, point):
                    self.left_out += 1
                else:
                    self.fail(row.program, row.host, variant, point)

    def time(self, row: runs.Row) -> None:
        """Counts the time in a node of a program that has a bound as a point of its own."""
        if not row.time_bound or not row.compared():
            return
        time, host_time = row.total("lib"), row.total("host")
        if time * 100 <= host_time * row.time_bound or time <= host_time + 1:
            self.passed += 1
        else:
            self.fail(row.program, row.host, "lib", f"{time:.1f} s for {host_time:.1f} s")

    def add(self, row: runs.Row, known: runs.Known) -> None:
        """Counts a program on a host."""
        if row.why_skipped:
            self.left_out += 1
            self.lines.append(f"SKIP: {row.program}, {row.host}: {row.why_skipped}")
        if row.expected:
            self.against_file(row, row.expected)
        else:
            self.against_host(row, known)
        self.time(row)


def _rows(args) -> list[runs.Row]:
    args.expected_files = runs.expected_files(args.expected)
    return runs.read(args.files, args.expected_files)


def _show(lines: Iterator[str]) -> int:
    for line in lines:
        print(line)
    return 0


def _totals(args) -> int:
    totals = Totals()
    rows, known = _rows(args), runs.Known(args.known)
    for row in rows:
        totals.add(row, known)
    totals.failed += any(one.wrong for one in args.expected_files.values())
    _show([*totals.lines, *_changing(rows, "changed: ")])
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.left_out} skipped")
    return 1 if totals.failed else 0


def _differs(args, expected: Expected) -> bool:
    results = (line.split() for line in sys.stdin)
    return expected.differs(args.host, args.variant, args.test, {point: result for result, point in results})


def _told(args, expected: Expected) -> bool:
    for variant in VARIANTS + FABRICS:
        for point in expected.when:
            if (told := expected.told(args.host, variant, point)) != "none":
                print(variant, test_of(point), told, point)
    return True


def _chosen(args, expected: Expected) -> bool:
    chosen = expected.chosen(args.size)
    for line in sys.stdin:
        if line.split()[0] in chosen:
            print(line, end="")
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="results", description="Tell what real programs gave.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, text, run in (
            ("table", "a row for each program and host, as Markdown", lambda args: _show(table(_rows(args)))),
            ("fabrics", "the same for runs over fabrics, a row for each of these", lambda args: _show(fabrics(_rows(args)))),
            ("details", "the tests that pass on the host and not with the library, and those that take longer",
             lambda args: _show(details(_rows(args), runs.Known(args.known)))),
            ("totals", "what failed, and how many; exit code 1 if any did", _totals)):
        one = commands.add_parser(name, help=text)
        one.set_defaults(run=run)
        one.add_argument("--known", default=os.path.join(HERE, "known"), metavar="FILE", help="points not held against the library")
        one.add_argument("--expected", default=os.path.join(HERE, "expected"), metavar="DIRECTORY",
                         help="what each test of a program gives, a file for a program")
        one.add_argument("files", nargs="+", metavar="RESULTS")
    for name, text, ask in (
            ("differs", "exit code 0 if the points on standard input, lines of RESULT and POINT, are not all those expected", _differs),
            ("told", "what the file tells, lines of VARIANT, TEST, RESULT and POINT; RESULT also hangs and any", _told),
            ("chosen", "the lines on standard input whose first word is a test that a run of a size has", _chosen)):
        one = commands.add_parser(name, help=text)
        one.set_defaults(ask=ask)
        one.add_argument("file", metavar="EXPECTED")
        if ask is _chosen:
            one.add_argument("size", choices=("short", "ci"))
            continue
        one.add_argument("host", choices=HOSTS)
        if ask is _differs:
            one.add_argument("variant", choices=VARIANTS + FABRICS)
            one.add_argument("test")
    return parser


def main() -> int:
    """Runs the command that the arguments name; exit code 2 where a file of what is expected is wrong."""
    args = _parser().parse_args()
    if "ask" not in args:
        return args.run(args)
    expected = Expected(args.file)
    answer = args.ask(args, expected)
    return 2 if expected.wrong else 0 if answer else 1


if __name__ == "__main__":
    sys.exit(main())
