"""The tables of `optac reproduce misspecified`, from its rows alone; its figure is `misspecified_figure`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.report.reproduction import report_file, slope_interval, slope_text
from optac.studies.misspecified.figure import misspecified_figure
from optac.studies.misspecified.rows import Row, by_epsilon, by_zeta, of_study, theorem_constant


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
    """Gaps as shares of V* − V(uniform), and the episodes until the mixture's is at most 5 %, a line a dimension."""
    lines = [
        "| D | d | seeds | episodes | mixture's gap, median (worst) | last policy's gap, median (worst) | "
        "mixtures within 5 % | episodes until then, median (worst) | learner's seconds, median |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    realised = of_study(rows, "realised")
    for runs in _by_features(realised):
        gap = np.array([row["gap"] / row["range"] for row in runs])
        last = np.array([row["last_gap"] / row["range"] for row in runs])
        within = _episodes(runs, "mixture")
        seconds = np.median([row["time/run"] for row in runs])
        first = runs[0]
        lines.append(
            f"| {first['dim']} | {first['frequencies']} | {len(runs)} | {first['episodes']:,} "
            f"| {np.median(gap):.2%} ({gap.max():.2%}) | {np.median(last):.2%} ({last.max():.2%}) "
            f"| {(gap <= 0.05).sum()} of {len(runs)} | {_count(_median(within))} ({_count(within.max())}) "
            f"| {seconds:.0f} |"
        )
    return "\n".join([*lines, "", _feature_note(realised)])


def _by_features(runs: Sequence[Row]) -> list[list[Row]]:
    """The runs of each dimension and number of frequencies."""
    sizes = sorted({(row["dim"], row["frequencies"]) for row in runs})
    return [[row for row in runs if (row["dim"], row["frequencies"]) == size] for size in sizes]


def _feature_note(runs: Sequence[Row]) -> str:
    """The size and the error of the features the runs were made with."""
    notes = []
    for several in _by_features(runs):
        first = several[0]
        samples = f"N = {first['next_samples']}" if first["next_samples"] else "exact coefficients"
        error = np.median([row["feature_error"] for row in several])
        notes.append(
            f"Features in R^{first['dim']}: d = {first['frequencies']}, {samples}, W = {first['radius']:g}, rotated "
            f"onto {first['columns']} columns. Their own error sup |T_θ − φ̂ᵀμ| is {error:.3f}, the median over "
            f"seeds, where densities reach {first['density_bound']:.3g}; d̃ of the exact ones is "
            f"{first['effective_dimension']} at 1e-6."
        )
    return "\n".join(notes)


def misspecified_table(rows: Sequence[Row]) -> str:
    """Gaps against ζ, the mixture's and the last policy's, with and without the floor at ζ = 0, and the theorem's."""
    zetas, gaps, last = by_zeta(rows)
    constant = theorem_constant(rows)
    lines = [
        "| ζ | seeds | theorem's ζ, sup \\|T − φ̂ᵀμ\\| | mixture's gap | over its floor at ζ = 0 | last policy's gap "
        "| over its floor | theorem's H² d̃^(3/2) \\|A\\| sup \\|T − φ̂ᵀμ\\| |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for i, zeta in enumerate(zetas):
        runs = [row for row in of_study(rows, "misspecified") if row["zeta"] == zeta]
        error = float(np.median([row["total_error"] for row in runs]))
        excess = [f"{np.median(values[i] - values[0]):.4f}" if zeta > 0 else "—" for values in (gaps, last)]
        lines.append(
            f"| {zeta:g} | {gaps.shape[1]} | {error:.3f} | {np.median(gaps[i]):.4f} | {excess[0]} "
            f"| {np.median(last[i]):.4f} | {excess[1]} | {constant * error:,.0f} |"
        )
    table = "\n".join(lines)
    if len(zetas) < 3 or zetas[0] != 0:
        return table
    positive = zetas[1:]
    return "\n".join(
        [
            f"{table}\n",
            "Medians over seeds. A floor is the same seed's gap at ζ = 0, the ε of the theorem's bound.\n",
            "| | slope in ζ | over the floor | (gap − floor)/ζ, median (largest) |",
            "|---|---|---|---|",
            _slope_line("mixture, the theorem's policy", positive, gaps),
            _slope_line("last policy", positive, last),
            f"| theorem, a bound | 1 | 1 | {constant:,.0f}, logarithms left out |",
            "",
            _constant_note(rows),
        ]
    )


def _slope_line(name: str, zetas: list[float], values: Float[np.ndarray, "point run"]) -> str:
    """The slopes of values at ζ > 0, whose first line is at ζ = 0."""
    excess = values[1:] - values[0]
    ratios = excess / np.asarray(zetas)[:, None]
    plain, above = (slope_text(slope_interval(zetas, each)) for each in (values[1:], excess))
    return f"| {name} | {plain} | {above} | {np.median(ratios):.3f} ({ratios.max():.3f}) |"


def _constant_note(rows: Sequence[Row]) -> str:
    runs = of_study(rows, "misspecified")
    run = runs[0]
    error = float(np.median([row["feature_error"] for row in runs]))
    return (
        f"The theorem's constant is H² d̃^(3/2) |A| = {run['horizon']}² · {run['effective_dimension']}^(3/2) · "
        f"{run['actions']}, d̃ the numerical rank at 1e-6 of the exact features of all kernels of the family. "
        f"The features' own error is part of the theorem's ζ also at ζ = 0: it is {error:.3f}, "
        f"{'below' if error < min(row['zeta'] for row in runs if row['zeta'] > 0) else 'not below'} the smallest ζ > 0 "
        f"studied; the theorem would allow it a gap of {theorem_constant(rows) * error:,.0f}.\n{_feature_note(runs)}"
    )


def dimension_table(rows: Sequence[Row]) -> str:
    """d̃ of exact features against d, at each tolerance on the singular values."""
    lines = [
        "| D | d | 2d | d̃ at 1e-3 of the largest singular value | d̃ at 1e-6 |",
        "|---|---|---|---|---|",
    ]
    for row in of_study(rows, "dimension"):
        found = row["effective_dimensions"]
        lines.append(
            f"| {row['dim']} | {row['frequencies']} | {2 * row['frequencies']} | {found['0.001']} | {found['1e-06']} |"
        )
    return "\n".join(lines)


def tied_table(rows: Sequence[Row]) -> str:
    """Episodes to ε with features of d = N = 8/ε², the censored marked, and the slope with and without them."""
    lines = [
        "| ε | d = N | ζ of the features, median | d̃ at 1e-6 | episodes to a mixture within ε, median (least–most) "
        "| the last policy, median | arrived |",
        "|---|---|---|---|---|---|---|",
    ]
    epsilons, mixture = by_epsilon(rows, "mixture")
    _, last = by_epsilon(rows, "last")
    for i, epsilon in enumerate(epsilons):
        runs = [row for row in of_study(rows, "tied") if row["epsilon"] == epsilon]
        counts, budget = mixture[i], runs[0]["budget"]
        error = np.median([row["feature_error"] for row in runs])
        lines.append(
            f"| {epsilon:g} | {runs[0]['frequencies']} | {error:.2f} | {runs[0]['effective_dimension']} "
            f"| {_count(_median(counts), budget)} ({_count(counts.min(), budget)}–{_count(counts.max(), budget)}) "
            f"| {_count(_median(last[i]), budget)} | {np.isfinite(counts).sum()} of {len(counts)} |"
        )
    if len(epsilons) < 2:
        return "\n".join(lines)
    return "\n".join([*lines, "", _tied_slopes(epsilons, mixture)])


def _tied_slopes(epsilons: list[float], mixture: Float[np.ndarray, "point run"]) -> str:
    inverse = 1 / np.asarray(epsilons)
    arrived = np.isfinite(mixture).all(axis=1)
    everywhere = slope_text(slope_interval(list(inverse), mixture))
    text = f"Episodes grow as 1/ε to the {everywhere}"
    if not arrived.all():
        uncensored = slope_text(slope_interval(list(inverse[arrived]), mixture[arrived]))
        left_out = ", ".join(
            f"{epsilon:g}" for epsilon, all_in in zip(epsilons, arrived, strict=True) if not all_in
        )
        text = (
            f"Episodes grow as 1/ε to the {uncensored} over the ε where every run arrived; with ε = {left_out}, where "
            f"some were censored, to the {everywhere}"
        )
    return f"{text} (theorem: at most 4; with d̃ fixed, as it is here, its first half says 2)."


def _episodes(runs: Sequence[Row], which: str) -> Float[np.ndarray, " run"]:
    return np.array([np.inf if row[which] is None else row[which] for row in runs], dtype=float)


def _median(values: Float[np.ndarray, " run"]) -> float:
    """The lower median, which is a run's own number, infinite where most are censored."""
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


def _count(value: float | Any, budget: int | None = None) -> str:
    if np.isinf(value):
        return "not within the budget" if budget is None else f">{budget:,}"
    return f"{value:,.0f}"
