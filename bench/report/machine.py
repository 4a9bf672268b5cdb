# SPDX-License-Identifier: BSD-3-Clause
"""What the figures depend on: a file with a line "name|value" each, written by scripts/performance.sh."""
from typing import Iterator

import results
import words

IDLE = 0.5  # a load above this one disturbs the times


class Machine:
    """The names and values in their order."""

    def __init__(self, path: str):
        try:
            with open(path, encoding="utf-8") as file:
                self.values = dict(line.rstrip("\n").split("|", 1) for line in file if "|" in line)
        except OSError as error:
            raise results.WrongResults(f"{path}: cannot be read: {error.strerror}") from error

    def table(self) -> Iterator[str]:
        """Returns the table, and a warning where the machine was not idle."""
        yield "\n| | |\n|---|---|"
        for name, value in self.values.items():
            yield words.row([name, value])
        load = self.values.get("load before", "0")
        if float(load) > IDLE:
            yield (f"\n**The machine was not idle** (load {load} before the run): the times below say little, and no two of"
                   "\nthem should be compared. Instructions do not depend on that.")
