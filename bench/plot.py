# SPDX-License-Identifier: BSD-3-Clause
"""Draws plots as SVG: times by numbers of bytes, both on logarithmic axes, a colour for each series.

The name of a series stands at the end of its line, in its colour. Names that would meet are moved apart, so that a
plot needs no legend to be looked up. A plot is drawn for light or for dark pages, each with colours of good contrast
there; its ground is left open.
"""
import dataclasses
import math
from typing import Callable, Iterator, Mapping, Optional, Sequence

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 212, 48, 56
LINE = 18  # the least distance of two names, in pixels


@dataclasses.dataclass(frozen=True)
class Series:
    """A line: its name, its colour on light and on dark pages, whether it is drawn thin, and its points (bytes, microseconds)."""
    name: str
    light: str
    dark: str
    thin: bool
    points: Mapping[int, float]


def _time(us: float) -> str:
    """Returns a power of ten of microseconds with the unit that suits it."""
    for limit, factor, unit in ((1, 1e3, "ns"), (1e3, 1, "us"), (1e6, 1e-3, "ms")):
        if us < limit:
            return f"{us * factor:g} {unit}"
    return f"{us * 1e-6:g} s"


def _spread(wanted: Sequence[float], low: float, high: float) -> list[float]:
    """Returns places as near to those wanted as they can be with LINE between neighbours, in the same order, within low and high."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = list(wanted)
    for before, after in zip(order, order[1:]):
        places[after] = max(places[after], places[before] + LINE)
    over = max(0.0, places[order[-1]] - high)
    places[order[-1]] -= over
    for after, before in zip(order[::-1], order[-2::-1]):
        places[before] = max(low, min(places[before], places[after] - LINE))
    return places


class Plot:
    """The axes of some series, and what is drawn between them."""

    def __init__(self, series: Sequence[Series], size: Callable[[int], str], dark: bool):
        self.series, self.size, self.dark = series, size, dark
        self.text, self.quiet, self.grid = ("#e4e6ea", "#a9afb8", "#3a3f47") if dark else ("#1f2328", "#59636e", "#d8dde3")
        self.counts = sorted({count for one in series for count in one.points})
        times = [us for one in series for us in one.points.values()]
        # Half a power of ten is the least step of the axis, and a whole one its least length.
        self.low = math.floor(2 * math.log10(min(times))) / 2
        self.high = max(math.ceil(2 * math.log10(max(times))) / 2, self.low + 1)

    def x(self, count: int) -> float:
        """Returns where a number of bytes stands."""
        first, last = math.log2(self.counts[0]), math.log2(self.counts[-1])
        return LEFT + (math.log2(count) - first) / ((last - first) or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, us: float) -> float:
        """Returns where a time stands."""
        return HEIGHT - BOTTOM - (math.log10(us) - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)

    def _label(self, x: float, y: float, text: str, colour: str, anchor: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>{text}</text>'

    def _axes(self, title: str) -> Iterator[str]:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        yield self._label(LEFT, 24, title, self.text, "start", ' font-size="16" font-weight="600"')
        for power in range(math.ceil(self.low), math.floor(self.high) + 1):
            y = self.y(10 ** power)
            yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="{self.grid}"/>'
            yield self._label(LEFT - 10, y + 5, _time(10 ** power), self.quiet, "end")
        for count in self.counts:
            yield f'<path d="M{self.x(count):.1f} {bottom}v5" stroke="{self.quiet}"/>'
            yield self._label(self.x(count), bottom + 22, self.size(count), self.quiet, "middle")
        yield self._label((LEFT + right) / 2, HEIGHT - 10, "bytes to each neighbour", self.quiet, "middle")

    def _line(self, one: Series, name_y: float) -> Iterator[str]:
        colour = one.dark if self.dark else one.light
        points = [(self.x(count), self.y(us)) for count, us in sorted(one.points.items())]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        yield (f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{1.5 if one.thin else 3}" '
               f'stroke-linejoin="round"/>')
        for x, y in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2.5 if one.thin else 3.5}" fill="{colour}"/>'
        x, y = points[-1]
        yield f'<path d="M{x + 5:.1f} {y:.1f}L{x + 18:.1f} {name_y:.1f}" stroke="{colour}"/>'
        yield self._label(x + 22, name_y + 5, one.name, colour, "start", "" if one.thin else ' font-weight="600"')

    def svg(self, title: str) -> str:
        """Returns the picture."""
        ends = [self.y(one.points[max(one.points)]) for one in self.series]
        names = _spread(ends, TOP, HEIGHT - BOTTOM)
        parts = list(self._axes(title))
        for one, y in zip(self.series, names):
            parts += self._line(one, y)
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
                'font-family="system-ui, sans-serif" font-size="14">')
        return "\n".join([head, f"<title>{title}</title>", *parts, "</svg>"]) + "\n"


def draw(path: str, title: str, series: Sequence[Series], size: Callable[[int], str]) -> Optional[str]:
    """Draws the series as PATH-light.svg and PATH-dark.svg, and returns PATH; nothing, and None, where there is no series."""
    if not series:
        return None
    for name, dark in (("light", False), ("dark", True)):
        with open(f"{path}-{name}.svg", "w", encoding="utf-8") as file:
            file.write(Plot(series, size, dark).svg(title))
    return path
