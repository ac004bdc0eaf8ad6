"""Write the tables that the pages and README.md show of studies, from the rows under results: `make study-pages`.

It writes the studies' own reports anew too, with their figures, and what the pages show of the benches.
"""

import sys
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import median

from optac.report.comparison import episodes_to
from optac.report.tables import Row, cell, column, grouped, markdown_table
from optac.runs.folder import RunFolder
from optac.studies import ablations, opt_ac, rank, rich_lock, scaling
from optac.studies.ablations.report import ablation_table, times_table
from optac.studies.opt_ac.report import certificate_table, opt_ac_runs, slope_table, solved_table
from optac.studies.rank.pictures import floor
from optac.studies.rank.report import PARTS, choice_table, part_table, ratio_table
from optac.studies.rich_lock import report as rich
from optac.studies.scaling import lower_bound
from optac.studies.scaling import report as slopes
from optac.studies.study import Study
from scripts.bench_pages import bench_pages, draw_returns
from scripts.marked import write_parts

STUDIES = (rank.STUDY, opt_ac.STUDY, scaling.STUDY, rich_lock.STUDY, ablations.STUDY)
CLASSES = {
    "opt-ac, linear": "Opt-AC, ids carry noisy features (`linear`)",
    "opt-ac, decoder": "Opt-AC, unknown decoders (`decoder`)",
    "opt-ac, table": "Opt-AC, a table",
    "rep-ucb, decoder": "Rep-UCB, unknown decoders",
    "ucbvi": "UCBVI",
    "lsvi-ucb, features known": "LSVI-UCB, φ known",
}
# Problem → how the readme names it, and what uniform play does there.
SOLVED = {
    "combination-lock horizon=6 actions=10": ("lock, 6 steps, 10 actions", "once in 10⁶"),
    "combination-lock horizon=12 actions=10": ("lock, 12 steps, 10 actions", "once in 10¹²"),
    "combination-lock horizon=100 actions=10": ("lock, 100 steps, 10 actions", "once in 10¹⁰⁰"),
    "observed-lock horizon=6 actions=4 observations=10": (
        "lock seen through 30 ids, 6 steps, 4 actions",
        "once in 4,096",
    ),
    "river-swim": ("river-swim, 20 steps", "gap 3.35"),
    "deep-sea size=10": ("deep-sea, 10×10", "gap 0.99"),
    "FrozenLake-v1 horizon=20": ("FrozenLake (slippery), 20 steps", "gap 0.19"),
}
SIMPLEX = "random-simplex states=30 actions=4 horizon=5 rank=3 seed="
# The medians of the same study at commit 4bc8e73, where optimistic ties explored.
BEFORE = {
    "combination-lock horizon=6 actions=10": 576,
    "combination-lock horizon=12 actions=10": 1_356,
    "observed-lock horizon=6 actions=4 observations=10": 2_424,
    "river-swim": 280,
    "deep-sea size=10": 110,
    f"{SIMPLEX}0": 725,
    f"{SIMPLEX}1": 1_015,
    f"{SIMPLEX}2": 935,
    "combination-lock horizon=100 actions=10": 44_900,
    "FrozenLake-v1 horizon=20": 38_620,
}


