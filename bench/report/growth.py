# SPDX-License-Identifier: BSD-3-Clause
"""What grows with the number of ranks, from CSV files of bench/rma.

Goal 3: a fence takes steps of log2 P; where ranks share processors each step also waits for as many switches as
there are ranks on a processor. Goal 11: lock_all is one atomic and a flush of nothing touches nothing, whatever P.
The shortest block counts: with more ranks than processors the median has others' time in it.
"""
import itertools
import math
from typing import Iterator, Sequence

import results


def _verdict(goal: str, case: str, ranks: tuple[int, int], value: float, limit: float, unit: str, text: str) -> str:
    before, now = ranks
    return (f"{goal:<4} {case:<50} {now:2d} ranks over {before:2d}: {value:8.2f}{unit}  <= {text:<34} = {limit:8.2f}{unit}"
            f"  {'met' if value <= limit else 'NOT met'}")


def _judge(op: str, suite: str, case: str, ranks: tuple[int, int], times: tuple[float, float],
           processors: int) -> Iterator[str]:
    before, now = ranks
    crowd = [max(count / processors, 1) for count in ranks]
    if op == "fence" and (before > 2 or crowd[1] == 1):
        limit = 1.1 * math.log(now) / math.log(before) * crowd[1] / crowd[0]
        yield _verdict("3", case, ranks, times[1] / times[0], limit, "   ", "1.1 x steps x ranks a processor")
    elif suite == "calls" and (op == "lock_all" or op.startswith("flush")):
        yield _verdict("11", case, ranks, times[1], 1.25 * times[0] + 5, " ns", "1.25 x that of fewer + 5 ns")


def report(paths: Sequence[str], processors: int) -> Iterator[str]:
    """Returns the verdicts and below them the times; nothing where the library was in no run."""
    times: dict[tuple[str, str, str, str], dict[int, float]] = {}
    for line in results.measurements(paths):
        if line.library and line.suite in ("calls", "active") and line.ns_min:
            times.setdefault((line.host, line.suite, line.op, line.memory), {})[line.ranks] = line.ns_min
    ranks = sorted({count for case in times.values() for count in case})
    if not times:
        return
    yield "growth with the number of ranks (shortest blocks)"
    lines = []
    for (host, suite, op, memory), at in times.items():
        case = f"{host}, {suite} {op}, {memory}"
        lines.append(f"     {case:<50}" + "".join(f"  P={count} {at.get(count, 0):.1f} ns" for count in ranks))
        for before, now in itertools.pairwise(ranks):
            if before in at and now in at:
                yield from _judge(op, suite, case, (before, now), (at[before], at[now]), processors)
    yield from sorted(lines)
