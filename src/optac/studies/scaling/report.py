"""The report of `optac reproduce scaling`: measured slopes beside the theorems' exponents."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from optac.figures import COLOURS, figure, own_ticks, quartile_bars
from optac.report.comparison import episodes_to
from optac.report.statistics import log_slope, slope_text
from optac.report.tables import Row, cell, column, grouped, markdown_table, quartiles
from optac.studies.scaling import lower_bound
from optac.studies.scaling.cells import BUDGET, EPSILON, LEARNERS, MIXTURE_EPISODES, SWEEPS
from optac.studies.study import drawn

AXES = {
    "H": "horizon H (combination-lock, |A| = 3)",
    "A": "actions |A| (combination-lock, H = 4)",
    "d": "rank d (random-simplex, S = 20, |A| = 3, H = 4)",
    "1/ε": "1/ε (random-simplex, d = 3)",
}
# Exponents of the paper's Table 1 with rewards in [0, 1] per step.
EXPONENTS: Mapping[str, Mapping[str, int]] = {
    "opt-ac": {"H": 5, "A": 2, "d": 3, "1/ε": 2},
    "rep-ucb": {"H": 7, "A": 2, "d": 4, "1/ε": 2},
    "raffle": {"H": 5, "A": 2, "d": 4, "1/ε": 2},
}
Points = dict[float, list[Row]]


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """The tables, and slopes.png, mixture.png and lower-bound.png with their .svg."""
    kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in ("sweep", "mixture", "hard")}
    sweep, mixture, hard = kinds.values()
    return [
        "## Log-log slopes of the episodes to ε: measured [95 % bootstrap interval] / the theorem's exponent\n",
        slope_table(sweep),
        _points(sweep),
        _mixture(mixture),
        lower_bound.lower_bound_text(hard),
        lower_bound.lower_bound_table(hard),
        *drawn(_slope_figure, sweep, path / "slopes.png", "Episodes to ε against each factor"),
        *drawn(_mixture_figure, mixture, path / "mixture.png", "The mixture's gap against K"),
        *drawn(lower_bound.lower_bound_figure, hard, path / "lower-bound.png", lower_bound.LOWER_BOUND),
    ]


def _select(rows: Sequence[Row], algorithm: str, factor: str) -> Points:
    """The runs of one algorithm at every value of one factor, in order."""
    chosen = [row for row in rows if (row["algorithm"], row["factor"]) == (algorithm, factor)]
    return dict(sorted((float(value), runs) for value, runs in grouped(chosen, "value").items()))


def _policies(rows: Sequence[Row], algorithm: str) -> dict[str, str]:
    """Which policies an algorithm is read at, and what they are called: one that plans at its end has one alone."""
    planned = any(row["ladder"] for row in rows if row["algorithm"] == algorithm)
    return {"last": "planned policy"} if planned else {"last": "last policy", "mixture": "mixture"}


def slope_table(rows: Sequence[Row]) -> str:
    """One line per algorithm and policy, one column per factor."""
    lines = [
        [
            algorithm,
            policy,
            *(_slope(_select(rows, algorithm, f), which, EXPONENTS[algorithm][f]) for f in SWEEPS),
        ]
        for algorithm in LEARNERS
        for which, policy in _policies(rows, algorithm).items()
    ]
    return markdown_table(["algorithm", "of", *SWEEPS], lines)


def _slope(points: Points, which: str, exponent: int) -> str:
    whole = min(map(len, points.values()), default=0)
    if len(points) < 4 or whole == 0:
        return "missing"
    runs = np.array([episodes_to(point, which)[:whole] for point in points.values()])
    return f"{slope_text(list(points), runs)} / {exponent}"


def _points(rows: Sequence[Row]) -> str:
    read = [(algorithm, which) for algorithm in LEARNERS for which in _policies(rows, algorithm)]
    lines = []
    for factor in SWEEPS:
        by_value = grouped([row for row in rows if row["factor"] == factor], "value")
        for value, there in sorted(by_value.items()):
            line = [f"{factor} = {value:g}"]
            for algorithm, which in read:
                runs = [row for row in there if row["algorithm"] == algorithm]
                line.append(cell(episodes_to(runs, which), limit=BUDGET) if runs else "missing")
            lines.append([*line, str(len({row["seed"] for row in there}))])
    names = [f"{name}, {which}" if len(_policies(rows, name)) > 1 else f"{name} *" for name, which in read]
    return (
        "## Episodes to ε at every point: median [interquartile range]\n\n"
        + markdown_table(["point", *names, "seeds"], lines)
        + "\n\\* the first rung of a ladder of budgets, so rounded up to a factor of 2\n"
    )


def _mixture_slope(runs: Sequence[Row]) -> float:
    """The median slope of log gap against log episodes over the second half, in logarithms, of a run."""
    slopes = []
    for run in runs:
        episodes, gaps = (np.asarray(run["curve"][name], dtype=float) for name in ("episodes", "gap"))
        late = episodes >= np.sqrt(episodes[0] * episodes[-1])
        slopes.append(log_slope(episodes[late], np.maximum(gaps[late], 1e-12)))
    return float(np.median(slopes))


def _mixture(rows: Sequence[Row]) -> str:
    lines = [
        [name, f"{_mixture_slope(runs):.2f}", cell(column(runs, "gap"), digits=4), str(len(runs))]
        for name, runs in grouped(rows, "algorithm").items()
    ]
    slope = "slope of log gap against log K (theorem: −0.5)"
    return "## The mixture's gap against K, on combination-lock horizon=4 actions=3\n\n" + markdown_table(
        ["algorithm", slope, "final gap of the mixture", "seeds"], lines
    )


def _slope_figure(rows: Sequence[Row], path: Path) -> None:
    title = (
        "Episodes to ε, one factor at a time: median and interquartile range over up to "
        f"{len({row['seed'] for row in rows})} seeds (solid: the mixture returned, or RAFFLE's planned policy)"
    )
    with figure(path, 1, len(SWEEPS), size=(15, 4.4), title=title, sharey=True) as axes:
        for axis, factor in zip(axes, SWEEPS, strict=True):
            for algorithm, colour in zip(LEARNERS, COLOURS, strict=False):
                points = _select(rows, algorithm, factor)
                policies = _policies(rows, algorithm) if points else {}
                for which in reversed(policies):
                    low, middle, high = np.array(
                        [quartiles(episodes_to(runs, which)) for runs in points.values()]
                    ).T
                    shown = np.isfinite(middle)
                    solid = which == next(reversed(policies))
                    quartile_bars(
                        axis,
                        np.array(list(points))[shown],
                        (low[shown], middle[shown], np.minimum(high, BUDGET)[shown]),
                        color=colour,
                        linestyle="-" if solid else "--",
                        marker="o",
                        label=algorithm if solid else f"{algorithm}, last policy",
                    )
            axis.set(xscale="log", yscale="log", xlabel=AXES[factor])
            own_ticks(axis, sorted({float(row["value"]) for row in rows if row["factor"] == factor}))
        axes[0].set_ylabel(f"episodes to ε ({EPSILON:g} but in the last panel)")
        labelled = next((axis for axis in axes if axis.get_legend_handles_labels()[0]), None)
        if labelled is not None:
            labelled.legend()


def _mixture_figure(rows: Sequence[Row], path: Path) -> None:
    with figure(path, size=(7, 4.4)) as axis:
        for (name, runs), colour in zip(grouped(rows, "algorithm").items(), COLOURS, strict=False):
            for index, run in enumerate(runs):
                episodes, gaps = (np.asarray(run["curve"][name], dtype=float) for name in ("episodes", "gap"))
                label = None if index else name
                axis.plot(episodes, gaps, color=colour, alpha=0.5, linewidth=0.9, label=label)
        guide = np.geomspace(30, MIXTURE_EPISODES, 10)
        axis.plot(guide, 0.9 * (guide / 30) ** -0.5, ":", color="0.4", label="slope −½")
        axis.plot(guide, 0.9 * (guide / 30) ** -1.0, "--", color="0.4", label="slope −1")
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="episodes played (4 per iteration)",
            ylabel="gap of the mixture, exact",
            title="combination-lock horizon=4 actions=3, one line per seed",
        )
        axis.legend()