def write_pages(results: Path, root: Path) -> list[Path]:
    """The tables of every page."""
    ranks, solves, scales, locks, changed = (rows_of(study, results) for study in STUDIES)
    locks = [row for row in locks if row["group"] != "cost"]
    parts, kinds, solved = grouped(ranks, "part"), grouped(scales, "kind"), opt_ac_runs(solves)
    pages = {
        "docs/results/rank.md": {
            **{f"part-{part}": part_table(parts[part], part) for part in PARTS},
            "ratios": ratio_table(parts["S"]),
            "choice": choice_table(parts["alpha"]),
        },
        "docs/results/ablations.md": {"parts": ablation_table(changed), "times": times_table(changed)},
        "docs/algorithms/opt-ac.md": {
            "solved": solved_table(solves),
            "before": before_table(solved),
            "slopes": slope_table(solves),
            "certificate": certificate_table(solves),
        },
        "docs/results/scaling.md": {
            "slopes": slopes.slope_table(kinds["sweep"]),
            "lower-bound": lower_bound.lower_bound_table(kinds["hard"]),
        },
        "docs/results/rich-lock.md": {
            "solved": rich.solved_table(locks, brief=True),
            "ratios": rich.ratio_table(locks),
            "slopes": rich.slope_table(locks),
        },
        "docs/results/lock-8-5.md": {"lock": lock_table(results / "lock-8-5")},
        "README.md": {"solved": readme_solved(solved), "rank": readme_rank(parts["S"])},
    }
    for page, tables in bench_pages(results).items():
        pages[page] = pages.get(page, {}) | tables
    return [write_parts(root / page, tables) for page, tables in pages.items()]


def rows_of(study: Study, results: Path) -> list[Row]:
    """The rows of a study in the order of its cells, whatever order they came in."""
    found = {row["cell"]: row for row in RunFolder.open(results / study.name).rows()}
    return [found[cell.id] for cell in study.cells() if cell.id in found]


def readme_rank(rows: Sequence[Row]) -> str:
    """Medians against S, of the lines that tell the story."""
    places = sorted(set(column(rows, "at")))
    runs = grouped(rows, "learner", "at")
    lines = [
        [said, *(_median(runs[name, place]) if (name, place) in runs else "" for place in places)]
        for name, said in CLASSES.items()
    ]
    lines.append(
        ["*the floor without features: every id seen*", *(f"{floor(place):,.0f}" for place in places)]
    )
    return markdown_table(["", *(f"S = {place:,}" for place in places)], lines)


def _median(runs: Sequence[Row]) -> str:
    return cell(episodes_to(runs, "last"), limit=runs[0]["cap"]).split(" ")[0]


def readme_solved(solved: Mapping[str, Sequence[Row]]) -> str:
    """How many seeds were solved for good, and after how many episodes."""
    lines = []
    for problem, (said, uniform) in SOLVED.items():
        episodes = [run["solved_for_good"] for run in solved[problem] if run["solved_for_good"] is not None]
        found = f"{median(episodes):,.0f}" if episodes else "—"
        lines.append([said, f"{len(episodes)} of {len(solved[problem])}", found, uniform])
    return markdown_table(["problem", "solved", "episodes, median of seeds", "uniform play"], lines)


def before_table(solved: Mapping[str, Sequence[Row]]) -> str:
    """Medians beside those that optimistic ties had."""
    lines = []
    for problem, before in BEFORE.items():
        now = median(run["solved_for_good"] or inf for run in solved[problem])
        lines.append([problem, f"{before:,}", f"{now:,.0f}", f"{now / before:.2f}"])
    return markdown_table(["problem", "with ties, before", "with the bonus, now", "ratio"], lines)


def lock_table(folder: Path) -> str:
    """One line an algorithm, one column a seed."""
    rows = [
        row for part in ("driven", "model-free", "control") for row in RunFolder.open(folder / part).rows()
    ]
    lines = []
    for name, runs in grouped(rows, "algorithm").items():
        runs = sorted(runs, key=lambda run: int(run["seed"]))
        stars = " *" if runs[0]["ladder"] else ""
        last = [f"{run['last']['episodes']:,}" if run["last"] else "never" for run in runs]
        lines.append([name + stars, *last, f"{max(column(runs, 'last_gap')):.2f}"])
    seeds = sorted({int(row["seed"]) for row in rows})
    heads = [f"seed {seed}" for seed in seeds]
    return markdown_table(["algorithm", *heads, "last gap at the end, worst"], lines)


if __name__ == "__main__":
    results = Path(sys.argv[1])
    for study in STUDIES:
        print(study.write_report(rows_of(study, results), len(study.cells()), results / study.name))
    print(*draw_returns(results), *write_pages(results, Path(__file__).parents[1]), sep="\n")
