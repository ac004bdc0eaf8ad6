"""The tables and the figure of `optac reproduce rich-lock`, from its rows alone."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from statistics import median

import numpy as np

from optac.figures import COLOURS, figure, own_ticks
from optac.report.statistics import slope_text
from optac.report.tables import ORACLES, Row, column, gathered, markdown_table
from optac.studies.rich_lock.cells import TARGET

PUBLISHED = (
    (
        "HOMER",
        "any",
        "20,000 a step for the encoder and 20,000 for planning, so at least 20,000·H",
        "microsoft/Intrepid, data/diabcombolock/constants.json",
    ),
    (
        "BRIEE",
        "100 by default",
        "10,000,000",
        "yudasong/briee, utils.py (num_episodes); run.sh has five seeds",
    ),
    (
        "RC-GVF on PPO",
        "100",
        "200,000 (20,000,000 frames)",
        "Aditya-Ramesh-10/diabolical-lock-experiments, scripts/db_lock_train_rcgvf.py (frames)",
    ),
)
"""method, horizon, budget in episodes, where it stands: budgets of public code, not counts until it was solved"""
LINES = {
    "horizon": "Opt-AC",
    "distractors": "Opt-AC, 4 distractors",
    "gaussian": "Opt-AC, Gaussian emissions",
    "rep-ucb": "Rep-UCB, same class",
    "true features": "LSVI-UCB, true features",
}


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """Four tables, and horizon.png/.svg."""
    runs = [row for row in rows if row["group"] != "cost"]
    said = [
        _solved(runs),
        "## Over rich-lock horizon=6 itself\n\n" + ratio_table(runs),
        "## Log-log slope of the episodes against H\n\nOver the horizons whose median seed is solved.\n\n"
        + slope_table(runs),
        _published(),
        _cost([r for r in rows if r["group"] == "cost"]),
    ]
    if _points(runs, "horizon"):
        _figure(runs, path / "horizon.png")
        said.append("![Episodes until solved for good against the horizon](horizon.png)\n")
    return said


def _episodes(runs: Sequence[Row]) -> list[float]:
    return [inf if run["solved"] is None else float(run["solved"]) for run in runs]


def _words(row: Row) -> str:
    """What a run was, without its seed."""
    told = [f"{name}={value}" for name, value in {**row["parameters"], **row["settings"]}.items()]
    return " ".join([row["algorithm"], row["problem"], *told])


def solved_table(rows: Sequence[Row], *, brief: bool = False) -> str:
    """One line for every kind of run; `brief` leaves out the bill and what evaluation took."""
    lines = []
    for (group, words), runs in gathered(rows, lambda row: (row["group"], _words(row))).items():
        solved = sorted(run["solved"] for run in runs if run["solved"] is not None)
        episodes = f"{median(solved):,.0f} ({solved[0]:,}–{solved[-1]:,})" if solved else "—"
        bills = [run["bill"] for run in runs if "bill" in run]
        calls = [f"{median(bill[name] for bill in bills):,.0f}" if bills else "—" for name in ORACLES[:3]]
        spent = f"{median(column(runs, 'time/cpu')):,.1f}"
        shares = [run["time/evaluation"] for run in runs if "time/evaluation" in run]
        share = f"{100 * max(shares):.0f} %" if shares else "—"
        counts = [f"{len(solved)} of {len(runs)}", episodes, f"{max(column(runs, 'budget')):,}"]
        gap = f"{max(column(runs, 'last_gap')):.2g}"
        lines.append([group, words, *counts, gap, spent, *calls, share])
    columns = [
        "group",
        "run",
        "solved for good",
        "episodes, median (least–most)",
        "budget",
        "last gap, worst",
        "CPU seconds",
        *ORACLES[:3],
        "evaluation, most",
    ]
    shown = columns.index("CPU seconds") + 1 if brief else len(columns)
    return markdown_table(columns[:shown], [line[:shown] for line in lines], left=2)


def _solved(rows: Sequence[Row]) -> str:
    return (
        f"## Solved for good: the last policy's gap at most {TARGET} from there to the end of the budget\n\n"
        "The seed draws the instance and the learner. Calls and seconds are of whole budgets, medians; the seconds are "
        "of one core.\n\n" + solved_table(rows)
    )


def ratio_table(rows: Sequence[Row]) -> str:
    """Each variant of the lock of six steps over that lock itself."""
    groups = gathered(rows, lambda row: (row["group"], _words(row)))
    base = _episodes(groups.get(("horizon", "opt-ac rich-lock horizon=6"), []))
    lines = []
    for (group, words), runs in groups.items():
        if group in ("dimension", "rank", "shared") and base:
            ratio = float(np.median(_episodes(runs)) / np.median(base))
            lines.append([group, words, "—" if ratio == inf else f"{ratio:.2f}"])
    return markdown_table(["group", "run", "median episodes over that"], lines, left=2)


def _points(rows: Sequence[Row], group: str) -> dict[int, list[float]]:
    """Horizon → episodes until solved, a number a seed."""
    chosen = [row for row in rows if row["group"] == group]
    found = gathered(chosen, lambda row: int(row["parameters"]["horizon"]))
    return {horizon: _episodes(runs) for horizon, runs in sorted(found.items())}


def slope_table(rows: Sequence[Row]) -> str:
    """The growth with the horizon, over the horizons whose median seed is solved."""
    lines = []
    for group, label in LINES.items():
        points = {H: runs for H, runs in _points(rows, group).items() if np.median(runs) < inf}
        if len(points) > 1:
            seeds = min(map(len, points.values()))
            runs = np.array([found[:seeds] for found in points.values()])
            lines.append([label, ", ".join(map(str, points)), slope_text(list(points), runs)])
    return markdown_table(["learner", "horizons", "slope [95 % bootstrap interval]"], lines, left=2)


def _published() -> str:
    return (
        "## Budgets of public code for the same kind of lock\n\nWhat its authors set out to play, not what it took; "
        "their rewards and rules of success differ from ours.\n\n"
        + markdown_table(["method", "H", "budget, episodes", "read in"], PUBLISHED, left=4)
    )


def _cost(rows: Sequence[Row]) -> str:
    lines = [
        [
            f"{1e3 * row['time/early']:.1f}",
            f"{1e3 * row['time/late']:.1f}",
            f"{row['time/ratio']:.2f}",
            f"{row['buffer_bytes'] / 1e6:.0f}",
            f"{row['refits']:,}",
            f"{row['carry_error']['median']:.1e}",
            f"{row['carry_error']['most']:.1e}",
        ]
        for row in rows
    ]
    columns = ["ms an iteration around k = 200", "around k = 2,000", "ratio", "megabytes of the buffer"]
    columns += ["iterations with a refit", "residual of carrying over, median", "most"]
    return (
        "## The cost of an iteration, rich-lock horizon=12, refits included\n\nAfter a refit the summed critic is "
        "carried over to the new latents by regression. Its residual is relative, the worst step's of an iteration.\n\n"
        + markdown_table(columns, lines)
    )


def _figure(rows: Sequence[Row], path: Path) -> None:
    """Every seed a point, medians joined; a seed that was not solved within its budget stands as a cross on it."""
    budgets = {row["parameters"]["horizon"]: row["budget"] for row in rows if row["group"] == "horizon"}
    title = f"rich-lock: episodes until the gap stays at most {TARGET}"
    with figure(path, size=(7.5, 5), title=title) as axis:
        for (group, label), colour in zip(LINES.items(), COLOURS, strict=False):
            points = _points(rows, group)
            for horizon, runs in points.items():
                axis.plot([horizon] * len(runs), runs, "o", color=colour, markersize=3, alpha=0.5)
                failed = sum(value == inf for value in runs)
                if failed:
                    axis.plot(horizon, budgets[horizon], "x", color=colour)
            medians = {H: float(np.median(runs)) for H, runs in points.items() if np.median(runs) < inf}
            if medians:
                axis.plot(list(medians), list(medians.values()), "-", color=colour, label=label)
        axis.plot(
            list(budgets), list(budgets.values()), ":", color="0.5", label="budget; × a seed not solved in it"
        )
        homer = [20_000 * horizon for horizon in budgets]
        axis.plot(list(budgets), homer, "--", color="0.7", label="HOMER's budget, at least 20,000·H")
        axis.plot([100, 100], [200_000, 10_000_000], "s", color="0.4", label="budgets of RC-GVF and BRIEE")
        axis.set(xscale="log", yscale="log", xlabel="horizon H", ylabel="episodes")
        own_ticks(axis, [6, 12, 25, 50, 100])
        axis.legend(loc="upper left")
