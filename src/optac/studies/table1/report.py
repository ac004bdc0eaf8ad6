"""The report of `optac reproduce table1`: the paper's columns, and the measured ones beside them."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from optac.report.comparison import PALETTE, cell, drawing, grouped, markdown_table, quartiles, reached, save
from optac.report.reproduction import report_file

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
REFERENCES = ("lsvi-ucb", "ucbvi", "epsilon-greedy")
ORDER = (
    *("opt-ac", "rep-ucb", "rep-ucb-alpha", "raffle", "flambe", "spanrl", "moffle"),
    *("opt-ac EM", "rep-ucb EM", "rep-ucb-alpha EM", "raffle EM", "flambe EM"),
    *REFERENCES,
)
GROUPS = {
    "finite": (PALETTE[0], "finite class"),
    "EM": (PALETTE[1], "simplex class, by EM"),
    "reference": ("0.5", "reference: learns\nno representation"),
}
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
explore, then commit: their episodes, bill and seconds are those of the first rung of a ladder n, 2n, 4n, … within ε, a
run of its own, so they are rounded up to a factor of 2 and leave out the rungs that failed. Rows without "EM" are given
the finite class (the truth among 64 candidates), rows with it the simplex class. The lower bound is Ω(Hd|A|/ε²).
Seconds were measured on a shared machine: compare them by order of magnitude only.
"""


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md with a table a problem, and episodes.png/.svg."""
    by_problem = grouped(rows, "problem")
    sections = [NOTES]
    for problem in PROBLEMS:
        sections.append(f"## {problem}\n\n" + markdown_table(COLUMNS, _lines(by_problem.get(problem, []))))
    if rows:
        _figure(by_problem, path / "episodes.png")
        sections.append("![Episodes and SL calls to ε](episodes.png)\n")
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
    """Episodes and SL calls to ε: a point a variant, with its interquartile range."""
    pyplot = drawing()
    figure, axes = pyplot.subplots(2, 3, figsize=(14, 9.6), sharey=True, layout="constrained")
    quantities: Sequence[tuple[str, Callable[[Row], Any]]] = (
        ("episodes to ε = 0.1, last policy", lambda at: at["episodes"]),
        ("SL calls until then", lambda at: at["bill"]["SL"]),
    )
    for line, (label, read) in zip(axes, quantities, strict=True):
        for axis, problem in zip(line, PROBLEMS, strict=True):
            by_variant = grouped(by_problem.get(problem, []), "variant")
            for place, variant in enumerate(reversed(ORDER)):
                _draw_point(axis, place, variant, by_variant.get(variant, []), read)
            axis.set(xscale="log", xlabel=label, title=problem, ylim=(-0.7, len(ORDER) - 0.3))
            axis.spines[["top", "right"]].set_visible(False)
            axis.grid(alpha=0.25)
        line[0].set_yticks(range(len(ORDER)), [LABELS.get(name, name) for name in reversed(ORDER)])
    for colour, label in GROUPS.values():
        axes[0, 2].plot([], [], "o", color=colour, label=label)
    axes[0, 2].plot([], [], "D", color="0.3", label="Opt-AC")
    axes[0, 2].plot([], [], ">", color="0.3", label="median run not within ε:\nits whole budget")
    axes[0, 2].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    seeds = grouped([row for rows in by_problem.values() for row in rows], "variant")
    counts = {name: len({row["seed"] for row in rows}) for name, rows in seeds.items()}
    fewer = ", ".join(f"{name} {count}" for name, count in counts.items() if count < max(counts.values()))
    figure.suptitle(
        f"Median and interquartile range over {max(counts.values())} seeds"
        + (f" ({fewer})" if fewer else ""),
        fontsize="medium",
    )
    return save(figure, path)


def _draw_point(axis: Any, place: int, variant: str, runs: Sequence[Row], read: Callable[[Row], Any]) -> None:
    """One variant: its interquartile range and its median, at the whole budget where that is censored."""
    if not runs:
        axis.text(
            0.5, place, "missing", fontsize="x-small", transform=axis.get_yaxis_transform(), va="center"
        )
        return
    low, middle, high = quartiles([reached(run, "last", read) for run in runs])
    budget = max(read(run) for run in runs)
    colour, _ = GROUPS["EM" if " EM" in variant else "reference" if variant in REFERENCES else "finite"]
    marker = ">" if middle == inf else "D" if variant.startswith("opt-ac") else "o"
    axis.hlines(place, min(low, budget), min(high, budget), color=colour, linewidth=2)
    axis.plot(min(middle, budget), place, marker, color=colour)
