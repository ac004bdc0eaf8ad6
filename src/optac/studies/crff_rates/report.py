"""The table and the figure of `optac reproduce crff-rates`, from its rows alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.report.curves import COLOURS
from optac.report.reproduction import log_slope, report_file, slope_interval, slope_text

Row = dict[str, Any]
FIRST_FITTED_RADIUS = 2.0
NAMES = {
    "truncation": "truncation, in W",
    "frequencies": "random frequencies, in d",
    "samples": "samples, in N",
    "joint": "all at once, N = d and W = d^(1/2m), in d",
}


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md, rates.png and rates.svg beside the rows."""
    sections = [_introduction(), slope_table(rows)]
    if rows:
        rate_figure(rows, path / "rates.png")
        sections += ["", "![error against W, d and N](rates.png)", ""]
    return report_file(
        path,
        "Errors of conditional Fourier features",
        sections,
        done=len(rows),
        total=total,
        command="optac reproduce crff-rates",
    )


def _introduction() -> str:
    return (
        "The density is c(1 − ‖y‖²)^m on the unit ball; the sup is over a grid in it. Each term of the bound "
        "C₁W^(D−m) + C₂Vol(B_W)(d^(−1/2) + N^(−1/2)) is isolated, then all are left together. Slopes are of the median "
        f"over seeds against size, both logarithmic, with 95 % bootstrap intervals; truncation from W = "
        f"{FIRST_FITTED_RADIUS:g} on, without noise and so without interval.\n\n"
        "The joint rate is the one a user pays: when W grows with d so that truncation and noise balance, the bound "
        "falls as d^(−(m−D)/2m), slower than d^(−1/2).\n"
    )


def slope_table(rows: Sequence[Row]) -> str:
    """The measured slope of every term beside the theorem's."""
    lines = ["| term | D | m | seeds | measured slope | the bound's slope |", "|---|---|---|---|---|---|"]
    for term, dim, smoothness in _groups(rows):
        chosen = _chosen(rows, term, dim, smoothness)
        sizes, errors = _errors(chosen)
        if term == "truncation":
            fitted = np.asarray(sizes) >= FIRST_FITTED_RADIUS
            measured = f"{log_slope(list(np.asarray(sizes)[fitted]), list(errors[fitted, 0])):.2f}"
        else:
            measured = slope_text(slope_interval(sizes, errors))
        seeds = "—" if term == "truncation" else str(len(chosen))
        lines.append(
            f"| {NAMES[term]} | {dim} | {smoothness} | {seeds} | {measured} | {_bound(term, dim, smoothness)} |"
        )
    return "\n".join(lines)


def _bound(term: str, dim: int, smoothness: int) -> str:
    if term == "truncation":
        return f"D − m = {dim - smoothness}"
    if term == "joint":
        return f"−(m − D)/2m = {-(smoothness - dim) / (2 * smoothness):.2f}"
    return "−0.5"


def rate_figure(rows: Sequence[Row], path: Path) -> None:
    """A row of panels a dimension: truncation against W, the two noises against d and N, and the joint error."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(2, 3, figsize=(13, 7.8), layout="constrained")
    seeds = len({row["seed"] for row in rows if row.get("seed") is not None})
    figure.suptitle(
        f"Error of conditional Fourier features; noise: medians over {seeds} seeds, bands their interquartile ranges; "
        "W in one over the state's unit"
    )
    for axes, dim in zip(grid, (1, 2), strict=True):
        _truncation_panel(axes[0], rows, dim)
        for term, colour in (("frequencies", COLOURS[0]), ("samples", COLOURS[1])):
            _noise_panel(axes[1], rows, dim, term, colour)
        _noise_panel(axes[2], rows, dim, "joint", COLOURS[2])
        axes[1].set(title=f"D = {dim}: one noise at a time", xlabel="d or N")
        axes[2].set(title=f"D = {dim}: all at once, $W = d^{{1/2m}}$", xlabel="d = N")
        for one in axes:
            one.set(ylabel="sup error", xscale="log", yscale="log")
            one.spines[["top", "right"]].set_visible(False)
            one.grid(alpha=0.25)
            if one.get_legend_handles_labels()[0]:
                one.legend(frameon=False, fontsize=8)
        for one in axes[1:]:
            _plain_ticks(one.yaxis)
    figure.savefig(path, dpi=150)
    figure.savefig(path.with_suffix(".svg"))
    pyplot.close(figure)


def _plain_ticks(axis: Any) -> None:
    """1, 2 and 5 of every decade as plain numbers: an axis of one decade has one power of ten at best."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _truncation_panel(axes: Any, rows: Sequence[Row], dim: int) -> None:
    chosen = [row for row in rows if row["term"] == "truncation" and row["dim"] == dim]
    for row, colour in zip(chosen, COLOURS, strict=False):
        m, sizes = row["smoothness"], np.asarray(row["sizes"])
        axes.plot(sizes, row["errors"], "o-", color=colour, markersize=3, label=f"m = {m}")
        middle = len(sizes) // 2
        guide = row["errors"][middle] * (sizes / sizes[middle]) ** (dim - m)
        axes.plot(sizes, guide, "--", color=colour, alpha=0.5, label=f"the bound's $W^{{{dim - m}}}$")
    axes.set(title=f"D = {dim}: truncation", xlabel="W")


def _noise_panel(axes: Any, rows: Sequence[Row], dim: int, term: str, colour: str) -> None:
    chosen = [row for row in rows if row["term"] == term and row["dim"] == dim]
    if not chosen:
        return
    sizes, errors = _errors(chosen)
    median = np.median(errors, axis=1)
    low, high = np.quantile(errors, [0.25, 0.75], axis=1)
    axes.plot(sizes, median, "o-", color=colour, markersize=3, label=f"{NAMES[term].split(',')[0]}, median")
    axes.fill_between(sizes, low, high, color=colour, alpha=0.15)
    m = chosen[0]["smoothness"]
    exponent = -(m - dim) / (2 * m) if term == "joint" else -0.5
    guide = median[0] * (np.asarray(sizes) / sizes[0]) ** exponent
    axes.plot(sizes, guide, "--", color=colour, alpha=0.5, label=f"slope {exponent:.2f}, the bound's")


def _groups(rows: Sequence[Row]) -> list[tuple[str, int, int]]:
    keys = {(row["term"], row["dim"], row["smoothness"]) for row in rows}
    order = list(NAMES)
    return sorted(keys, key=lambda key: (order.index(key[0]), key[1], key[2]))


def _chosen(rows: Sequence[Row], term: str, dim: int, smoothness: int) -> list[Row]:
    return [r for r in rows if (r["term"], r["dim"], r["smoothness"]) == (term, dim, smoothness)]


def _errors(rows: Sequence[Row]) -> tuple[list[float], Float[np.ndarray, "point run"]]:
    return [float(size) for size in rows[0]["sizes"]], np.array([row["errors"] for row in rows]).T
