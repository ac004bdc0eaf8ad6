"""The figure of `optac reproduce misspecified`: gap against ζ, d̃ against d, episodes against 1/ε."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optac.report.curves import COLOURS
from optac.studies.misspecified.rows import Row, by_epsilon, by_zeta, of_study, theorem_constant


def misspecified_figure(rows: Sequence[Row], path: Path) -> None:
    """Three panels, all axes logarithmic; one faint dot a run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    seeds = len({row["seed"] for row in rows if row.get("seed") is not None})
    figure.suptitle(
        f"Opt-AC on smooth-walk, D = 1 unless said: medians over {seeds} seeds, a faint dot a run"
    )
    for axes, draw in ((left, _gap_panel), (middle, _dimension_panel), (right, _episode_panel)):
        axes.set(xscale="log", yscale="log")
        draw(axes, rows)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=150)
    figure.savefig(path.with_suffix(".svg"))
    pyplot.close(figure)


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
    axes.axhline(
        floor, color=COLOURS[1], linestyle=":", linewidth=1.2, label=f"mixture at ζ = 0: {floor:.2g}"
    )
    excess = np.median(gaps[1:] - gaps[0], axis=1)
    axes.plot(x, excess, "s--", color=COLOURS[1], markersize=4, label="mixture less its floor")
    axes.plot(x, excess[-1] * x / x[-1], color="0.5", linewidth=1, label="slope 1")
    axes.set_ylim(top=8 * float(gaps.max()))
    _own_ticks(axes, [float(value) for value in x])
    axes.text(
        0.97,
        0.03,
        f"the theorem's {theorem_constant(rows):,.0f} ζ lies above the frame",
        transform=axes.transAxes,
        ha="right",
        fontsize=9,
        color="0.3",
    )
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _dimension_panel(axes: Any, rows: Sequence[Row]) -> None:
    for dim, colour in ((2, COLOURS[1]), (1, COLOURS[0])):
        chosen = [row for row in of_study(rows, "dimension") if row["dim"] == dim]
        d = [row["frequencies"] for row in chosen]
        if not d:
            continue
        for tolerance, style, text in (("1e-06", "o-", "1e-6"), ("0.001", "s--", "1e-3")):
            found = [row["effective_dimensions"][tolerance] for row in chosen]
            axes.plot(d, found, style, color=colour, markersize=4, label=f"D = {dim}, tolerance {text}")
        if dim == 2:
            axes.plot(d, [2 * value for value in d], ":", color="0.4", label="2d, all there are")
    axes.set(title="effective dimension", xlabel="d", ylabel=r"$\tilde{d}$, exact coefficients")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8, loc="upper left")


def _episode_panel(axes: Any, rows: Sequence[Row]) -> None:
    epsilons, episodes = by_epsilon(rows, "mixture")
    axes.set(title="features of d = N = 8/ε²", xlabel="1/ε", ylabel="episodes to a mixture within ε")
    if not epsilons or not episodes.shape[1]:
        return
    x = 1 / np.asarray(epsilons)
    medians = np.quantile(episodes, 0.5, axis=1, method="inverted_cdf")
    arrived = np.isfinite(episodes).all(axis=1)
    axes.plot(x, episodes, ".", color=COLOURS[2], alpha=0.35, markersize=5)
    axes.plot(x[arrived], medians[arrived], "o-", color=COLOURS[2], markersize=5, label="median")
    budget = of_study(rows, "tied")[0]["budget"]
    for i in np.flatnonzero(~arrived):
        missing = int(np.isinf(episodes[i]).sum())
        label = f"{missing} of {episodes.shape[1]} runs not there by {budget:,} episodes"
        axes.plot(x[i], budget, "^", color=COLOURS[1], markersize=7, fillstyle="none", label=label)
        if np.isfinite(medians[i]):
            axes.plot(
                x[i], medians[i], "o", color=COLOURS[2], fillstyle="none", label="median, some censored"
            )
    first = int(np.flatnonzero(arrived)[0]) if arrived.any() else 0
    if arrived.any():
        for exponent, style in ((4, "--"), (2, ":")):
            guide = medians[first] * (x[first:] / x[first]) ** exponent
            what = "the theorem's total" if exponent == 4 else r"its first half's, $\tilde{d}$ fixed"
            axes.plot(x[first:], guide, style, color="0.4", label=f"slope {exponent}, {what}")
    _own_ticks(axes, [float(value) for value in x])
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _own_ticks(axes: Any, points: list[float]) -> None:
    """A decade has room for its own points as ticks, not for the minor ones of a logarithm."""
    axes.set_xticks(points, [f"{point:g}" for point in points])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
