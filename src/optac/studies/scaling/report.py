"""The report of `optac reproduce scaling`: measured slopes beside the theorems' exponents."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optac.report.comparison import PALETTE, cell, drawing, grouped, markdown_table, quartiles, reached, save
from optac.report.reproduction import log_slope, report_file, slope_interval, slope_text
from optac.studies.scaling.lower_bound import lower_bound_figure, lower_bound_table

Row = Mapping[str, Any]

LEARNERS = ("opt-ac", "rep-ucb", "raffle")
FACTORS = ("H", "A", "d", "1/ε")
AXES = {
    "H": "horizon H (combination-lock, |A| = 3)",
    "A": "actions |A| (combination-lock, H = 4)",
    "d": "rank d (random-simplex, S = 20, |A| = 3, H = 4)",
    "1/ε": "1/ε (random-simplex, d = 3)",
}
# Exponents of the paper's Table 1 with rewards in [0, 1] a step.
EXPONENTS: Mapping[str, Mapping[str, int]] = {
    "opt-ac": {"H": 5, "A": 2, "d": 3, "1/ε": 2},
    "rep-ucb": {"H": 7, "A": 2, "d": 4, "1/ε": 2},
    "raffle": {"H": 5, "A": 2, "d": 4, "1/ε": 2},
}
BUDGET = 20_000


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md with its tables, and slopes.png/.svg and mixture.png/.svg."""
    sweep = [row for row in rows if row["kind"] == "sweep"]
    hard = [row for row in rows if row["kind"] == "hard"]
    mixture = [row for row in rows if row["kind"] == "mixture"]
    sections = [_slopes(sweep), _points(sweep), _mixture(mixture), lower_bound_table(hard)]
    if sweep:
        _slope_figure(sweep, path / "slopes.png")
        sections.append("![Episodes to ε against each factor](slopes.png)\n")
    if mixture:
        _mixture_figure(mixture, path / "mixture.png")
        sections.append("![The mixture's gap against K](mixture.png)\n")
    if hard:
        lower_bound_figure(hard, path / "lower-bound.png")
        sections.append("![N·ε²/(Hd|A|) on the lower-bound instance](lower-bound.png)\n")
    return report_file(
        path, "Scaling", sections, done=len(rows), total=total, command="optac reproduce scaling"
    )


def _select(rows: Sequence[Row], algorithm: str, factor: str) -> dict[float, list[Row]]:
    """The runs of one algorithm at every value of one factor, in order."""
    points: dict[float, list[Row]] = {}
    for row in rows:
        if row["algorithm"] == algorithm and row["factor"] == factor:
            points.setdefault(float(row["value"]), []).append(row)
    return dict(sorted(points.items()))


def _episodes(runs: Sequence[Row], which: str) -> list[float]:
    return [reached(run, which, lambda at: at["episodes"]) for run in runs]


def _slopes(rows: Sequence[Row]) -> str:
    lines = []
    for algorithm in LEARNERS:
        for which in ("last",) if algorithm == "raffle" else ("last", "mixture"):
            line = [
                algorithm,
                "planned policy"
                if algorithm == "raffle"
                else f"{which} policy".replace("mixture policy", "mixture"),
            ]
            for factor in FACTORS:
                points = _select(rows, algorithm, factor)
                whole = min((len(runs) for runs in points.values()), default=0)
                if len(points) < 4 or whole == 0:
                    line.append("missing")
                    continue
                runs = np.array([_episodes(point, which)[:whole] for point in points.values()])
                line.append(
                    f"{slope_text(slope_interval(list(points), runs))} / {EXPONENTS[algorithm][factor]}"
                )
            lines.append(line)
    return (
        "## Log-log slopes of the episodes to ε: measured [95 % bootstrap interval] / the theorem's exponent\n\n"
        + markdown_table(["algorithm", "of", *FACTORS], lines)
    )


def _points(rows: Sequence[Row]) -> str:
    lines = []
    for factor in FACTORS:
        values = sorted({float(row["value"]) for row in rows if row["factor"] == factor})
        for value in values:
            line = [f"{factor} = {value:g}"]
            for algorithm in LEARNERS:
                runs = _select(rows, algorithm, factor).get(value, [])
                line.append(cell(_episodes(runs, "last"), limit=BUDGET) if runs else "missing")
                if algorithm != "raffle":
                    line.append(cell(_episodes(runs, "mixture"), limit=BUDGET) if runs else "missing")
            seeds = {row["seed"] for row in rows if row["factor"] == factor and float(row["value"]) == value}
            lines.append([*line, str(len(seeds))])
    columns = [
        "point",
        "opt-ac, last",
        "opt-ac, mixture",
        "rep-ucb, last",
        "rep-ucb, mixture",
        "raffle *",
        "seeds",
    ]
    return (
        "## Episodes to ε at every point: median [interquartile range]\n\n"
        + markdown_table(columns, lines)
        + "\n\\* the first rung of a ladder of budgets, so rounded up to a factor of 2\n"
    )


