"""The tables of `optac reproduce misspecified`, from its rows alone; its figure is in figure.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.report.statistics import lower_median, slope_text
from optac.report.tables import Row, column, grouped, markdown_table
from optac.studies.misspecified.cells import SHARE
from optac.studies.misspecified.figure import misspecified_figure
from optac.studies.misspecified.rows import by_epsilon, by_zeta, of_study, theorem_constant
from optac.studies.study import drawn


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """One table per question, and misspecified.png/.svg."""
    words = "gap against ζ, d̃ against d, episodes against 1/ε"
    return [
        "## Θ holds the truth\n",
        realised_table(rows),
        "## The truth is ζ away from Θ\n",
        misspecified_table(rows),
        "## The effective dimension\n",
        dimension_table(rows),
        "## ζ tied to ε\n",
        tied_table(rows),
        *drawn(misspecified_figure, rows, path / "misspecified.png", words),
    ]


def realised_table(rows: Sequence[Row]) -> str:
    """Gaps as shares of V* − V(uniform), and the episodes until the mixture's is at most 5 %, by dimension."""
    lines = []
    realised = of_study(rows, "realised")
    for (dim, frequencies), runs in _by_features(realised).items():
        gap, last = (np.array([row[name] / row["range"] for row in runs]) for name in ("gap", "last_gap"))
        within = np.array([np.inf if row["mixture"] is None else row["mixture"] for row in runs], dtype=float)
        lines.append(
            [
                *(dim, frequencies, len(runs), f"{runs[0]['episodes']:,}"),
                *(f"{np.median(share):.2%} ({share.max():.2%})" for share in (gap, last)),
                f"{(gap <= SHARE).sum()} of {len(runs)}",
                f"{_count(lower_median(within))} ({_count(within.max())})",
                f"{np.median(column(runs, 'time/seconds')):.0f}",
            ]
        )
    columns = ["D", "d", "seeds", "episodes", "mixture's gap, median (worst)"]
    columns += ["last policy's gap, median (worst)", f"mixtures within {SHARE:.0%}"]
    columns += ["episodes until then, median (worst)", "learner's seconds, median"]
    return f"{markdown_table(columns, lines)}\n{_feature_note(realised)}\n"


def _by_features(runs: Sequence[Row]) -> dict[Any, list[Row]]:
    """The runs of each dimension and number of frequencies."""
    return dict(sorted(grouped(runs, "dim", "frequencies").items()))


def _feature_note(runs: Sequence[Row]) -> str:
    """The size and the error of the features the runs were made with."""
    notes = []
    for several in _by_features(runs).values():
        first = several[0]
        samples = f"N = {first['next_samples']}" if first["next_samples"] else "exact coefficients"
        notes.append(
            f"Features in R^{first['dim']}: d = {first['frequencies']}, {samples}, W = {first['radius']:g}, rotated "
            f"onto {first['columns']} columns. Their own error sup |T_θ − φ̂ᵀμ| is {_error(several):.3f}, the median "
            f"over seeds, where densities reach {first['density_bound']:.3g}; d̃ of the exact ones is "
            f"{first['effective_dimension']} at 1e-6."
        )
    return "\n".join(notes)


def _error(runs: Sequence[Row], name: str = "feature_error") -> float:
    return float(np.median(column(runs, name)))


def misspecified_table(rows: Sequence[Row]) -> str:
    """Gaps against ζ, the mixture's and the last policy's, with and without the floor at ζ = 0, and the theorem's."""
    zetas, gaps, last = by_zeta(rows)
    constant = theorem_constant(rows)
    lines = []
    for i, zeta in enumerate(zetas):
        error = _error([row for row in of_study(rows, "misspecified") if row["zeta"] == zeta], "total_error")
        line = [f"{zeta:g}", gaps.shape[1], f"{error:.3f}"]
        for values in (gaps, last):
            over = f"{np.median(values[i] - values[0]):.4f}" if zeta > 0 else "—"
            line += [f"{np.median(values[i]):.4f}", over]
        lines.append([*line, f"{constant * error:,.0f}"])
    columns = ["ζ", "seeds", "theorem's ζ, sup |T − φ̂ᵀμ|", "mixture's gap", "over its floor at ζ = 0"]
    columns += ["last policy's gap", "over its floor", "theorem's H² d̃^(3/2) |A| sup |T − φ̂ᵀμ|"]
    table = markdown_table(columns, lines)
    if len(zetas) < 3 or zetas[0] != 0:
        return table
    slopes = [
        _slope_line("mixture, the theorem's policy", zetas[1:], gaps),
        _slope_line("last policy", zetas[1:], last),
        ["theorem, a bound", 1, 1, f"{constant:,.0f}, logarithms left out"],
    ]
    floor = "Medians over seeds. A floor is the same seed's gap at ζ = 0, the ε of the theorem's bound.\n"
    columns = ["", "slope in ζ", "over the floor", "(gap − floor)/ζ, median (largest)"]
    return "\n".join([table, floor, markdown_table(columns, slopes), _constant_note(rows)])


