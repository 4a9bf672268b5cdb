#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints doc/conformance.md, for scripts/conformance.sh, which says what it is made of.

    conformance.py TREE

The head of TREE/test/mpi/conformance describes the form of the rules. Offences are listed as errors, and the exit
code is 1 if there are any.
"""
import collections
import fnmatch
import glob
import os
import re
import sys
from typing import Iterable, Iterator, Optional, Sequence

PATHS = ("auto", "mapped", "xpmem", "cma", "packets", "net", "nodes1", "nodes2", "netns2", "netns3")
ONE_NODE = frozenset(PATHS[:6])  # of which the page says "node"
LANGUAGES = ("C", "mpif.h", "mpi", "mpi_f08", "mpi4py")
ELSEWHERE = ("unit", "sim", "apps", "tap")  # tests that are no programs of test/mpi
HOSTS = {"mpich": "MPICH", "openmpi": "Open MPI"}
HELPER = "mtest"  # what all programs of test/mpi link
SOURCES = ("test/mpi/*.[ch]", "test/mpi/*.f90", "test/mpi/*.py", "test/mpi/*.sh", "test/unit/**/*.c", "test/sim/*.c",
           "test/source/check-*.sh", "test/apps/*.sh", "test/product/*.tap")
FORTRAN = (("mpi_f08", re.compile(r" *use mpi_f08")), ("mpi", re.compile(r" *use mpi *$")),
           ("mpif.h", re.compile(r" *include 'mpif.h'")))
EXPORT = re.compile(r" *(?:MRMA_)?EXPORT_(MPI|MPIRMA)\(([^)]*)\)")
MADE = re.compile(r"[A-Z_]+\((?:WINDOW_ENTRY, )?([A-Z][a-z]\w*)[,)]")  # by a macro that window_call.h or its user has
COMMENT = re.compile(r" *(/\*|\*|!)")  # of C in the style of the house: a line of a comment begins with it
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
CALL = re.compile(r"([A-Za-z0-9_]+) *\(")
PYTHON_CALL = re.compile(r"([A-Za-z_]+)\.([A-Z][a-z_]*)\(")
STARTED = re.compile(r"\$bin/([a-z_0-9]+)")
FEWEST_FUNCTIONS = 60

offences: list[str] = []


def complain(text: str) -> None:
    """Notes an offence."""
    offences.append(text)


def lines_of(path: str) -> list[str]:
    """Returns the lines of a file, without their ends."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def files(*patterns: str) -> list[str]:
    """Returns the files that fit the patterns, in one order whatever the language of whoever runs this."""
    return [path for pattern in patterns for path in sorted(glob.glob(pattern, recursive=True))]


def programs_of_makefile(path: str) -> dict[str, str]:
    """Returns the program of each source that belongs to a program of several, or to what all of them link."""
    program_of = {}
    for line in "\n".join(lines_of(path)).replace("\\\n", "").split("\n"):
        name, found, sources = line.partition("_SOURCES")
        if found and sources.lstrip().startswith("="):
            name = name.removeprefix("test_mpi_")
            for word in sources.lstrip()[1:].split():
                program_of[os.path.basename(word)] = HELPER if name.endswith("_la") else name
    return program_of


def exported_functions() -> list[str]:
    """Returns the functions of the chapter that the library exports, but not those that its Fortran module calls (_f)."""
    lines = [line for path in files("src/mpi/*/*.c") for line in lines_of(path)]
    names = [f"{match[1]}_{match[2]}" for line in lines if (match := EXPORT.match(line))]
    names += [f"MPI_{match[1]}" for line in lines if not EXPORT.match(line) and (match := MADE.match(line))]
    return [name for name in dict.fromkeys(names) if name not in ("MPI_name", "MPIRMA_name") and not name.endswith("_f")]