def _mixture_slope(runs: Sequence[Row]) -> float:
    """The median slope of log gap against log episodes over the second half, in logarithms, of a run."""
    slopes = []
    for run in runs:
        curve = np.asarray(run["curve"], dtype=float)
        late = curve[:, 0] >= np.sqrt(curve[0, 0] * curve[-1, 0])
        slopes.append(log_slope(list(curve[late, 0]), list(np.maximum(curve[late, 1], 1e-12))))
    return float(np.median(slopes))


def _mixture(rows: Sequence[Row]) -> str:
    lines = [
        [name, f"{_mixture_slope(runs):.2f}", cell([run["gap"] for run in runs], digits=4), str(len(runs))]
        for name, runs in grouped(rows).items()
    ]
    columns = [
        "algorithm",
        "slope of log gap against log K (theorem: −0.5)",
        "final gap of the mixture",
        "seeds",
    ]
    return "## The mixture's gap against K, on combination-lock horizon=4 actions=3\n\n" + markdown_table(
        columns, lines
    )


def _slope_figure(rows: Sequence[Row], path: Path) -> Path:
    pyplot = drawing()
    figure, axes = pyplot.subplots(1, 4, figsize=(15, 4.4), sharey=True, layout="constrained")
    for axis, factor in zip(axes, FACTORS, strict=True):
        for algorithm, colour in zip(LEARNERS, PALETTE, strict=False):
            points = _select(rows, algorithm, factor)
            for which, line in (("mixture", "-"), ("last", "--")):
                if not points or (algorithm == "raffle" and which == "last"):
                    continue
                low, middle, high = np.array(
                    [quartiles(_episodes(runs, which)) for runs in points.values()]
                ).T
                shown = np.isfinite(middle)
                axis.errorbar(
                    np.array(list(points))[shown],
                    middle[shown],
                    yerr=[(middle - low)[shown], np.minimum(high, BUDGET)[shown] - middle[shown]],
                    color=colour,
                    linestyle=line,
                    marker="o",
                    capsize=2,
                    label=algorithm if which == "mixture" else f"{algorithm}, last policy",
                )
        axis.set(xscale="log", yscale="log", xlabel=AXES[factor])
        values = sorted({float(row["value"]) for row in rows if row["factor"] == factor})
        axis.set_xticks(values, [f"{value:g}" for value in values])
        axis.set_xticks([], minor=True)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25, which="both")
    axes[0].set_ylabel("episodes to ε (0.1 but in the last panel)")
    labelled = next((axis for axis in axes if axis.get_legend_handles_labels()[0]), None)
    if labelled is not None:
        labelled.legend(frameon=False, fontsize="small")
    seeds = len({row["seed"] for row in rows})
    figure.suptitle(
        f"Episodes to ε, one factor at a time: median and interquartile range over up to {seeds} seeds "
        "(solid: the mixture returned, or RAFFLE's planned policy)",
        fontsize="medium",
    )
    return save(figure, path)


def _mixture_figure(rows: Sequence[Row], path: Path) -> Path:
    pyplot = drawing()
    figure, axis = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
    for (name, runs), colour in zip(grouped(rows).items(), PALETTE, strict=False):
        for index, run in enumerate(runs):
            curve = np.asarray(run["curve"], dtype=float)
            axis.plot(
                curve[:, 0],
                curve[:, 1],
                color=colour,
                alpha=0.5,
                linewidth=0.9,
                label=name if index == 0 else None,
            )
    episodes = np.geomspace(30, 8192, 10)
    axis.plot(episodes, 0.9 * (episodes / 30) ** -0.5, ":", color="0.4", label="slope −½")
    axis.plot(episodes, 0.9 * (episodes / 30) ** -1.0, "--", color="0.4", label="slope −1")
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="episodes played (4 an iteration)",
        ylabel="gap of the mixture, exact",
        title="combination-lock horizon=4 actions=3, a line a seed",
    )
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25, which="both")
    axis.legend(frameon=False)
    return save(figure, path)
