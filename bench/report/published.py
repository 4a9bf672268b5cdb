# SPDX-License-Identifier: BSD-3-Clause
"""The papers' own numbers beside ours: published.csv joined with the results in the directory of scripts/papers.sh.

A line of published.csv is one number of a paper. Its first columns say which: paper, place, case, unit, what is better,
size and P as the paper has them, design, value, and low and high where the value is uncertain or a range. The column
source is "table" (printed), "text" (in a sentence), "curve" (read off a figure, with low and high) or "none": the figure
has values that cannot be read from the paper's text. The rest says what of ours stands beside it: how it comes of a
result (measure), with so many processes (ranks, or several numbers), and the results' own columns, which must be equal
where they are given here; net is 1 for results in the folder net, of the network.

Who wins is decided only where the paper gives a number, we have one, and each process had a processor: ours against the
best of the paper's designs in the row. What differs by at most a twentieth of a ratio or time, or by 5 of 100 per cent,
or lies within the paper's range, is even. A cell in which the paper wins is bold.
"""
import collections
import glob
import os
import re
from typing import Iterator, NamedTuple, Optional, Sequence

import results
import words

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.csv")
JOINED = ("suite", "op", "sync", "mode", "net", "bytes", "example", "size", "way", "quantity")
SOURCES = ("table", "text", "curve", "none")
UNCROWDED = ("iterations", "MB")  # units that do not depend on who has a processor
HOSTS = ("mpich", "openmpi")

# Why a paper wins, by paper and place, and the memory where it is of one kind only.
REASONS = {
    ("MPICH2", "Table 1", ""): """the paper gained where isend and irecv of large messages wait for their receiver, as it says
itself; here both ways send the same bytes through tcp on one machine, so that there is less to gain.""",
    ("MPICH2", "Table 2", "malloc"): """memory given to `MPI_Win_create` is reached by a system call for each lock with a small
put, which takes about as long as a whole exchange by today's isend and irecv.""",
    ("truly one-sided", "Fig. 4a", ""): """the host that ours is held against is not the design that the paper began with; and one
large copy takes the memory's time in either. An I/OAT engine, which wins the large one, is not to be had here.""",
    ("truly one-sided", "Fig. 4b", ""): """the paper's gain is that of an I/OAT engine, which copies without a processor; ours copies by
one processor, as the host does.""",
    ("truly one-sided", "Table 1", ""): """the origin copies by its processor, and the multiplication takes cache and memory from it; the
bare copies grow alike. An I/OAT engine does not feel the multiplication.""",
    ("truly one-sided", "Fig. 7a", ""): """the origin's own call makes the copy, so that nothing is left to hide; the paper hides it by an
I/OAT engine, and its own design without one hides nothing either.""",
    ("truly one-sided", "Fig. 8a", ""): """the host that ours is held against is not the design that the paper began with, in which
a post is a message; what ours takes by itself is in the suite origins of bench/rma.""",
    ("truly one-sided", "Fig. 10a", ""): """a step is computation above all, and the host that ours is held against exchanges its faces in
shared memory already.""",
    ("MPI+MPI", "Fig. 6b", ""): """parts that lie in one piece of memory share cache lines where they meet, as the paper says itself;
parts in pages of their own have no such cause, and there the computation is the same code on the same amount of memory.""",
}


class Cell(NamedTuple):
    """A number of ours beside the paper's, and what becomes of it."""
    text: str
    verdict: str  # "ours", "even", "paper", or "" where none is given


class Results:
    """All results of a directory, by host, library and ranks, each as a dictionary of its columns."""

    def __init__(self, directory: str):
        self.rows: list[dict[str, str]] = []
        for net, folder in (("0", ""), ("1", "net")):
            for path in sorted(glob.glob(os.path.join(directory, folder, "*.csv"))):
                table = results.Table(path)
                table.require(("host", "library", "ranks"))
                self.rows += [{"memory": "", **row, "net": net} for row in table.rows]

    def find(self, wanted: dict[str, str], host: str, library: str, ranks: int, memory: str) -> Optional[dict[str, str]]:
        """Returns the result whose columns are as wanted; those of many origins may be of a run with more processes."""
        for row in self.rows:
            if (row["host"], row["library"], row["memory"]) != (host, library, memory):
                continue
            if int(row["ranks"]) != ranks and (row.get("suite") != "origins" or int(row["ranks"]) < ranks):
                continue
            if all(row.get(column, "") == wanted[column] for column in JOINED if wanted[column]):
                return row
        return None


