# SPDX-License-Identifier: BSD-3-Clause
"""How the tables write hosts, numbers of bytes and times."""
from typing import Iterable, Optional, Sequence


def host_name(tag: str) -> str:
    """Returns the name of a host as it writes it itself."""
    return {"mpich": "MPICH", "openmpi": "Open MPI"}.get(tag, tag)


def who(library: bool) -> str:
    """Returns what a curve is called that is the library's, or the host's own."""
    return "libmpi-rma" if library else "host"


def size(count: int) -> str:
    """Returns a number of bytes, in Ki or Mi where it is a whole number of these."""
    for unit, name in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{name}"
    return str(count)


def digits(value: float) -> str:
    """Returns a number of microseconds with three digits, or all before the point."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def microseconds(ns: Optional[float], missing: str = "-") -> str:
    """Returns nanoseconds as microseconds with three digits, without a unit."""
    if ns is None:
        return missing
    return f"{ns / 1000:.{2 if ns < 9950 else 1 if ns < 99500 else 0}f}"


def time(ns: Optional[float]) -> str:
    """Returns nanoseconds with the unit that suits them; nothing if they are None."""
    if ns is None:
        return ""
    if ns < 999.5:
        return f"{ns:.{1 if ns < 9.95 else 0}f} ns"
    if ns < 999500:
        return f"{microseconds(ns)} us"
    return f"{ns / 1e6:.1f} ms"


def three_digits(ns: Optional[float]) -> str:
    """Returns nanoseconds with the unit that suits them and three digits, or all before the point; "n/a" if they are None."""
    if ns is None:
        return "n/a"
    for unit, name in ((1, "ns"), (1e3, "us"), (1e6, "ms")):
        if ns < 1000 * unit:
            return f"{digits(ns / unit)} {name}"
    return f"{digits(ns / 1e9)} s"


def plain(value: float) -> str:
    """Returns a number with at most six digits, for gnuplot."""
    return f"{value:.6g}" if value != int(value) else str(int(value))


def row(cells: Iterable[str]) -> str:
    """Returns a row of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"


def rule(count: int, texts: int = 1) -> str:
    """Returns the line below a table's heading in Markdown: numbers, after so many columns of text."""
    return "|" + "---|" * texts + "--:|" * (count - texts)


def heading(names: Sequence[str], texts: int = 1) -> str:
    """Returns both lines of a table's heading in Markdown."""
    return row(names) + "\n" + rule(len(names), texts)
