"""The table and the figure of `optac reproduce crff-rates`, from its rows alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.figures import COLOURS, figure
from optac.report.statistics import log_slope, slope_text
from optac.report.tables import Row, grouped, markdown_table
from optac.studies.study import drawn

FIRST_FITTED_RADIUS = 2.0
NAMES = {
    "truncation": "truncation, in W",
    "frequencies": "random frequencies, in d",
    "samples": "samples, in N",
    "joint": "all at once, N = d and W = d^(1/2m), in d",
}
INTRODUCTION = (
    "The density is c(1 − ‖y‖²)^m on the unit ball; the sup is over a grid in it. Each term of the bound "
    "C₁W^(D−m) + C₂Vol(B_W)(d^(−1/2) + N^(−1/2)) is isolated, then all are left together. Slopes are of the median "
    f"over seeds against size, both logarithmic, with 95 % bootstrap intervals; truncation from W = "
    f"{FIRST_FITTED_RADIUS:g} on, without noise and so without interval.\n\n"
    "The joint rate is the one a user pays: when W grows with d so that truncation and noise balance, the bound "
    "falls as d^(−(m−D)/2m), slower than d^(−1/2).\n"
)


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """The table of slopes, and rates.png/.svg."""
    shown = drawn(rate_figure, rows, path / "rates.png", "error against W, d and N")
    return [INTRODUCTION, slope_table(rows), *shown]


def slope_table(rows: Sequence[Row]) -> str:
    """The measured slope of every term beside the theorem's."""
    lines = []
    groups = grouped(rows, "term", "dim", "smoothness")
    for term, dim, m in sorted(groups, key=lambda key: (list(NAMES).index(key[0]), *key[1:])):
        chosen = groups[term, dim, m]
        sizes, errors = _errors(chosen)
        seeds, measured = str(len(chosen)), slope_text(sizes, errors)
        if term == "truncation":
            fitted = np.asarray(sizes) >= FIRST_FITTED_RADIUS
            seeds, measured = "—", f"{log_slope(np.asarray(sizes)[fitted], errors[fitted, 0]):.2f}"
        lines.append([NAMES[term], dim, m, seeds, measured, _bound(term, dim, m)])
    return markdown_table(["term", "D", "m", "seeds", "measured slope", "the bound's slope"], lines)


def _bound(term: str, dim: int, smoothness: int) -> str:
    if term == "truncation":
        return f"D − m = {dim - smoothness}"
    if term == "joint":
        return f"−(m − D)/2m = {-(smoothness - dim) / (2 * smoothness):.2f}"
    return "−0.5"


def rate_figure(rows: Sequence[Row], path: Path) -> None:
    """One row of panels per dimension: truncation against W, the two noises against d and N, and the joint error."""
    seeds = len({row["seed"] for row in rows if row.get("seed") is not None})
    title = (
        f"Error of conditional Fourier features; noise: medians over {seeds} seeds, bands their interquartile ranges; "
        "W in one over the state's unit"
    )
    groups = grouped(rows, "term", "dim")
    with figure(path, 2, 3, size=(13, 7.8), title=title) as grid:
        for axes, dim in zip(grid, (1, 2), strict=True):
            _truncation_panel(axes[0], groups.get(("truncation", dim), []), dim)
            for axis, term, colour in zip(
                axes[[1, 1, 2]], ("frequencies", "samples", "joint"), COLOURS, strict=False
            ):
                _noise_panel(axis, groups.get((term, dim), []), dim, term, colour)
            axes[0].set(title=f"D = {dim}: truncation", xlabel="W")
            axes[1].set(title=f"D = {dim}: one noise at a time", xlabel="d or N")
            axes[2].set(title=f"D = {dim}: all at once, $W = d^{{1/2m}}$", xlabel="d = N")
            for axis in axes:
                axis.set(ylabel="sup error", xscale="log", yscale="log")
                if axis.get_legend_handles_labels()[0]:
                    axis.legend()
            for axis in axes[1:]:
                _plain_ticks(axis.yaxis)


def _plain_ticks(axis: Any) -> None:
    """1, 2 and 5 of every decade as plain numbers: an axis of one decade has one power of ten at best."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _truncation_panel(axes: Any, rows: Sequence[Row], dim: int) -> None:
    for row, colour in zip(rows, COLOURS, strict=False):
        m, sizes = row["smoothness"], np.asarray(row["sizes"])
        axes.plot(sizes, row["errors"], "o-", color=colour, markersize=3, label=f"m = {m}")
        middle = len(sizes) // 2
        guide = row["errors"][middle] * (sizes / sizes[middle]) ** (dim - m)
        axes.plot(sizes, guide, "--", color=colour, alpha=0.5, label=f"the bound's $W^{{{dim - m}}}$")


def _noise_panel(axes: Any, rows: Sequence[Row], dim: int, term: str, colour: str) -> None:
    if not rows:
        return
    sizes, errors = _errors(rows)
    low, median, high = np.quantile(errors, [0.25, 0.5, 0.75], axis=1)
    axes.plot(sizes, median, "o-", color=colour, markersize=3, label=f"{NAMES[term].split(',')[0]}, median")
    axes.fill_between(sizes, low, high, color=colour, alpha=0.15)
    m = rows[0]["smoothness"]
    exponent = -(m - dim) / (2 * m) if term == "joint" else -0.5
    guide = median[0] * (np.asarray(sizes) / sizes[0]) ** exponent
    axes.plot(sizes, guide, "--", color=colour, alpha=0.5, label=f"slope {exponent:.2f}, the bound's")


def _errors(rows: Sequence[Row]) -> tuple[list[float], Float[np.ndarray, "point run"]]:
    return [float(size) for size in rows[0]["sizes"]], np.array([row["errors"] for row in rows]).T
