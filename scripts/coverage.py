#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums up what gcov counted: a table of the library's folders, and the list of branches that nothing took.

    coverage.py SOURCE BUILD

prints a Markdown table and writes BUILD/untaken, a line for each line of source with branches that were never
taken: file, line, how many of how many, and the line itself. Branches of inline functions are summed over all
objects that have them.
"""
import collections
import json
import os
import subprocess
import sys


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


def main():
    source, build = sys.argv[1:3]
    counts = collect(source, build)
    if not counts:
        sys.exit("coverage.py: nothing was run in " + build)
    taken, every = collections.Counter(), collections.Counter()
    untaken = []
    for (file, line), branches in sorted(counts.items()):
        row = folder_of(file)
        every[row] += len(branches)
        taken[row] += sum(1 for count in branches if count)
        missing = branches.count(0)
        if missing:
            untaken.append((file, line, missing, len(branches)))
    print("| folder | branches | taken | |")
    print("|---|--:|--:|--:|")
    for row in sorted(every):
        if every[row]:
            print(f"| `{row}` | {every[row]} | {taken[row]} | {100 * taken[row] / every[row]:.1f} % |")
    total, done = sum(every.values()), sum(taken.values())
    print(f"| all | {total} | {done} | {100 * done / total:.1f} % |")
    texts = {}
    with open(os.path.join(build, "untaken"), "w", encoding="utf-8") as out:
        for file, line, missing, of in untaken:
            if file not in texts:
                with open(os.path.join(source, "src", file), encoding="utf-8") as text:
                    texts[file] = text.read().splitlines()
            print(f"src/{file}:{line}: {missing} of {of}: {texts[file][line - 1].strip()}", file=out)


if __name__ == "__main__":
    main()
