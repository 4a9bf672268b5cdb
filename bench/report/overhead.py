# SPDX-License-Identifier: BSD-3-Clause
"""What a trace costs a program: the medians of runs without and with one (bench/goals/trace-overhead.sh)."""
import statistics
from typing import Iterator

import results

# What is told, and the columns that it is the sum of.
TIMES = (("wall", ("wall",)), ("cpu", ("user", "system")))


def _seconds(table: results.Table, trace: str, columns: tuple[str, ...]) -> list[float]:
    times = sorted(sum(float(row[column]) for column in columns) for row in table.rows if row["trace"] == trace)
    if not times:
        raise results.WrongResults(f"{table.path}: there are no runs {trace} a trace")
    return times


def report(path: str) -> Iterator[str]:
    """Returns a line for the time from begin to end, and one for that of the processors."""
    table = results.Table(path)
    table.require(["trace", "wall", "user", "system"])
    for name, columns in TIMES:
        without, with_it = (_seconds(table, trace, columns) for trace in ("without", "with"))
        texts = [f"{statistics.median(times):.2f} s ({times[0]:g} to {times[-1]:g})" for times in (without, with_it)]
        yield (f"{name}: without a trace {texts[0]}, with it {texts[1]}, "
               f"ratio {statistics.median(with_it) / statistics.median(without):.3f}")
