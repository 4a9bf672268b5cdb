# SPDX-License-Identifier: BSD-3-Clause
"""The results that the benches leave as CSV files, read by the names of the columns.

A file without any line has no results: a run that failed leaves such a file. A file that has lines must have
every column that is asked for, and numbers where numbers are due; otherwise WrongResults names file and column.
"""
import csv
import dataclasses
from typing import Callable, Optional, Sequence


class WrongResults(Exception):
    """A file that cannot be read as results; the text names it and says what is wrong."""


@dataclasses.dataclass(frozen=True)
class Measurement:
    """A line of bench/rma or bench/net: one operation. Times are nanoseconds, None where nothing was measured."""
    path: str
    host: str
    library: bool
    ranks: int
    suite: str
    op: str
    memory: str
    sync: str
    bytes: int
    ns: Optional[float]
    ns_min: Optional[float]
    ns_max: Optional[float]
    line_ns: Optional[float]  # what a cache line took from one processor to the other
    of_ns: Optional[float]    # of this operation, in turns with what is beside it
    beside_ns: Optional[float]
    note: str


@dataclasses.dataclass(frozen=True)
class Exchange:
    """A line of bench/halo: a way to exchange halos. None where nothing was measured; reason says why."""
    path: str
    host: str
    library: bool
    ranks: int
    memory: str
    bytes: int
    mode: str
    isend_us: Optional[float]
    us: Optional[float]
    ratio: Optional[float]
    reason: str


def _number(text: str) -> Optional[float]:
    return float(text) if text else None


_PARSERS: dict[object, Callable] = {
    str: str, int: int, bool: lambda text: bool(int(text)), Optional[float]: _number}


class Table:
    """A CSV file: its columns, and its rows as the texts that stand there."""

    def __init__(self, path: str):
        self.path = path
        try:
            with open(path, newline="", encoding="utf-8", errors="replace") as file:
                reader = csv.DictReader(file, restval="")
                self.columns = list(reader.fieldnames or [])
                self.rows = list(reader)
        except (OSError, csv.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise WrongResults(f"{path}: cannot be read: {reason}") from error

    def require(self, columns: Sequence[str]) -> None:
        """Raises WrongResults unless the file has these columns, or has no line at all."""
        for column in columns:
            if self.columns and column not in self.columns:
                raise WrongResults(f"{self.path}: there is no column '{column}' among {', '.join(self.columns)}")

    def records(self, kind: type) -> list:
        """Returns the rows as records of this dataclass, whose fields are columns, but for path."""
        fields = [field for field in dataclasses.fields(kind) if field.name != "path"]
        self.require([field.name for field in fields])
        return [kind(self.path, *(self._value(number, row, field) for field in fields))
                for number, row in enumerate(self.rows, 1)]

    def _value(self, number: int, row: dict[str, str], field):
        try:
            return _PARSERS[field.type](row[field.name])
        except ValueError as error:
            raise WrongResults(f"{self.path}: result {number} has '{row[field.name]}' in column '{field.name}', "
                               "which must be a number") from error


def measurements(paths: Sequence[str]) -> list[Measurement]:
    """Returns the lines of all these files of bench/rma and bench/net, in their order."""
    return [one for path in paths for one in Table(path).records(Measurement)]


def exchanges(path: str) -> list[Exchange]:
    """Returns the lines of a file of bench/halo."""
    return Table(path).records(Exchange)


def either(path: str) -> list:
    """Returns the lines of a file of any bench: Exchanges where it has a column 'mode', else Measurements."""
    table = Table(path)
    return table.records(Exchange if "mode" in table.columns else Measurement)
