# SPDX-License-Identifier: BSD-3-Clause
"""The instructions of the shortest calls, from what bench/goals/count-instructions.sh has printed."""
import re
from typing import Iterator, Sequence

import results
import words

LINE = re.compile(r"(?P<call>\S.*?) +(?P<count>[0-9.]+) instructions(?: +limit (?P<limit>[0-9]+) .*)?$")
WHO = [(library, host) for library in (False, True) for host in ("mpich", "openmpi")]


class Instructions:
    """The counts by call, by the host itself or through the library, and by host; and the limits."""

    def __init__(self, paths: Sequence[str]):
        self.counts: dict[str, dict[tuple[bool, str], str]] = {}
        self.limits: dict[str, str] = {}
        for path in paths:
            self._read(path)

    def _read(self, path: str) -> None:
        library = "-library-" in path
        host = "openmpi" if "openmpi" in path.rsplit("/", 1)[-1] else "mpich"
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [found for line in file if (found := LINE.match(line.rstrip("\n")))]
        except OSError as error:
            raise results.WrongResults(f"{path}: cannot be read: {error.strerror}") from error
        for found in lines:
            self.counts.setdefault(found["call"], {})[library, host] = f"{float(found['count']):.0f}"
            if library and found["limit"]:
                self.limits[found["call"]] = found["limit"]

    def count(self, call: str, library: bool, host: str) -> str:
        """Returns the instructions of a call, or nothing."""
        return self.counts.get(call, {}).get((library, host), "")

    def table(self) -> Iterator[str]:
        """Returns the section."""
        yield "\n## Instructions\n"
        yield words.heading(["", "MPICH itself", "Open MPI itself", "library on MPICH", "library on Open MPI",
                             "limit"]).replace("|  |", "| |")
        for call in self.counts:
            yield words.row([call, *(self.count(call, *who) for who in WHO), self.limits.get(call, "")])
