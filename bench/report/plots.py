# SPDX-License-Identifier: BSD-3-Clause
"""The curves of the papers' figures, for gnuplot, from the CSV files of bench/rma and bench/halo.

A curve looks the same in all plots: who did it gives its colour, what memory or way it is its points and dashes. The
colours can be seen on white and on black.
"""
import os
from typing import Iterator, Optional, Sequence, Union

import results
import words


LOWER = "lower is better"
HIGHER = "higher is better"
COLOURS = {"host": "#d9691e", "libmpi-rma": "#2a7fd4", "isend/irecv": "#2f9e5b", "isend/irecv, host's run": "#9a8a3c"}
# Types of points and of dashes, as gnuplot counts them.
KINDS = {"malloc": (7, 1), "allocate": (5, 2), "shared": (9, 4), "fence_assert": (7, 1), "pscw": (5, 2), "lock": (9, 4)}


def style(curve: str) -> str:
    """Returns "colour point dashes" of a curve, by its title."""
    words_of_title = curve.split(", ")
    who = curve if curve in COLOURS else words_of_title[-1]
    point, dashes = KINDS.get(words_of_title[0], (13, 1))
    return f"{COLOURS[who]} {point} {dashes}"


class Plot:
    """A plot: its texts, which axes are logarithmic, and its curves with the points of each."""

    def __init__(self, name: str, title: str, x: str, y: str, logarithmic: str):
        self.name = name
        self.texts = (title, x, y, logarithmic)
        self.curves: dict[str, list[str]] = {}

    def point(self, curve: str, x: int, y: Optional[str]) -> None:
        """Adds a point to a curve."""
        if y is not None:
            self.curves.setdefault(curve, []).append(f"{x} {y}\n")

    def styles(self) -> str:
        """Returns the styles of the curves."""
        return " ".join(style(curve) for curve in self.curves)

    def data(self) -> str:
        """Returns the blocks of "x y", each with its title in front."""
        return "\n\n".join(f'"{title}"\n' + "".join(points) for title, points in self.curves.items())


class Plots:
    """All plots, in the order in which they come."""

    def __init__(self) -> None:
        self.plots: dict[str, Plot] = {}

    def _plot(self, name: str, title: str, x: str, y: str, logarithmic: str) -> Plot:
        return self.plots.setdefault(name, Plot(name, title, x, y, logarithmic))

    def add(self, line: Union[results.Measurement, results.Exchange]) -> None:
        """Adds the points that a line of a bench gives."""
        if isinstance(line, results.Exchange):
            self._halo(line)
        elif line.ns is not None:
            {"latency": self._latency, "bw": self._bandwidth, "skew": self._skew, "overlap": self._overlap,
             "origins": self._origins}.get(line.suite, lambda line: None)(line)

    def _halo(self, line: results.Exchange) -> None:
        if (line.us is None or line.memory not in ("malloc", "allocate") or line.ranks != 2
                or line.mode not in ("fence_assert", "pscw", "lock")):
            return
        plot = self._plot(f"halo-{line.host}-{line.memory}",
                          f"Halo exchange, 2 processes, {line.memory}, {words.host_name(line.host)}",
                          "bytes a neighbour", f"us a step ({LOWER})", "xy")
        if line.mode == "fence_assert" and line.isend_us is not None:
            plot.point("isend/irecv" + ("" if line.library else ", host's run"), line.bytes, f"{line.isend_us:.4f}")
        plot.point(f"{line.mode}, {words.who(line.library)}", line.bytes, f"{line.us:.4f}")

    def _latency(self, line: results.Measurement) -> None:
        if line.sync == "pscw" and line.op == "put" and line.memory in ("malloc", "allocate"):
            plot = self._plot(f"pscw-{line.host}", f"One put a PSCW epoch, {words.host_name(line.host)}",
                              "bytes", f"us ({LOWER})", "xy")
            plot.point(f"{line.memory}, {words.who(line.library)}", line.bytes, words.plain(line.ns / 1000))

    def _bandwidth(self, line: results.Measurement) -> None:
        if line.sync != "pscw":
            return
        plot = self._plot(f"bandwidth-{line.op}-{line.host}",
                          f"32 operations a PSCW epoch: {line.op}, {words.host_name(line.host)}",
                          "bytes", f"MB/s ({HIGHER})", "xy")
        plot.point(f"{line.memory}, {words.who(line.library)}", line.bytes, words.plain(1000 * line.bytes / line.ns))
        if line.library and line.memory == "malloc" and line.beside_ns:
            plot.point("isend/irecv", line.bytes, words.plain(1000 * line.bytes / line.beside_ns))

    def _skew(self, line: results.Measurement) -> None:
        if line.op == "epoch":
            plot = self._plot(f"skew-{line.host}",
                              "Origin of 16 puts of 256 KiB, target multiplies, " + words.host_name(line.host),
                              "order of the matrices", f"us ({LOWER})", "y")
            plot.point(f"{line.memory}, {words.who(line.library)}", line.bytes, words.plain(line.ns / 1000))

    def _overlap(self, line: results.Measurement) -> None:
        if line.op not in ("origin", "target") or not line.of_ns or line.beside_ns is None:
            return
        plot = self._plot(f"overlap-{line.op}-{line.host}",
                          f"Communication hidden at the {line.op}, {words.host_name(line.host)}",
                          "bytes", f"per cent ({HIGHER})", "x")
        share = 100 * (line.of_ns + line.beside_ns - line.ns) / line.of_ns
        self._against_messages(plot, line, line.bytes, words.plain(share))

    def _origins(self, line: results.Measurement) -> None:
        if "origin" not in line.op or line.bytes <= 8:
            return
        origins = int(line.op.split("_")[0])
        plot = self._plot(f"origins-{line.host}-{line.bytes}",
                          f"Origins of one target, 16 puts of {line.bytes // 1024} KiB, {words.host_name(line.host)}",
                          "origins", f"MB/s ({HIGHER})", "")
        self._against_messages(plot, line, origins, words.plain(1000 * 16 * line.bytes * origins / line.ns))

    @staticmethod
    def _against_messages(plot: Plot, line: results.Measurement, x: int, y: str) -> None:
        """Adds a point of PSCW, or of send and receive, which are those of the library's run alone."""
        if line.sync == "pscw":
            plot.point(f"{line.memory}, PSCW, {words.who(line.library)}", x, y)
        elif line.library:
            plot.point(f"{line.memory}, isend/irecv", x, y)


def write(paths: Sequence[str], directory: str) -> Iterator[str]:
    """Writes DIRECTORY/NAME.dat for each plot; returns "NAME|title|x axis|y axis|logarithmic axes|styles" for each."""
    plots = Plots()
    for path in paths:
        for line in results.either(path):
            plots.add(line)
    os.makedirs(directory, exist_ok=True)
    for plot in plots.plots.values():
        with open(os.path.join(directory, plot.name + ".dat"), "w", encoding="utf-8") as file:
            file.write(plot.data())
        yield "|".join((plot.name, *plot.texts, plot.styles()))