class Tests:
    """The tests: which words and calls their sources have, and on which paths and hosts they run."""

    def __init__(self) -> None:
        self.program_of = programs_of_makefile("test/mpi/sources.am")
        self.paths: dict[str, list[str]] = collections.defaultdict(list)  # of a line of the list
        for line in lines_of("test/mpi/testlist"):
            if re.match("[a-z]", line):
                entry, _, column = line.split()[:3]
                paths = re.split("[,/]", column)
                self.paths[entry] += paths
                if "cma" in paths and "MPIRMA_XPMEM=no" not in line:
                    self.paths[entry].append("xpmem")  # which takes all lines of cma
        self.short = {line.split()[0] for line in lines_of("test/mpi/testlist-short") if re.match("[a-z]", line)}
        self.words: dict[str, set[str]] = collections.defaultdict(set)          # of a program
        self.languages: dict[str, set[str]] = collections.defaultdict(set)      # in which a program calls MPI
        self.calls: dict[str, dict[str, set[str]]] = collections.defaultdict(dict)  # function, program, languages
        self.scripts: dict[str, str] = {}                                       # of test/mpi, with their texts
        for path in files(*SOURCES):
            self._read(path)
        self.entries = self._entries()

    def _program(self, path: str) -> str:
        directory, name = os.path.split(path)
        stem, kind = os.path.splitext(name)
        if directory == "test/mpi":
            return self.program_of.get(name, name if kind in (".sh", ".py", ".tap") else stem)
        if directory.startswith("test/unit/"):
            return f"unit/{stem}"
        return name if directory == "test/product" else path.removeprefix("test/")

    def _read(self, path: str) -> None:
        program, lines = self._program(path), lines_of(path)
        self.words[program].update(word for line in lines for word in WORD.findall(line))
        if os.path.dirname(path) != "test/mpi":
            return
        kind = path.rpartition(".")[2]
        if kind == "sh":
            self.scripts[program] = "\n".join(lines)
            return
        language = {"c": "C", "h": "C", "py": "mpi4py"}.get(kind, "")
        for line in lines:
            if kind == "f90":
                language = next((name for name, pattern in FORTRAN if pattern.match(line)), language)
            if kind == "py":
                self._note(self._python_calls(line), program, language)
            elif not COMMENT.match(line):
                names = (name.lower() for name in CALL.findall(line))
                self._note((name for name in names if name.startswith(("mpi_", "mpirma_"))), program, language)

    @staticmethod
    def _python_calls(line: str) -> Iterator[str]:
        """Returns what is called by mpi4py's methods of windows, of requests and of the module."""
        for found in PYTHON_CALL.finditer(line):
            thing, method = found[1].lower(), found[2].lower()
            if thing == "win":
                yield f"mpi_win_{method}"
            if thing in ("win", "request", "mpi"):
                yield f"mpi_{method}"

    def _note(self, names: Iterable[str], program: str, language: str) -> None:
        for name in names:
            if language:
                self.calls[name].setdefault(program, set()).add(language)
                self.languages[program].add(language)

    def _entries(self) -> dict[str, set[str]]:
        """Returns the lines of the list that run a program: its own, or those of scripts that start it."""
        entries: dict[str, set[str]] = collections.defaultdict(set)
        for program in self.words:
            if "/" not in program and program in self.paths:
                entries[program].add(program)
        for script, text in self.scripts.items():
            started = STARTED.findall(text) + (["kill_victim"] if "start_victims" in text else [])
            for program in started:
                if program not in self.words:
                    complain(f"{script} starts {program}, which has no source")
                elif script in self.paths:
                    entries[program].add(script)
        return entries

    def paths_of(self, program: str, only: str = "") -> tuple[set[str], bool]:
        """Returns the paths on which a program runs, or those of them that are named, and whether the short
        list has one there."""
        if program == HELPER:
            return {"auto"}, False
        on, in_short = set(), False
        for entry in self.entries.get(program, ()):
            here = {path for path in self.paths[entry] if path in PATHS and (not only or path in only.split(","))}
            on |= here
            in_short = in_short or bool(here) and entry in self.short
        return on, in_short


class Rule:
    """A rule of the chapter: its tests, and what is said of it."""

    def __init__(self, heading: str, section: str, text: str, line: int):
        self.heading, self.section, self.text, self.line = heading, section, text, line
        self.tests: list[str] = []
        self.none = ""         # why no test holds it
        self.host = ""         # the only one that it is for
        self.host_reason = ""


class Rules:
    """test/mpi/conformance: the rules, and what is said of functions."""

    def __init__(self, path: str):
        self.path = path
        self.rules: list[Rule] = []
        self.of_host: dict[str, str] = {}    # functions that are the host's, with the reason
        self.untested: dict[str, str] = {}   # functions that no program calls
        self.limited: list[tuple[str, str, str]] = []  # pattern of functions, the only host, reason
        heading = ""
        for number, line in enumerate(lines_of(path), 1):
            if line.startswith("#") or not line.strip(" "):
                continue
            if line.startswith("== "):
                heading = line[3:]
            elif line.startswith("function "):
                self._function(line, number)
            elif found := re.match(r"- ([^ ]+) +(.*)", line):
                self.rules.append(Rule(heading, found[1], found[2], number))
            elif found := re.match(r" +(none|mpich|openmpi): *(.*)", line):
                self._reason(self.rules[-1], found[1], found[2])
            elif line.startswith(" "):
                self.rules[-1].tests += line.split()
            else:
                complain(f"{path}:{number}: not understood: {line}")

    def _function(self, line: str, number: int) -> None:
        found = re.match(r"function +(?:(.*?) +)?(host|none|mpich|openmpi): *(.*)", line)
        if not found:
            complain(f"{self.path}:{number}: expected host:, none:, mpich: or openmpi:")
            return
        names, verdict, reason = (found[1] or "").split(), found[2], found[3]
        if verdict == "host":
            self.of_host.update((name, reason) for name in names)
        elif verdict == "none":
            self.untested.update((name, reason) for name in names)
        else:
            self.limited += [(name, verdict, reason) for name in names]

    @staticmethod
    def _reason(rule: Rule, verdict: str, reason: str) -> None:
        if verdict == "none":
            rule.none = reason
        else:
            rule.host, rule.host_reason = verdict, reason

    def limit(self, name: str) -> Optional[tuple[str, str, str]]:
        """Returns what limits a function to one host."""
        return next((limit for limit in self.limited if fnmatch.fnmatchcase(name, limit[0])), None)


