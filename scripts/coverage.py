#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums up what gcov counted: a table of the library's folders, the list of branches that nothing took, and why.

    coverage.py SOURCE BUILD
    coverage.py --reasons SOURCE LIST

prints Markdown tables and writes BUILD/untaken, a line for each line of source with branches that were never
taken: file, line, how many of how many, and the line itself. Branches of inline functions are summed over all
objects that have them. The second form prints only the second table, for such a list.

The second table sums up, for src/rma and src/ch3, the reasons that SOURCE/test/untaken gives: a line `reason TEXT`,
then lines `FILE REGEX`. FILE is relative to src and may be a shell pattern, whose * goes through folders, too; REGEX
is searched in the line of source without the blanks around it. The first entry that fits a line gives its reason. A
line without a reason, and an entry that fits no line of the sources any more, are listed, and the exit status is 1.
An entry whose lines were all taken this time stays: time decides some.
"""
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

Entry = collections.namedtuple("Entry", "number reason file regex")

# The folders of src whose branches need a reason.
EXPLAINED = ("rma", "ch3")


class WrongList(Exception):
    """A list that cannot be read."""


def gcov_reports(build):
    """The gcov reports of all objects of the library that ran."""
    for folder, _, names in os.walk(os.path.join(build, "src")):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            path = os.path.join(folder, name)
            out = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout", path],
                                 cwd=build, capture_output=True, text=True, check=True).stdout
            for line in out.splitlines():
                if line.startswith("{"):
                    yield json.loads(line)


def collect(source, build):
    """{(file, line): [count of each branch]} for the files of src."""
    counts = collections.defaultdict(list)
    root = os.path.join(os.path.realpath(source), "src") + os.sep
    for report in gcov_reports(build):
        for file in report["files"]:
            path = os.path.realpath(os.path.join(report["current_working_directory"], file["file"]))
            if not path.startswith(root):
                continue
            for line in file["lines"]:
                known = counts[path[len(root):], line["line_number"]]
                for i, branch in enumerate(line["branches"]):
                    if i == len(known):
                        known.append(0)
                    known[i] += branch["count"]
    return counts


def folder_of(file):
    """The row of the table that a file belongs to."""
    parts = file.split("/")
    return "/".join(["src"] + parts[:2 if parts[0] in ("rma", "netmod") and len(parts) > 2 else 1 if len(parts) > 1 else 0])


def folder_table(counts):
    """The lines of the first table."""
    taken, every = collections.Counter(), collections.Counter()
    for (file, _), branches in counts.items():
        every[folder_of(file)] += len(branches)
        taken[folder_of(file)] += sum(1 for count in branches if count)
    yield "| folder | branches | taken | |"
    yield "|---|--:|--:|--:|"
    for row in sorted(every):
        if every[row]:
            yield f"| `{row}` | {every[row]} | {taken[row]} | {100 * taken[row] / every[row]:.1f} % |"
    total, done = sum(every.values()), sum(taken.values())
    yield f"| all | {total} | {done} | {100 * done / total:.1f} % |"


class Sources:
    """The lines of the files of src, without the blanks around them."""

    def __init__(self, source):
        self.root = os.path.join(source, "src")
        self.known = {}

    def lines(self, file):
        """Of a file relative to src."""
        if file not in self.known:
            with open(os.path.join(self.root, file), encoding="utf-8") as text:
                self.known[file] = [line.strip() for line in text]
        return self.known[file]

    def files(self):
        """Those whose branches need a reason."""
        for folder in EXPLAINED:
            for path, _, names in os.walk(os.path.join(self.root, folder)):
                for name in sorted(names):
                    if name.endswith((".c", ".h")):
                        yield os.path.relpath(os.path.join(path, name), self.root)


def untaken_lines(counts, sources):
    """The lines of the list of branches that nothing took."""
    for (file, line), branches in sorted(counts.items()):
        missing = branches.count(0)
        if missing:
            yield f"src/{file}:{line}: {missing} of {len(branches)}: {sources.lines(file)[line - 1]}"


def read_reasons(path):
    """The entries of a list of reasons, in its order."""
    entries, reason, used = [], None, True
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            first, _, rest = line.partition(" ")
            rest = rest.strip()
            if not rest:
                raise WrongList(f"{path}:{number}: a reason without a text, or an entry without a pattern")
            if first == "reason":
                if not used:
                    raise WrongList(f"{path}:{number}: the reason before this one has no entries")
                reason, used = rest, False
                continue
            if reason is None:
                raise WrongList(f"{path}:{number}: an entry before the first reason")
            used = True
            try:
                entries.append(Entry(number, reason, first, re.compile(rest)))
            except re.error as error:
                raise WrongList(f"{path}:{number}: {error}") from error
    if not used:
        raise WrongList(f"{path}: the last reason has no entries")
    return entries


def fits(entry, file, text):
    """Does the entry name this line of source?"""
    return fnmatch.fnmatchcase(file, entry.file) and entry.regex.search(text) is not None


def idle_entries(entries, sources):
    """Entries that fit no line of the sources."""
    files = [(file, sources.lines(file)) for file in sources.files()]
    for entry in entries:
        if not any(fits(entry, file, text) for file, lines in files for text in lines):
            yield entry


def explain(untaken, entries, sources, name):
    """Print the second table, and what is wrong; the exit status. name: of the list of reasons."""
    lines, unexplained, used = collections.Counter(), [], set()
    for line in untaken:
        where, _, _, text = line.split(":", 3)
        file = where[len("src/"):]
        if file.split("/")[0] not in EXPLAINED:
            continue
        text = text.strip()
        entry = next((e for e in entries if fits(e, file, text)), None)
        if entry:
            lines[entry.reason] += 1
            used.add(entry)
        else:
            unexplained.append(line)
    print("\n| why no test takes a branch of `src/rma` and `src/ch3` | lines |")
    print("|---|--:|")
    for reason in dict.fromkeys(entry.reason for entry in entries):
        print(f"| {reason} | {lines[reason]} |")
    print(f"| all | {sum(lines.values())} |")
    print(f"\n{len(entries) - len(used)} of the {len(entries)} entries of `{name}` name lines of which all was taken this time.")
    idle = list(idle_entries(entries, sources))
    if unexplained:
        print("\nLines without a reason:\n")
    for line in unexplained:
        print("    " + line)
    if idle:
        print("\nEntries that fit no line of the sources:\n")
    for entry in idle:
        print(f"    {name}:{entry.number}: {entry.file} {entry.regex.pattern}")
    return 1 if unexplained or idle else 0


def main():
    only_reasons = sys.argv[1] == "--reasons"
    source, what = sys.argv[2:4] if only_reasons else sys.argv[1:3]
    sources = Sources(source)
    if only_reasons:
        with open(what, encoding="utf-8") as text:
            untaken = text.read().splitlines()
    else:
        counts = collect(source, what)
        if not counts:
            sys.exit("coverage.py: nothing was run in " + what)
        untaken = list(untaken_lines(counts, sources))
        with open(os.path.join(what, "untaken"), "w", encoding="utf-8") as out:
            for line in untaken:
                print(line, file=out)
        for line in folder_table(counts):
            print(line)
    try:
        entries = read_reasons(os.path.join(source, "test", "untaken"))
    except WrongList as error:
        sys.exit(f"coverage.py: {error}")
    sys.exit(explain(untaken, entries, sources, "test/untaken"))


if __name__ == "__main__":
    main()
