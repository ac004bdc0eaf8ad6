"""The tables and the figure of `optac reproduce misspecified`, from its rows alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.reports.curves import COLOURS
from optac.reports.reproduction import report_file, slope_interval, slope_text

Row = dict[str, Any]


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md, misspecified.png and misspecified.svg beside the rows."""
    sections = [
        "## Θ holds the truth\n",
        realised_table(rows),
        "\n## The truth is ζ away from Θ\n",
        misspecified_table(rows),
        "\n## The effective dimension\n",
        dimension_table(rows),
        "\n## ζ tied to ε\n",
        tied_table(rows),
        "",
    ]
    if rows:
        misspecified_figure(rows, path / "misspecified.png")
        sections += ["![gap against ζ, d̃ against d, episodes against 1/ε](misspecified.png)", ""]
    return report_file(
        path,
        "Opt-AC where the model is approximately low-rank",
        sections,
        done=len(rows),
        total=total,
        command="optac reproduce misspecified",
    )


def realised_table(rows: Sequence[Row]) -> str:
    """The final gaps at ζ = 0 as shares of V* − V(uniform), a line a dimension and number of episodes."""
    lines = [
        "| D | seeds | episodes | mixture's gap, median (worst) | last policy's gap, median (worst) | within 5 % |",
        "|---|---|---|---|---|---|",
    ]
    realised = [row for row in _study(rows, "learnt") if row["zeta"] == 0]
    for dim, episodes in sorted({(row["dim"], row["episodes"]) for row in realised}):
        runs = [row for row in realised if (row["dim"], row["episodes"]) == (dim, episodes)]
        gap = np.array([row["gap"] / row["range"] for row in runs])
        last = np.array([row["last_gap"] / row["range"] for row in runs])
        lines.append(
            f"| {dim} | {len(runs)} | {episodes:,} | {np.median(gap):.2%} ({gap.max():.2%}) "
            f"| {np.median(last):.2%} ({last.max():.2%}) | {(gap <= 0.05).sum()} of {len(runs)} |"
        )
    return "\n".join(lines)


def misspecified_table(rows: Sequence[Row]) -> str:
    """Gaps against ζ, the slope and constant of the last policy's, and the theorem's."""
    zetas, gaps, last = _by_zeta(rows)
    lines = [
        "| ζ | seeds | mixture's gap, median | last policy's gap, median | theorem's H² d̃^(3/2) \\|A\\| ζ |",
        "|---|---|---|---|---|",
    ]
    constant = _theorem_constant(rows)
    for i, zeta in enumerate(zetas):
        lines.append(
            f"| {zeta:g} | {gaps.shape[1]} | {np.median(gaps[i]):.4f} | {np.median(last[i]):.4f} "
            f"| {constant * zeta:,.0f} |"
        )
    positive = np.asarray(zetas) > 0
    if positive.sum() < 2:
        return "\n".join(lines)
    slope = slope_interval([z for z in zetas if z > 0], last[positive])
    ratio = np.median(last[positive] / np.asarray(zetas)[positive, None])
    return "\n".join(lines) + (
        f"\n\nThe last policy's gap grows as ζ to the {slope_text(slope)} (theorem: at most 1). Its median constant "
        f"gap/ζ is {ratio:.3f}; the theorem's, without its logarithms, is {constant:,.0f}."
    )


def dimension_table(rows: Sequence[Row]) -> str:
    """d̃ of exact features against d, at each tolerance on the singular values."""
    lines = [
        "| D | d | 2d | d̃ at 1e-3 of the largest singular value | d̃ at 1e-6 |",
        "|---|---|---|---|---|",
    ]
    for row in _study(rows, "dimension"):
        found = row["effective_dimensions"]
        lines.append(
            f"| {row['dim']} | {row['frequencies']} | {2 * row['frequencies']} | {found['0.001']} | {found['1e-06']} |"
        )
    return "\n".join(lines)


def tied_table(rows: Sequence[Row]) -> str:
    """Episodes to ε with features of d = N = 8/ε², and their slope in 1/ε."""
    lines = [
        "| ε | d = N | ζ of the features, median | d̃ | episodes to a mixture within ε, median (least–most) |",
        "|---|---|---|---|---|",
    ]
    epsilons, episodes = _by_epsilon(rows)
    for epsilon, counts in zip(epsilons, episodes, strict=True):
        runs = [row for row in _study(rows, "tied") if row["epsilon"] == epsilon]
        zeta = np.median([row["zeta"] for row in runs])
        lines.append(
            f"| {epsilon:g} | {runs[0]['frequencies']} | {zeta:.2f} | {runs[0]['effective_dimension']} "
            f"| {_count(np.median(counts))} ({_count(counts.min())}–{_count(counts.max())}) |"
        )
    if len(epsilons) < 2:
        return "\n".join(lines)
    slope = slope_interval([1 / epsilon for epsilon in epsilons], episodes)
    return "\n".join(lines) + (
        f"\n\nEpisodes grow as 1/ε to the {slope_text(slope)} (theorem: at most 4, and only while d̃ stays fixed, as it "
        "does here)."
    )