def known_differences(path: str) -> Iterator[str]:
    """Returns MPICH's tests that pass on the host and not with the library, of the file that tells what they give:
    signs of the host alone, with the library and over pretended nodes, for each of the two hosts."""
    for line in lines_of(path):
        words = line.split(None, 4)
        if line.startswith("#") or len(words) < 5:
            continue
        failing = [name for name, signs in zip(HOSTS.values(), words[2:4]) if re.match(r"\+.*[-!s]", signs)]
        if failing:
            where = "both hosts" if len(failing) == len(HOSTS) else failing[0]
            yield f"`{words[0]}` on {where}: {words[4]}."


def in_order(names: Iterable[str], chosen: Iterable[str]) -> str:
    """Returns those of the names that are chosen, in the names' order."""
    chosen = set(chosen)
    return ", ".join(name for name in names if name in chosen)


def in_short(names: Sequence[str], chosen: Iterable[str]) -> str:
    """Returns those of the names that are chosen, or that all are, but for those that are named."""
    chosen = set(chosen)
    missing = [name for name in names if name not in chosen]
    if not missing:
        return "all"
    return f"all but {', '.join(missing)}" if len(missing) <= len(names) // 3 else in_order(names, chosen)


def spoken(languages: set[str]) -> str:
    """Returns the languages; nothing for C alone."""
    return "" if languages == {"C"} else in_short(LANGUAGES, languages)


def places(on: set[str]) -> str:
    """Returns the paths, with one word for those of one node."""
    if not ONE_NODE <= on:
        return in_order(PATHS, on)
    return "all" if len(on) == len(PATHS) else ", ".join(filter(None, ("node", in_order(PATHS, on - ONE_NODE))))


