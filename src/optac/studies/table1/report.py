"""The report of `optac reproduce table1`: the paper's columns, and the measured ones beside them."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from optac.algorithms.loop.inputs import CANDIDATES
from optac.figures import COLOURS, figure
from optac.report.comparison import bills_to, episodes_to, reached, seconds_to
from optac.report.tables import ORACLES, Row, bill_cells, cell, grouped, markdown_table, quartiles
from optac.studies.study import drawn
from optac.studies.table1.cells import EPSILON, PROBLEMS, VARIANTS, Variant

# The paper's Table 1: highest oracle, whether its objective is convex and smooth, price of one such call, sample
# complexity (up to logarithms, coverage omitted).
PAPER: Mapping[str, tuple[str, str, str, str]] = {
    "opt-ac": ("PE", "✓", "SL(ε²)", "H⁵d³A² log|Θ|/ε²"),
    "rep-ucb": ("PP", "✗", "H·SL(ε²A⁻²ᴴ)", "H⁷d⁴A² log|Θ|/ε²"),
    "raffle": ("PP", "✗", "H·SL(ε²A⁻²ᴴ)", "H⁵d⁴A² log|Θ|/ε²"),
    "flambe": ("PP", "✗", "H·SL(ε²A⁻²ᴴ)", "H²²d⁷A⁹ log|Θ|/ε¹⁰"),
    "spanrl": ("CP", "✗", "2ᵈ·SL(ε²A⁻²ᴴ)", "H⁶d⁹A⁴ log|Φ|/ε²"),
    "moffle": ("CP", "✗", "2ᵈ·SL(ε²A⁻²ᴴ)", "H⁷d¹¹A¹⁴ log|Φ|/ε²"),
}
GROUPS = {
    "finite": (COLOURS[0], "finite class"),
    "EM": (COLOURS[1], "simplex class, by EM"),
    "reference": ("0.5", "reference: learns\nno representation"),
}
COLUMNS = [
    *("algorithm", "oracle", "convex, smooth", "a call (paper)", "episodes (paper's bound)"),
    *("episodes to ε for good, last policy", "first hit", "mixture", *ORACLES),
    *("SL, PE by stages", "SL, a candidate each", "seconds", "seeds"),
]
NOTES = f"""\
Medians over seeds with interquartile ranges; (k/n) where only k of n runs came within ε = {EPSILON:g} of V*, the
others censored at their budget; for good means from there to the end of the run, which is three times as long or at
its cap; for the mixture it ends as soon as that is there. The bill and the seconds are those up to there for the last
policy. Two columns price it otherwise: a PE as H stages instead of one regression, and a fit over the list as one SL
a candidate. * marks algorithms that explore, then commit: their episodes, bill and seconds are those of the first
rung of a ladder n, 2n, 4n, … within ε, a run of its own, so they are rounded up to a factor of 2 and leave out the
rungs that failed. Rows without "EM" are given the finite class (the truth among 64 candidates), rows with it the
simplex class. The lower bound is Ω(Hd|A|/ε²). Seconds were measured on a shared machine: compare them by order of
magnitude only.
"""


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """One table per problem, and episodes.png/.svg."""
    by_problem = {problem: [row for row in rows if row["problem"] == problem] for problem in PROBLEMS}
    said = [NOTES]
    for problem, there in by_problem.items():
        by_variant, horizon = grouped(there, "variant"), PROBLEMS[problem]["horizon"]
        lines = [
            _line(name, variant, by_variant.get(name, []), horizon) for name, variant in VARIANTS.items()
        ]
        said.append(f"## {problem}\n\n" + markdown_table(COLUMNS, lines))
    return said + drawn(_figure, rows and by_problem, path / "episodes.png", "Episodes and SL calls to ε")


def _line(name: str, variant: Variant, runs: Sequence[Row], horizon: int) -> list[str]:
    paper = PAPER.get(variant.algorithm, ("—", "—", "—", "—"))
    label = variant.label or name.replace(" EM", ", EM")
    if not runs:
        return [label, *paper, *["missing"] * 10, "0"]
    ladder, limit = runs[0]["ladder"], runs[0]["budget"]
    return [
        label + (" *" if ladder else ""),
        *paper,
        cell(episodes_to(runs, "last"), limit=limit),
        cell(episodes_to(runs, "first"), limit=limit),
        "—" if ladder else cell(episodes_to(runs, "mixture"), limit=limit),
        *bill_cells(bills_to(runs)),
        cell([bill["SL"] + (horizon - 1) * bill["PE"] for bill in bills_to(runs)]),
        cell([calls_by_candidate(variant, bill, horizon) for bill in bills_to(runs)]),
        cell(seconds_to(runs), digits=2),
        str(len(runs)),
    ]


def calls_by_candidate(variant: Variant, bill: Mapping[str, int], horizon: int) -> int:
    """SL calls, each fit over the list one a candidate: all of MOFFLE's and SpanRL's, none of those of a PE or PP."""
    if variant.model_class != "finite":
        return bill["SL"]
    planned = 0 if variant.algorithm in ("moffle", "spanrl") else bill["PE"] + horizon * bill["PP"]
    return CANDIDATES * (bill["SL"] - planned) + planned


def _figure(by_problem: Mapping[str, Sequence[Row]], path: Path) -> None:
    """Episodes and SL calls to ε: a point for each variant, with its interquartile range."""
    quantities: Sequence[tuple[str, Callable[[Row], Any]]] = (
        (f"episodes to ε = {EPSILON:g} for good, last policy", lambda at: at["episodes"]),
        ("SL calls until then", lambda at: at["bill"]["SL"]),
    )
    variants = grouped([row for rows in by_problem.values() for row in rows], "variant")
    counts = {name: len({row["seed"] for row in rows}) for name, rows in variants.items()}
    most = max(counts.values())
    fewer = ", ".join(f"{name} {count}" for name, count in counts.items() if count < most)
    title = f"Median and interquartile range over {most} seeds" + (f" ({fewer})" if fewer else "")
    with figure(path, 2, 3, size=(14, 9.6), title=title, sharey=True) as axes:
        for line, (label, read) in zip(axes, quantities, strict=True):
            for axis, (problem, rows) in zip(line, by_problem.items(), strict=True):
                by_variant = grouped(rows, "variant")
                for place, name in enumerate(reversed(VARIANTS)):
                    _draw_point(axis, place, VARIANTS[name], by_variant.get(name, []), read)
                axis.set(xscale="log", xlabel=label, title=problem, ylim=(-0.7, len(VARIANTS) - 0.3))
            names = [VARIANTS[name].label or name for name in reversed(VARIANTS)]
            line[0].set_yticks(range(len(names)), names)
        legend = [("o", *group) for group in GROUPS.values()]
        legend += [("D", "0.3", "Opt-AC"), (">", "0.3", "median run not within ε:\nits whole budget")]
        for marker, colour, label in legend:
            axes[0, 2].plot([], [], marker, color=colour, label=label)
        axes[0, 2].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_point(
    axis: Any, place: int, variant: Variant, runs: Sequence[Row], read: Callable[[Row], Any]
) -> None:
    """One variant: its interquartile range and its median, at the whole budget where that is censored."""
    if not runs:
        axis.text(
            0.5, place, "missing", fontsize="x-small", transform=axis.get_yaxis_transform(), va="center"
        )
        return
    low, middle, high = quartiles([reached(run, "last", read) for run in runs])
    budget = max(read(run) for run in runs)
    colour, _ = GROUPS[variant.group]
    marker = ">" if middle == inf else "D" if variant.algorithm == "opt-ac" else "o"
    axis.hlines(place, min(low, budget), min(high, budget), color=colour, linewidth=2)
    axis.plot(min(middle, budget), place, marker, color=colour)
