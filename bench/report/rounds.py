# SPDX-License-Identifier: BSD-3-Clause
"""One CSV file of several rounds of the same bench.

What says which measurement it is (the columns before the first time) stands once, in the order of the first round.
Each number is the median of the rounds, but a least one is the least of all and a greatest one the greatest. What is
no number in each round is that of the first.
"""
import re
from typing import Iterator, Sequence

import results

TIMES = ("ns", "isend_us")  # the first time of bench/rma and of bench/halo
NUMBER = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?")


def _value(column: str, rows: Sequence[dict[str, str]]) -> str:
    """Returns what all rounds together have in a column."""
    values = [row[column] for row in rows]
    if not all(NUMBER.fullmatch(value) for value in values):
        return values[0]
    values.sort(key=float)
    if column.endswith("_min"):
        return values[0]
    if column.endswith("_max"):
        return values[-1]
    return values[(len(values) - 1) // 2]


def _field(column: str, value: str) -> str:
    """Writes a field as the benches do, which put all their texts of free form in quotes."""
    if column == "note" or column == "reason" and value or any(c in value for c in ',"\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


def merge(paths: Sequence[str]) -> Iterator[str]:
    """Returns the lines of the merged file."""
    tables = [table for table in map(results.Table, paths) if table.columns]
    if not tables:
        return
    columns = tables[0].columns
    first = next((columns.index(name) for name in TIMES if name in columns), None)
    if first is None:
        tables[0].require(TIMES[:1])
    cases: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for table in tables:
        table.require(columns)
        for row in table.rows:
            cases.setdefault(tuple(row[column] for column in columns[:first]), []).append(row)
    yield ",".join(columns)
    for names, rows in cases.items():
        values = [*names, *(_value(column, rows) for column in columns[first:])]
        yield ",".join(map(_field, columns, values))
