"""The figure of `optac reproduce misspecified`: gap against ζ, d̃ against d, episodes against 1/ε."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optac.figures import COLOURS, figure, own_ticks
from optac.report.statistics import lower_median
from optac.report.tables import Row, column, grouped
from optac.studies.misspecified.rows import by_epsilon, by_zeta, of_study, theorem_constant


def misspecified_figure(rows: Sequence[Row], path: Path) -> None:
    """Three panels, all axes logarithmic; one faint dot per run."""
    seeds = len({row["seed"] for row in rows if row.get("seed") is not None})
    title = f"Opt-AC on smooth-walk, D = 1 unless said: medians over {seeds} seeds, one faint dot per run"
    with figure(path, 1, 3, size=(14, 4.6), title=title) as axes:
        for axis, draw in zip(axes, (_gap_panel, _dimension_panel, _episode_panel), strict=True):
            axis.set(xscale="log", yscale="log")
            draw(axis, rows)
            if axis.get_legend_handles_labels()[0]:
                axis.legend(loc="upper left")


def _gap_panel(axes: Any, rows: Sequence[Row]) -> None:
    zetas, gaps, last = by_zeta(rows)
    axes.set(title="the truth ζ away from Θ", xlabel="ζ", ylabel="gap V* − V after training")
    if len(zetas) < 2 or zetas[0] != 0 or not gaps.shape[1]:
        return
    x = np.asarray(zetas[1:])
    for values, colour, name in ((gaps, COLOURS[1], "mixture"), (last, COLOURS[0], "last policy")):
        axes.plot(x, np.median(values[1:], axis=1), "o-", color=colour, markersize=5, label=name)
        axes.plot(x, values[1:], ".", color=colour, alpha=0.3, markersize=4)
    floor = float(np.median(gaps[0]))
    axes.axhline(floor, color=COLOURS[1], linestyle=":", label=f"mixture at ζ = 0: {floor:.2g}")
    excess = np.median(gaps[1:] - gaps[0], axis=1)
    axes.plot(x, excess, "s--", color=COLOURS[1], markersize=4, label="mixture less its floor")
    axes.plot(x, excess[-1] * x / x[-1], color="0.5", linewidth=1, label="slope 1")
    axes.set_ylim(top=8 * float(gaps.max()))
    own_ticks(axes, [float(value) for value in x])
    above = f"the theorem's {theorem_constant(rows):,.0f} ζ lies above the frame"
    axes.text(0.97, 0.03, above, transform=axes.transAxes, ha="right", fontsize=9, color="0.3")


def _dimension_panel(axes: Any, rows: Sequence[Row]) -> None:
    by_dim = grouped(of_study(rows, "dimension"), "dim")
    for dim in sorted(by_dim, reverse=True):
        d, found = column(by_dim[dim], "frequencies"), column(by_dim[dim], "effective_dimensions")
        for tolerance, style, text in (("1e-06", "o-", "1e-6"), ("0.001", "s--", "1e-3")):
            label = f"D = {dim}, tolerance {text}"
            axes.plot(d, column(found, tolerance), style, color=COLOURS[dim - 1], markersize=4, label=label)
        if dim == 2:
            axes.plot(d, [2 * value for value in d], ":", color="0.4", label="2d, all there are")
    axes.set(title="effective dimension", xlabel="d", ylabel=r"$\tilde{d}$, exact coefficients")


def _episode_panel(axes: Any, rows: Sequence[Row]) -> None:
    epsilons, episodes = by_epsilon(rows, "mixture")
    axes.set(title="features of d = N = 8/ε²", xlabel="1/ε", ylabel="episodes to a mixture within ε")
    if not epsilons or not episodes.shape[1]:
        return
    x, colour = 1 / np.asarray(epsilons), COLOURS[2]
    medians, arrived = lower_median(episodes), np.isfinite(episodes).all(axis=1)
    axes.plot(x, episodes, ".", color=colour, alpha=0.35, markersize=5)
    axes.plot(x[arrived], medians[arrived], "o-", color=colour, markersize=5, label="median")
    budget = of_study(rows, "tied")[0]["budget"]
    for i in np.flatnonzero(~arrived):
        count = f"{np.isinf(episodes[i]).sum()} of {episodes.shape[1]}"
        label = f"{count} runs not there by {budget:,} episodes"
        axes.plot(x[i], budget, "^", color=COLOURS[1], markersize=7, fillstyle="none", label=label)
        if np.isfinite(medians[i]):
            axes.plot(x[i], medians[i], "o", color=colour, fillstyle="none", label="median, some censored")
    if arrived.any():
        first = int(np.flatnonzero(arrived)[0])
        guides = ((4, "--", "the theorem's total"), (2, ":", r"its first half's, $\tilde{d}$ fixed"))
        for exponent, style, what in guides:
            guide = medians[first] * (x[first:] / x[first]) ** exponent
            axes.plot(x[first:], guide, style, color="0.4", label=f"slope {exponent}, {what}")
    own_ticks(axes, [float(value) for value in x])
