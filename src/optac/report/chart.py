"""A panel as inline SVG: complete without a script, coloured by the page's style, with what a script needs to answer
the pointer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

from optac.report.colours import Look
from optac.report.markup import Markup, element, joined
from optac.report.numbers import number
from optac.report.panels import Panel, Series

WIDTH, HEIGHT = 460.0, 318.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 24.0, 34.0, 42.0


@dataclass(frozen=True)
class Axis:
    """Data to pixels along one axis."""

    start: float
    end: float
    first: float
    last: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        a, b, v = self.start, self.end, value
        if self.is_log:
            a, b, v = log10(a), log10(b), log10(v)
        share = (v - a) / (b - a) if b > a else 0.5
        return round(self.first + share * (self.last - self.first), 1)

    def ticks(self) -> list[float]:
        """Round places along the axis."""
        if self.is_log:
            return [10.0**k for k in range(ceil(log10(self.start)), floor(log10(self.end)) + 1)]
        return round_places(self.start, self.end)


def round_places(start: float, end: float, wanted: int = 6) -> list[float]:
    """About `wanted` multiples of 1, 2 or 5 times a power of ten between two values."""
    if end <= start:
        return [start]
    rough = (end - start) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [k * step for k in range(ceil(start / step - 1e-9), floor(end / step + 1e-9) + 1)]


def axes_of(panel: Panel) -> tuple[Axis, Axis]:
    """The axes that hold all that is drawn."""
    xs = [x for series in panel.series for x in series.band.at]
    xs += [x for series in panel.series for line in series.threads.values() for x in line[0]]
    ys = [y for series in panel.series for y in _heights(series)]
    low, high = (min(ys), max(ys)) if ys else (0.0, 1.0)
    room = 0.05 * (high - low) or abs(high) * 0.1 or 1.0
    start = min(xs, default=0.0) if panel.log_x else min(0.0, *xs, 0.0)
    return (
        Axis(start, max(xs, default=1.0), LEFT, WIDTH - RIGHT, panel.log_x),
        Axis(low - room, high + room, HEIGHT - BOTTOM, TOP),
    )


def _heights(series: Series) -> list[float]:
    band = series.band
    inner = [y for line in series.threads.values() for y in line[1]]
    return [*band.estimate, *(band.low or ()), *(band.high or ()), *inner]


def chart(panel: Panel, index: int, styles: Mapping[str, Look]) -> Markup:
    """The panel as a figure; `styles` gives each name its look."""
    x, y = axes_of(panel)
    drawn = [_series(series, x, y, styles[series.name]) for series in panel.series]
    marks = [
        element(
            "g",
            element("line", x1=x(at), x2=x(at), y1=TOP, y2=HEIGHT - BOTTOM, class_="mark"),
            element("text", said, x=x(at), y=TOP - 5, class_=f"mark-text {_side(x(at))}"),
        )
        for at, said in panel.marks
        if x.start <= at <= x.end
    ]
    title = f"{panel.title}: {panel.y_label} against {panel.x_label}"
    names = ", ".join(series.label for series in panel.series)
    return element(
        "svg",
        element("title", title),
        element("desc", f"Lines: {names}. The numbers are in the tables and in the CSV of this page."),
        _frame(panel, x, y),
        *marks,
        *drawn,
        element("g", class_="cursor"),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_label=title,
        tabindex="0",
        class_="chart",
        data_panel=index,
    )


def _side(place: float) -> str:
    """Where a text hangs from its place, so that it stays within the figure."""
    return "end" if place > WIDTH / 2 else "start"


def _frame(panel: Panel, x: Axis, y: Axis) -> Markup:
    bottom = HEIGHT - BOTTOM
    parts = []
    for tick in y.ticks():
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(element("text", tick_text(tick), x=LEFT - 7, y=y(tick) + 4, class_="tick end"))
    for tick in x.ticks():
        parts.append(element("line", x1=x(tick), x2=x(tick), y1=bottom, y2=bottom + 4, class_="axis"))
        parts.append(element("text", tick_text(tick), x=x(tick), y=bottom + 17, class_="tick middle"))
    parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom, class_="axis"))
    parts.append(
        element("text", panel.x_label, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 6, class_="label middle")
    )
    parts.append(element("text", panel.y_label, x=4, y=14, class_="label"))
    return element("g", *parts, class_="frame")


def tick_text(value: float) -> str:
    """200k for 200,000; small numbers as they are."""
    if value and abs(value) >= 10_000 and value % 1000 == 0:
        text = f"{value / 1000:,g}k" if value % 1e6 else f"{value / 1e6:,g}M"
    else:
        text = f"{value:,.10g}"
    return text.replace("-", "−")


def _series(series: Series, x: Axis, y: Axis, look: Look) -> Markup:
    parts = [
        element("path", d=_path(zip(*line, strict=True), x, y), class_="thread")
        for line in series.threads.values()
        if len(series.threads) > 1 or not series.band.at
    ]
    band = series.band
    if band.low is not None and band.high is not None:
        there = list(zip(band.at, band.high, strict=True))
        back = list(zip(band.at, band.low, strict=True))[::-1]
        parts.append(element("path", d=_path(there + back, x, y) + "Z", class_="band"))
    if band.at:
        parts.append(element("path", d=_path(zip(band.at, band.estimate, strict=True), x, y), class_="line"))
        if len(band.at) < 8:
            points = zip(band.at, band.estimate, strict=True)
            parts += [element("circle", cx=x(at), cy=y(v), r=2.6, class_="dot") for at, v in points]
    return element("g", joined(*parts), class_=f"series {look.style}", data_series=series.label)


def _path(points: Any, x: Axis, y: Axis) -> str:
    return "M" + "L".join(f"{x(a):g},{y(b):g}" for a, b in points)


def answers(panel: Panel) -> dict[str, Any]:
    """The answers to the pointer over a panel: pixels of the points and what to say of each."""
    x, y = axes_of(panel)
    return {
        "x": panel.x_label,
        "series": [_answers(series, x, y) for series in panel.series],
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }


def _answers(series: Series, x: Axis, y: Axis) -> dict[str, Any]:
    """The line's points; where the seeds share none, the first seed's."""
    band = series.band
    at, values = (band.at, band.estimate) if band.at else next(iter(series.threads.values()), ((), ()))
    curves = {seed: dict(zip(*line, strict=True)) for seed, line in series.threads.items()}
    said = []
    for i, (place, value) in enumerate(zip(at, values, strict=True)):
        text = number(value)
        if band.low is not None and band.high is not None:
            text += f" [{number(band.low[i])}, {number(band.high[i])}]"
        there = [f"s{seed} {number(curve[place])}" for seed, curve in curves.items() if place in curve]
        alone = "seed " + there[0][1:].split()[0] if there else ""
        said.append([text, " · ".join(there) if len(there) > 1 else alone])
    return {
        "label": series.label,
        "at": [number_at(place) for place in at],
        "px": [x(place) for place in at],
        "py": [y(value) for value in values],
        "said": said,
    }


def number_at(place: float) -> str:
    """Steps and episodes whole, thresholds to two digits."""
    return f"{place:,.0f}" if place == int(place) and abs(place) > 1 else f"{place:.2f}"
