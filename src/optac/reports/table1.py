"""The report of `optac reproduce table1`: the paper's columns, and the measured ones beside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optac.reports.comparison import PALETTE, cell, drawing, grouped, markdown_table, quartiles, reached, save
from optac.reports.reproduction import report_file

Row = Mapping[str, Any]

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
LABELS = {
    "rep-ucb-alpha": "rep-ucb with Opt-AC's α",
    "rep-ucb-alpha EM": "rep-ucb with Opt-AC's α, EM",
    "lsvi-ucb": "lsvi-ucb (features known)",
    "ucbvi": "ucbvi (tabular)",
    "epsilon-greedy": "epsilon-greedy (control)",
}
ORDER = (
    *("opt-ac", "rep-ucb", "rep-ucb-alpha", "raffle", "flambe", "spanrl", "moffle"),
    *("opt-ac EM", "rep-ucb EM", "rep-ucb-alpha EM", "raffle EM", "flambe EM"),
    *("lsvi-ucb", "ucbvi", "epsilon-greedy"),
)
PROBLEMS = ("combination-lock", "observed-lock", "random-simplex")
COLUMNS = [
    "algorithm",
    "oracle",
    "convex, smooth",
    "a call (paper)",
    "episodes (paper's bound)",
    "episodes to ε, last policy",
    "episodes to ε, mixture",
    "SL",
    "PE",
    "PP",
    "CP",
    "seconds",
    "seeds",
]
NOTES = """\
Medians over seeds with interquartile ranges; (k/n) where only k of n runs came within ε = 0.1 of V*, the others
censored at their budget. The bill and the seconds are those up to ε for the last policy. * marks algorithms that
explore, then commit: their episodes are those of the first rung of a ladder n, 2n, 4n, … within ε, so they are rounded
up to a factor of 2. Rows without "EM" are given the finite class (the truth among 64 candidates), rows with it the
simplex class. The paper's lower bound is Ω(Hd|A|/ε²). Seconds were measured on a shared machine: compare them by order
of magnitude only.
"""


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md with a table a problem, and episodes.png/.svg."""
    by_problem = grouped(rows, "problem")
    sections = [NOTES]
    for problem in PROBLEMS:
        sections.append(f"## {problem}\n\n" + markdown_table(COLUMNS, _lines(by_problem.get(problem, []))))
    if rows:
        _figure(by_problem, path / "episodes.png")
        sections.append("![Episodes to ε](episodes.png)\n")
    return report_file(
        path,
        "Table 1 with measured columns",
        sections,
        done=len(rows),
        total=total,
        command="optac reproduce table1",
    )


def _lines(rows: Sequence[Row]) -> list[list[str]]:
    by_variant = grouped(rows, "variant")
    lines = []
    for variant in ORDER:
        runs = by_variant.get(variant)
        name = variant.split()[0].removesuffix("-alpha")
        paper = PAPER.get(name, ("—", "—", "—", "—"))
        label = LABELS.get(variant, variant.replace(" EM", ", EM"))
        if not runs:
            lines.append([label, *paper, *["missing"] * 7, "0"])
            continue
        bills = [(run["last"] or run)["bill"] for run in runs]
        ladder = runs[0]["ladder"]
        limit = runs[0]["budget"]
        mixture = [reached(run, "mixture", lambda at: at["episodes"]) for run in runs]
        lines.append(
            [
                label + (" *" if ladder else ""),
                *paper,
                cell([reached(run, "last", lambda at: at["episodes"]) for run in runs], limit=limit),
                "—" if ladder else cell(mixture, limit=limit),
                *(cell([bill[oracle] for bill in bills]) for oracle in ("SL", "PE", "PP", "CP")),
                cell([(run["last"] or run)["time/run"] for run in runs], digits=2),
                str(len(runs)),
            ]
        )
    return lines


def _figure(by_problem: Mapping[str, Sequence[Row]], path: Path) -> Path:
    """Episodes to ε: one point a variant, with its interquartile range; an arrow where the median is censored."""
    pyplot = drawing()
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 5.2), sharey=True, layout="constrained")
    for axis, problem in zip(axes, PROBLEMS, strict=True):
        by_variant = grouped(by_problem.get(problem, []), "variant")
        for place, variant in enumerate(reversed(ORDER)):
            runs = by_variant.get(variant)
            if not runs:
                axis.text(
                    0.5,
                    place,
                    "missing",
                    fontsize="x-small",
                    transform=axis.get_yaxis_transform(),
                    va="center",
                )
                continue
            limit = float(runs[0]["budget"])
            low, middle, high = quartiles([reached(run, "last", lambda at: at["episodes"]) for run in runs])
            colour = (
                PALETTE[0] if variant.startswith("opt-ac") else PALETTE[1] if " EM" in variant else PALETTE[2]
            )
            axis.hlines(place, min(low, limit), min(high, limit), color=colour, linewidth=2)
            axis.plot(min(middle, limit), place, ">" if middle > limit else "o", color=colour)
        axis.set(xscale="log", xlabel="episodes to ε = 0.1, last policy", title=problem)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[0].set_yticks(range(len(ORDER)), [LABELS.get(name, name) for name in reversed(ORDER)])
    seeds = max((row["seed"] for rows in by_problem.values() for row in rows), default=0) + 1
    figure.suptitle(
        f"Median and interquartile range over up to {seeds} seeds; a triangle at the right: the median run is censored",
        fontsize="medium",
    )
    return save(figure, path)