def misspecified_figure(rows: Sequence[Row], path: Path) -> None:
    """Three panels: gap against ζ, d̃ against d, episodes against 1/ε."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    _gap_panel(left, rows)
    _dimension_panel(middle, rows)
    _episode_panel(right, rows)
    for axes in (left, middle, right):
        axes.set(xscale="log", yscale="log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize=8)
    # A decade and a half has room for its own points as ticks, not for the minor ones of a logarithm.
    points = [1 / epsilon for epsilon in _by_epsilon(rows)[0]]
    right.set_xticks(points, [f"{point:g}" for point in points])
    right.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    figure.savefig(path, dpi=150)
    figure.savefig(path.with_suffix(".svg"))
    pyplot.close(figure)


def _gap_panel(axes: Any, rows: Sequence[Row]) -> None:
    zetas, gaps, last = _by_zeta(rows)
    positive = np.asarray(zetas) > 0
    x = np.asarray(zetas)[positive]
    for values, colour, label in ((last, COLOURS[0], "last policy"), (gaps, COLOURS[1], "mixture")):
        if len(x):
            axes.plot(x, np.median(values[positive], axis=1), "o-", color=colour, markersize=4, label=label)
            axes.plot(x, values[positive], ".", color=colour, alpha=0.3, markersize=4)
    if len(x):
        axes.plot(x, _theorem_constant(rows) * x, "--", color="0.4", label="H² d̃^(3/2) |A| ζ")
    axes.set(title="misspecification", xlabel="ζ", ylabel="gap after training")


def _dimension_panel(axes: Any, rows: Sequence[Row]) -> None:
    for dim, colour in ((1, COLOURS[0]), (2, COLOURS[1])):
        chosen = [row for row in _study(rows, "dimension") if row["dim"] == dim]
        d = [row["frequencies"] for row in chosen]
        for tolerance, style in (("1e-06", "o-"), ("0.001", "s--")):
            found = [row["effective_dimensions"][tolerance] for row in chosen]
            axes.plot(d, found, style, color=colour, markersize=4, label=f"D = {dim}, tolerance {tolerance}")
        if dim == 1 and d:
            axes.plot(d, [2 * value for value in d], ":", color="0.4", label="2d")
    axes.set(title="effective dimension", xlabel="d", ylabel="d̃")


def _episode_panel(axes: Any, rows: Sequence[Row]) -> None:
    epsilons, episodes = _by_epsilon(rows)
    if not epsilons:
        return
    x = 1 / np.asarray(epsilons)
    axes.plot(x, np.median(episodes, axis=1), "o-", color=COLOURS[2], markersize=4, label="measured, median")
    axes.plot(x, episodes, ".", color=COLOURS[2], alpha=0.3, markersize=4)
    axes.plot(
        x, np.median(episodes[0]) * (x / x[0]) ** 4, "--", color="0.4", label="slope 4, the theorem's ε⁻⁴"
    )
    axes.set(title="d = N = 8/ε²", xlabel="1/ε", ylabel="episodes to a mixture within ε")


def _study(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row["study"] == name]


def _by_zeta(rows: Sequence[Row]) -> tuple[list[float], np.ndarray, np.ndarray]:
    """ζ, and the gaps of the seeds that have a run at every ζ; longer runs at ζ = 0 are another table's."""
    learnt = [row for row in _study(rows, "learnt") if row["dim"] == 1]
    shortest = min((row["episodes"] for row in learnt), default=0)
    runs = {(row["zeta"], row["seed"]): row for row in learnt if row["episodes"] == shortest}
    zetas, seeds = _complete(runs)
    gaps = np.array([[runs[z, s]["gap"] for s in seeds] for z in zetas]).reshape(len(zetas), len(seeds))
    last = np.array([[runs[z, s]["last_gap"] for s in seeds] for z in zetas]).reshape(len(zetas), len(seeds))
    return zetas, gaps, last


def _by_epsilon(rows: Sequence[Row]) -> tuple[list[float], Float[np.ndarray, "point run"]]:
    """ε from large to small, and the episodes of the seeds that have a run at every ε; infinite where censored."""
    runs = {(row["epsilon"], row["seed"]): row["episodes"] for row in _study(rows, "tied")}
    epsilons, seeds = _complete(runs)
    counts = [[runs[e, s] if runs[e, s] is not None else np.inf for s in seeds] for e in epsilons[::-1]]
    return epsilons[::-1], np.array(counts, dtype=float).reshape(len(epsilons), len(seeds))


def _complete(runs: dict[tuple[float, int], Any]) -> tuple[list[float], list[int]]:
    values = sorted({value for value, _ in runs})
    seeds = sorted({seed for _, seed in runs})
    return values, [seed for seed in seeds if all((value, seed) in runs for value in values)]


def _theorem_constant(rows: Sequence[Row]) -> float:
    """H² d̃^{3/2} |A|, with d̃ of the features the learner used."""
    runs = [row for row in _study(rows, "learnt") if row["dim"] == 1]
    if not runs:
        return float("nan")
    run = runs[0]
    return float(run["horizon"] ** 2 * run["effective_dimension"] ** 1.5 * run["actions"])


def _count(value: float) -> str:
    return "—" if np.isinf(value) else f"{value:,.0f}"