def _number(row: Optional[dict[str, str]], *columns: str) -> Optional[float]:
    """Returns what a result has in the first of these columns that it has, as a number."""
    for column in columns if row else ():
        if row.get(column):
            return float(row[column])
    return None


class Ours:
    """Our number beside one line of published.csv."""

    def __init__(self, found: Results, line: dict[str, str], ranks: int):
        self.found, self.line, self.ranks = found, line, ranks

    def _get(self, host: str, memory: str, library: str = "1", **other: str) -> Optional[dict[str, str]]:
        return self.found.find({**self.line, **other}, host, library, self.ranks, memory)

    def value(self, host: str, memory: str) -> Optional[float]:
        """Returns it, or None where it was not measured."""
        line, measure = self.line, self.line["measure"]
        row = self._get(host, memory)
        ours = _number(row, "ratio", "ns", "value")
        if measure in ("isend", "step"):
            return _number(row, "isend_us" if measure == "isend" else "us")
        if measure == "misses":
            noted = re.search(r"([0-9.]+) cache misses", row["note"]) if row else None
            return float(noted[1]) if noted else None
        if ours is None or measure in ("ratio", "value"):
            return ours
        if measure == "hidden":
            both, alone = _number(row, "of_ns"), _number(row, "beside_ns")
            return 100 * (both + alone - ours) / both if both and alone is not None else None
        if measure == "time":
            return ours / 1000
        if measure == "rate":
            return 1000 * int(line["bytes"]) * int(line["ops"]) / ours
        if measure == "per process":
            return ours / self.ranks
        other = {"growth": lambda: self._get(host, memory, bytes="0"),
                 "way ratio": lambda: self._get(host, memory, way=line["of_way"]),
                 "way saved": lambda: self._get(host, memory, way=line["of_way"]),
                 "saved": lambda: self._get(host, memory, "0"),
                 "faster": lambda: self._get(host, memory, "0")}[measure]()
        beside = _number(other, "ratio", "ns", "value")
        if not beside:
            return None
        if measure in ("growth", "way ratio"):
            return ours / beside
        return 100 * (beside / ours - 1) if measure == "faster" else 100 * (1 - ours / beside)


def judge(line: dict[str, str], value: Optional[float], crowded: bool) -> Cell:
    """Returns what becomes of a number of ours beside that of a paper's line."""
    if crowded and line["unit"] not in UNCROWDED:
        return Cell("scheduler", "")
    if value is None:
        return Cell("-", "")
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    if not line["value"]:
        return Cell(text, "")
    low, high = (float(line[name] or line["value"]) for name in ("low", "high"))
    margin = 5 if line["unit"].startswith("per cent") else 0.05 * abs(float(line["value"]))
    if low - margin <= value <= high + margin:
        return Cell(text, "even")
    if (value < low) == (line["better"] == "lower"):
        return Cell(text, "ours")
    return Cell(f"**{text}**", "paper")


def lines_of(path: str) -> list[dict[str, str]]:
    """Returns the lines of published.csv; raises WrongResults where one cannot be as it is."""
    table = results.Table(path)
    table.require(("paper", "place", "case", "unit", "better", "value", "low", "high", "source", "measure", "ranks", *JOINED))
    for number, line in enumerate(table.rows, 1):
        if line["source"] not in SOURCES or (line["source"] == "none") != (line["value"] == ""):
            raise results.WrongResults(f"{path}: line {number} has the source '{line['source']}' and the value '{line['value']}'")
        if line["source"] == "curve" and not (line["low"] and line["high"]):
            raise results.WrongResults(f"{path}: line {number} was read off a curve, and has no low and high")
    return table.rows


def _best(lines: Sequence[dict[str, str]]) -> dict[str, str]:
    """Returns the line of the best design of a row, or any where none has a number."""
    known = [line for line in lines if line["value"]]
    choose = min if lines[0]["better"] == "lower" else max
    return choose(known, key=lambda line: float(line["value"])) if known else lines[0]