def _slope_line(name: str, zetas: list[float], values: Float[np.ndarray, "point run"]) -> list[Any]:
    """The slopes of values at ζ > 0, whose first line is at ζ = 0."""
    excess = values[1:] - values[0]
    ratios = excess / np.asarray(zetas)[:, None]
    slopes = [slope_text(zetas, each) for each in (values[1:], excess)]
    return [name, *slopes, f"{np.median(ratios):.3f} ({ratios.max():.3f})"]


def _constant_note(rows: Sequence[Row]) -> str:
    runs = of_study(rows, "misspecified")
    run, error = runs[0], _error(runs)
    below = "below" if error < min(row["zeta"] for row in runs if row["zeta"] > 0) else "not below"
    return (
        f"The theorem's constant is H² d̃^(3/2) |A| = {run['horizon']}² · {run['effective_dimension']}^(3/2) · "
        f"{run['actions']}, d̃ the numerical rank at 1e-6 of the exact features of all kernels of the family. "
        f"The features' own error is part of the theorem's ζ also at ζ = 0: it is {error:.3f}, {below} the smallest "
        f"ζ > 0 studied; the theorem would allow it a gap of {theorem_constant(rows) * error:,.0f}.\n"
        f"{_feature_note(runs)}\n"
    )


def dimension_table(rows: Sequence[Row]) -> str:
    """d̃ of exact features against d, at each tolerance on the singular values."""
    lines = []
    for row in of_study(rows, "dimension"):
        d, found = row["frequencies"], row["effective_dimensions"]
        lines.append([row["dim"], d, 2 * d, found["0.001"], found["1e-06"]])
    return markdown_table(["D", "d", "2d", "d̃ at 1e-3 of the largest singular value", "d̃ at 1e-6"], lines)


def tied_table(rows: Sequence[Row]) -> str:
    """Episodes to ε with features of d = N = 8/ε², the censored marked, and the slope with and without them."""
    epsilons, mixture = by_epsilon(rows, "mixture")
    _, last = by_epsilon(rows, "last")
    lines = []
    for i, epsilon in enumerate(epsilons):
        runs = [row for row in of_study(rows, "tied") if row["epsilon"] == epsilon]
        counts, budget = mixture[i], runs[0]["budget"]
        middle, least, most, policy = (
            _count(count, budget)
            for count in (lower_median(counts), counts.min(), counts.max(), lower_median(last[i]))
        )
        size, effective = runs[0]["frequencies"], runs[0]["effective_dimension"]
        arrived = f"{np.isfinite(counts).sum()} of {len(counts)}"
        episodes = f"{middle} ({least}–{most})"
        lines.append([f"{epsilon:g}", size, f"{_error(runs):.2f}", effective, episodes, policy, arrived])
    columns = ["ε", "d = N", "ζ of the features, median", "d̃ at 1e-6"]
    columns += ["episodes to a mixture within ε, median (least–most)", "the last policy, median", "arrived"]
    table = markdown_table(columns, lines)
    return table if len(epsilons) < 2 else f"{table}\n{_tied_slopes(epsilons, mixture)}\n"


def _tied_slopes(epsilons: list[float], mixture: Float[np.ndarray, "point run"]) -> str:
    inverse = 1 / np.asarray(epsilons)
    arrived = np.isfinite(mixture).all(axis=1)
    everywhere = slope_text(list(inverse), mixture)
    text = f"Episodes grow as 1/ε to the {everywhere}"
    if not arrived.all():
        left_out = ", ".join(f"{value:g}" for value in np.asarray(epsilons)[~arrived])
        text = (
            f"Episodes grow as 1/ε to the {slope_text(list(inverse[arrived]), mixture[arrived])} over the ε where "
            f"every run arrived; with ε = {left_out}, where some were censored, to the {everywhere}"
        )
    return f"{text} (theorem: at most 4; with d̃ fixed, as it is here, its first half says 2)."


def _count(value: float, budget: int | None = None) -> str:
    if np.isinf(value):
        return "not within the budget" if budget is None else f">{budget:,}"
    return f"{value:,.0f}"
