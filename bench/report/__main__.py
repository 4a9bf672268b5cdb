# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables of the benches' results: python3 bench/report COMMAND..., see --help.

Exit code: 0, 1 where a result is bad (each command says which), 2 for wrong arguments and for files that cannot be
read: the message names the file, and the column that is not there.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True  # the source may be another's, or read-only

import compare  # noqa: E402
import figures  # noqa: E402
import gains  # noqa: E402
import goals  # noqa: E402
import growth  # noqa: E402
import halo  # noqa: E402
import limits  # noqa: E402
import overhead  # noqa: E402
import papers  # noqa: E402
import plots  # noqa: E402
import published  # noqa: E402
import results  # noqa: E402
import rounds  # noqa: E402
import slower  # noqa: E402


def _show(lines) -> int:
    for line in lines:
        print(line)
    return 0


def _halo(args) -> int:
    both = halo.Halo(args.host, args.library)
    _show(both.lines(args.markdown, args.processors, args.legend))
    return 0 if both.library_in_use() else 1


def _figures(args) -> int:
    report = figures.report(args.directory, args.processors)
    _show(report.lines)
    return 1 if report.failed else 0


def _goals(args) -> int:
    judged = goals.Judged(args.files, args.limits, args.processors, args.measured)
    _show(judged.lines or ["no runs"])
    return 1 if judged.missed or not judged.lines else 0


def _plots(args) -> int:
    return _show(plots.write(figures.Directory(args.directory).plotted(), os.path.join(args.directory, "performance")))


def _growth(args) -> int:
    lines = list(growth.report(args.files, args.processors))
    _show(lines or ["no runs with the library"])
    return 0 if lines else 1


def _compare(args) -> int:
    lines, slower_ones = compare.Comparison(args.files).report(args.factor)
    if not lines:
        raise results.WrongResults("nothing that both the library and a host have measured")
    _show(lines)
    return 1 if slower_ones else 0


def _version() -> str:
    configure = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "configure.ac")
    with open(configure, encoding="utf-8") as file:
        found = re.search(r"^AC_INIT\(\[libmpi-rma\],\[(.*)\]\)$", file.read(), re.MULTILINE)
    return f"report, libmpi-rma {found[1] if found else ''}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="report", description="Make tables of the benches' results.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, text: str, run) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        one.set_defaults(run=run)
        return one

    def files(one: argparse.ArgumentParser) -> None:
        one.add_argument("files", nargs="+", metavar="FILE.csv")

    def processors(one: argparse.ArgumentParser) -> None:
        one.add_argument("--processors", type=int, default=os.cpu_count(), metavar="N",
                         help="of the machine that was measured (default: of this one)")

    one = command("halo", "the halo exchange of two runs, the host's and the library's; exit code 1 where the second did "
                  "not use the library", _halo)
    one.add_argument("--markdown", action="store_true")
    one.add_argument("--legend", action="store_true", help="say first how the tables are read, and what the exchanges are")
    processors(one)
    one.add_argument("host", metavar="HOST.csv")
    one.add_argument("library", metavar="LIBRARY.csv")

    files(command("median", "one CSV file of several rounds of a bench", lambda args: _show(rounds.merge(args.files))))

    one = command("figures", "the figures of doc/report/full-report.md, from the directory of scripts/performance.sh", _figures)
    processors(one)
    one.add_argument("directory", metavar="DIRECTORY")

    one = command("gains", "README's table of what a user gains",
                  lambda args: _show(gains.report(args.directory, args.programs)))
    one.add_argument("directory", metavar="DIRECTORY")
    one.add_argument("programs", metavar="REAL-PROGRAMS.md")

    one = command("goals", "what runs of bench/rma/rma say of each goal within a node, and the limits; exit code 1 where a goal "
                  "is not met, or there is no run", _goals)
    one.add_argument("--limits", default=limits.TABLE, metavar="FILE.csv", help="the table of limits (default: that of bench/goals)")
    one.add_argument("--measured", action="store_true", help="leave out what was not measured")
    processors(one)
    files(one)

    files(command("papers", "the papers' figures as tables", lambda args: _show(papers.report(args.files))))

    one = command("published", "the papers' own numbers beside ours, from the directory of scripts/papers.sh",
                  lambda args: _show(published.report(args.directory, args.processors, args.numbers)))
    one.add_argument("--numbers", default=published.TABLE, metavar="FILE.csv", help="the papers' numbers (default: those of bench/report)")
    processors(one)
    one.add_argument("directory", metavar="DIRECTORY")

    one = command("plots", "the curves of the papers' figures, as files for gnuplot in DIRECTORY/performance, and a list of "
                  "them", _plots)
    one.add_argument("directory", metavar="DIRECTORY")

    one = command("slower", "where the library is slower than send and receive or than the host",
                  lambda args: _show(slower.report(args.files, args.margin, args.processors)))
    one.add_argument("--margin", type=float, default=1.1, metavar="TIMES", help="from so many times on (default 1.1)")
    processors(one)
    files(one)

    one = command("growth", "what grows with the number of ranks, held against goals 3 and 11; exit code 1 where there are "
                  "no runs with the library", _growth)
    processors(one)
    files(one)

    one = command("compare", "where the library is slower than the better host; exit code 1 if it is anywhere", _compare)
    one.add_argument("--factor", type=float, default=1, metavar="TIMES", help="list it from so many times on (default 1)")
    files(one)

    one = command("overhead", "what a trace costs", lambda args: _show(overhead.report(args.file)))
    one.add_argument("file", metavar="FILE.csv")
    return parser


def main() -> int:
    """Runs the command that the arguments name."""
    args = _parser().parse_args()
    try:
        return args.run(args)
    except results.WrongResults as error:
        print(f"report: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