class Page:
    """The page, of tests and rules."""

    def __init__(self, tests: Tests, rules: Rules, functions: list[str]):
        self.tests, self.rules = tests, rules
        self.functions = sorted(dict.fromkeys([*functions, *rules.of_host]))

    def _function_rows(self) -> Iterator[str]:
        """Returns the rows of functions; those that differ in nothing else share one."""
        alike: dict[str, list[str]] = {}
        for name in self.functions:
            for cells in self._cells_of(name):
                alike.setdefault(cells, []).append(f"`{name}`{' (host)' if name in self.rules.of_host else ''}")
        return (f"| {', '.join(names)} | {cells}" for cells, names in alike.items())

    def _cells_of(self, name: str) -> Iterator[str]:
        on, speaks, in_short, shown = set(), set(), False, []
        callers = self.tests.calls.get(name.lower(), {})
        for program, languages in callers.items():
            paths, short = self.tests.paths_of(program)
            if paths:
                on |= paths
                speaks |= languages
                in_short = in_short or short
                if program != HELPER:
                    shown.append(program)
        text = ", ".join(shown[:1] or [HELPER] * (HELPER in callers)) + (f", {len(shown) - 1} more" if len(shown) > 1 else "")
        if name in self.rules.untested:
            if text:
                complain(f"{name} has a reason for no test, but {next(iter(callers))} calls it")
            text = f"none: {self.rules.untested[name]}"
        elif not text:
            complain(f"{name} is called by no program of test/mpi/testlist, and test/mpi/conformance gives no reason")
            return
        limit = self.rules.limit(name)
        yield (f"{HOSTS[limit[1]] if limit else ''} | "
               f"{spoken(speaks)} | {places(on)} | {'yes' if in_short else ''} | {text} |")

    def _check_test(self, rule: Rule, test: str) -> tuple[str, set[str], bool]:
        """Returns a test of a rule (PROGRAM, or PROGRAM:WORD of its source, with @PATHS), its paths and whether the
        short list has it."""
        where = f"rule in line {rule.line}"
        name, _, only = test.partition("@")
        program, _, word = name.partition(":")
        if program not in self.tests.words:
            complain(f"{where}: there is no test {program}")
            return program, set(), False
        if word and word not in self.tests.words[program]:
            complain(f"{where}: {program} has no {word}")
        if "/" in program or program.endswith(".tap"):
            return program, set(), False
        paths, in_short = self.tests.paths_of(program, only)
        if not paths:
            complain(f"{where}: {program} has no such line in test/mpi/testlist")
        return program, paths, in_short

    def _rule_row(self, rule: Rule) -> str:
        on, speaks, elsewhere, in_short, names = set(), set(), set(), False, []
        for test in rule.tests:
            program, paths, short = self._check_test(rule, test)
            on |= paths
            in_short = in_short or short
            speaks |= self.tests.languages.get(program, set())
            elsewhere.add("tap" if program.endswith(".tap") else program.partition("/")[0])
            names.append(f"`{test.partition('@')[0]}`")
        if not names and not rule.none:
            complain(f"rule in line {rule.line} has neither a test nor a reason: {rule.text}")
        text = ", ".join(names)
        if rule.none:
            text += ("; " if names else "") + f"not held: {rule.none}"
        if rule.host:
            text += f"; {HOSTS[rule.host]} alone: {rule.host_reason}"
        place = ", ".join(filter(None, (places(on), in_order(ELSEWHERE, elsewhere))))
        return (f"| {rule.text} | {rule.section} | {spoken(speaks)} | {place} | "
                f"{'yes' if in_short else ''} | {text} |")

    def _notes(self) -> Iterator[str]:
        yield ""
        before = ""
        for pattern, host, reason in self.rules.limited:
            if not any(self.rules.limit(name) == (pattern, host, reason) for name in self.functions):
                complain(f"no function matches {pattern}")
            if reason != before:
                yield f"Only {HOSTS[host]}: {reason}."
            before = reason
        reasons = (self.rules.of_host[name] for name in self.functions if name in self.rules.of_host)
        yield from (f"(host): {reason}." for reason in dict.fromkeys(reasons))

    def lines(self, known: Iterable[str]) -> Iterator[str]:
        """Returns the lines of the page."""
        yield HEAD
        yield from self._function_rows()
        yield from self._notes()
        before = ""
        for rule in self.rules.rules:
            if rule.heading != before:
                yield (f"\n## {rule.heading}\n\n| Rule | MPI 4.1 | Languages | Paths | Short | Tests |\n"
                       "|---|---|---|---|---|---|")
            before = rule.heading
            yield self._rule_row(rule)
        yield MPICH_TESTS
        yield from (f"- {one}" for one in known)


HEAD = """\
# Conformance

<!-- Written by scripts/conformance.sh --update from test/mpi/conformance and the tests; not to be edited. -->

For each function of MPI 4.1's chapter on one-sided communication, and for each rule of it that the library keeps: the tests that hold
it. A rule that no test holds has the reason in its row. MPI 5.0 has the same functions of this chapter, and the integers that stand
for handles beside them. What MPI 4.1 and 5.0 changed in the chapter and in what it uses has rows of its own, or its section's: windows
that `MPI_Win_shared_query` answers for, `mpi_accumulate_granularity` and the kinds of memory are among windows and hints.

- A row is for both hosts, MPICH and Open MPI, of Debian 12 and of Debian 13, unless it names one. "Short" marks the rows of which a
  test is in `test/mpi/testlist-short`, which stage `hosts-short` of `.ci/run --full` runs over other hosts.
- Languages: empty for C alone; Fortran by `mpif.h`, `use mpi` and `use mpi_f08`, Python by mpi4py.
- Paths: those of [testing](testing.md#the-list-of-mpi-tests) on which a test of the row runs; "node" is auto, mapped, xpmem, cma,
  packets and net together. "unit" is `test/unit`, "sim" `test/sim`, "apps" `test/apps`, "tap" a script of `test/product`.
- Tests: a program of `test/mpi` and the function or word in it where the rule is looked at; "mtest" is what all of them link.

## Functions

| Functions | Host | Languages | Paths | Short | Programs that call it |
|---|---|---|---|---|---|"""

MPICH_TESTS = """
## MPICH's own tests of one-sided communication

`scripts/check-apps.sh mpich-rma` runs them on both hosts ([testing](testing.md#real-programs)). Of those
that pass on the host, these look at a choice of MPICH's where the standard leaves one, and are not held
against the library:
"""


def main() -> int:
    """Prints the page and the offences."""
    if len(sys.argv) != 2:
        print("usage: conformance.py TREE", file=sys.stderr)
        return 2
    os.chdir(sys.argv[1])
    page = Page(Tests(), Rules("test/mpi/conformance"), exported_functions())
    for line in page.lines(known_differences("test/apps/expected/mpich-rma")):
        print(line)
    if len(page.functions) < FEWEST_FUNCTIONS:
        complain(f"only {len(page.functions)} functions were found")
    for offence in dict.fromkeys(offences):
        print(f"conformance: {offence}", file=sys.stderr)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
