"""Write what fresh seeds said of the agents' defaults: results/recipe-confirmation/README.md and the readme's table.

    python -m scripts.confirmation results/recipe-confirmation README.md

`make agent-runs` does it too. Both agents are compared by the mean over all evaluations of a run: seed by seed, and by
Welch's interval of the difference.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from optac.report.evidence import gather
from optac.report.files import panel_figure
from optac.report.groups import group_runs, short_name
from optac.report.numbers import interval
from optac.report.panels import curve_panels
from optac.report.recorded_runs import TrainingRun
from optac.report.statistics import difference, summary
from optac.report.tables import markdown_table
from optac.studies.table2.report import REFERENCE
from optac.studies.table2.stability import Stability, stability
from scripts.marked import write_parts

AGENTS = ("crffsac", "sac")
TASKS = ("optac/HalfCheetah-v0", "optac/Hopper-v0", "optac/InvertedPendulum-v0")


def write_confirmation(folder: Path, readme: Path) -> list[Path]:
    """One line per task and seed with a figure per task in the folder's README.md; one line per task in the readme."""
    runs = gather([folder / "fourth-candidate"]).training
    each, whole, figures = [], [], []
    for task in TASKS:
        pairs = _pairs([run for run in runs if run.environment == task])
        digits = 2 if "Pendulum" in task else 0
        for pair in pairs:
            each.append(
                [
                    short_name(task),
                    pair[0].seed,
                    *(f"{run.over_curve:,.{digits}f} ({run.score:,.{digits}f})" for run in pair),
                ]
            )
        ahead = sum(ours.over_curve > theirs.over_curve for ours, theirs in pairs)
        line, agents = [short_name(task)], list(zip(*pairs, strict=True))
        for one in agents:
            over, recent = mean(run.over_curve for run in one), mean(run.recent for run in one)
            line += [f"{over:,.{digits}f} ({recent:,.{digits}f})"]
        gap = difference(*(summary([run.over_curve for run in one]) for one in agents)).interval
        line += [interval(gap) if gap else "—", f"{ahead} of {len(pairs)}"]
        falls = [sum((stability(task, run.curve) for run in one), Stability()) for one in agents]
        whole.append([*line, *(f"{one.falls} of {one.evaluations}" for one in falls)])
        groups = group_runs([run for pair in pairs for run in pair], REFERENCE)
        (panel,) = curve_panels(groups)
        path = folder / f"{task.rpartition('/')[2]}.png"
        figures.append(panel_figure(replace(panel, title=f"{task}, seeds that nothing was chosen on"), path))
    head = ["task", "cRFFSAC", "SAC", "difference", "seeds ahead", "cRFFSAC falls", "SAC falls"]
    table = markdown_table(head, whole)
    pictures = "\n\n".join(f"![return against steps]({figure.name})" for figure in figures)
    seeds = markdown_table(["task", "seed", "cRFFSAC", "SAC"], each, left=2)
    table, seeds = (text.replace("-", "−").replace("−−−", "---") for text in (table, seeds))
    page = write_parts(folder / "README.md", {"tasks": table, "seeds": f"{seeds}\n\n{pictures}"})
    return [page, write_parts(readme, {"confirmation": table})]


def _pairs(runs: Sequence[TrainingRun]) -> list[list[TrainingRun]]:
    """cRFFSAC's and SAC's run of each seed that both have finished."""
    found = {(run.agent, run.seed): run for run in runs}
    seeds = sorted({run.seed for run in runs})
    return [
        [found[agent, seed] for agent in AGENTS] for seed in seeds if all((a, seed) in found for a in AGENTS)
    ]


if __name__ == "__main__":
    print(*write_confirmation(*map(Path, sys.argv[1:])), sep="\n")