class Beside:
    """The section."""

    def __init__(self, directory: str, processors: int, path: str = TABLE):
        self.found = Results(directory)
        self.processors = processors
        self.places: dict[tuple[str, str], dict[tuple, list[dict[str, str]]]] = {}
        for line in lines_of(path):
            for ranks in line["ranks"].split():
                rows = self.places.setdefault((line["paper"], line["place"]), {})
                key = (line["case"], line["unit"], line["paper_size"], int(ranks)) + tuple(line[name] for name in JOINED)
                rows.setdefault(key, []).append(line)
        self.verdicts: collections.Counter = collections.Counter()

    def _memories(self, lines: Sequence[dict[str, str]]) -> tuple[str, ...]:
        return ("",) if lines[0]["example"] else ("allocate",) if lines[0]["suite"] == "net" else ("malloc", "allocate")

    def _table(self, paper: str, place: str) -> Iterator[str]:
        rows = self.places[paper, place]
        every = [line for lines in rows.values() for line in lines]
        designs = list(dict.fromkeys(line["design"] for line in every))
        memories = self._memories(every)
        columns = [(host, memory) for host in HOSTS for memory in memories]
        yield f"\n## {paper} paper, {place}\n"
        if all(line["source"] == "none" for line in every):
            yield "The paper's text gives no values of this; ours stand alone, and nobody wins.\n"
        yield words.heading(["what", "size", "processes", *(f"paper, {design}" for design in designs),
                             *(f"{words.host_name(host)}{', ' + memory if memory else ''}" for host, memory in columns),
                             "who wins"], 2)
        reasons = []
        for (case, unit, size, ranks, *_), lines in rows.items():
            best, crowded = _best(lines), ranks > self.processors
            value = {line["design"]: _published(line) for line in lines}
            cells = [judge(best, Ours(self.found, best, ranks).value(*column), crowded) for column in columns]
            won = collections.Counter(cell.verdict for cell in cells if cell.verdict)
            self.verdicts.update(won)
            reasons += [memory for cell, (_, memory) in zip(cells, columns) if cell.verdict == "paper"]
            who = ", ".join(f"{name} {count}" for name, count in won.items()) if len(won) > 1 else "".join(won) or "-"
            yield words.row([f"{case} ({unit})", _our_size(best) if not size else size, str(ranks),
                             *(value.get(design, "-") for design in designs), *(cell.text for cell in cells), who])
        yield from self._why(paper, place, reasons)

    @staticmethod
    def _why(paper: str, place: str, memories: Sequence[str]) -> Iterator[str]:
        """Returns why the paper wins, where it does."""
        texts = [REASONS.get((paper, place, memory)) or REASONS.get((paper, place, "")) or "the reason is not known."
                 for memory in memories]
        for text in dict.fromkeys(texts):
            yield f"\nWhere the paper wins: {text}"

    def lines(self) -> Iterator[str]:
        """Returns the section in Markdown."""
        tables = [line for place in self.places for line in self._table(*place)]
        yield f"""
The papers' machines are other ones, fifteen to twenty years older: ratios within one machine can be compared, times cannot,
and where a time of ours wins, the machine wins it too. "Before" is the paper's own earlier design; ours is held against the
one-sided calls of the host. Bold: the paper wins. "scheduler": more processes than the {self.processors} processors, a time would
measure how these take turns; no number is given. "-": not measured, or not in the paper's text. Sizes are the paper's, or ours
where its text has none; processes are ours: the MPICH2 paper does not say how many its tables are of, and the stencil of the
truly one-sided paper ran with 32. Of {sum(self.verdicts.values())} cells that can be judged, ours wins {self.verdicts['ours']}, \
{self.verdicts['even']} are even, the papers win {self.verdicts['paper']}."""
        yield from tables


def _our_size(line: dict[str, str]) -> str:
    """Returns the size of our measurement, where the paper's text has none."""
    return line["size"] if line["example"] else words.size(int(line["bytes"])) if line["bytes"] else "-"


def _published(line: dict[str, str]) -> str:
    """Returns a paper's number, with its range."""
    if line["low"] and line["high"]:
        return f"{line['value']} ({line['low']} to {line['high']})"
    return line["value"] or "-"


def report(directory: str, processors: int, path: str = TABLE) -> Iterator[str]:
    """Returns the section of the results in a directory."""
    return Beside(directory, processors, path).lines()
