"""Write the pages of results/agents and results/plain-ablations with their figures, and results/td7sac's figures.

`make agent-runs` does it. The ablations undo one choice of the preset `plain` at a time; a run of it counts as far as
the ablated ones went.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from optac.report.evidence import gather
from optac.report.files import panel_figure
from optac.report.groups import Group, group_runs
from optac.report.panels import curve_panels
from optac.report.reference import UNTOLD, Reference
from optac.report.tables import markdown_table
from optac.studies.table2.report import REFERENCE
from scripts.marked import write_parts

COLUMNS = ["agent", "what differs", "seeds", "return", "mean", "last three", "mean", "over all evaluations"]


def write_agents(folder: Path) -> Path:
    """README.md with what every run came to, and a figure of its curve for each environment."""
    runs = gather([folder]).training
    parts = []
    for environment in sorted({run.environment for run in runs}):
        groups = group_runs([run for run in runs if run.environment == environment], REFERENCE)
        figure = _figure(groups, folder / f"{_short(environment)}.png", f"{environment}, preset plain")
        parts += [f"## {environment}\n", _agents_table(groups), f"![return against steps]({figure.name})\n"]
    return write_parts(folder / "README.md", {"runs": "\n".join(parts)})


def _agents_table(groups: Sequence[Group]) -> str:
    lines = []
    for group in groups:
        for run in group.runs:
            half = run.curve.get(run.steps // 2)
            numbers = [_number(half), _number(run.score), _number(run.recent)]
            whole = (
                f"{mean(run.score for run in group.runs):,.5g}"
                if run is group.runs[-1] and len(group.runs) > 1
                else ""
            )
            lines.append([run.agent, run.seed, f"{max(run.curve):,}", *numbers, whole])
    columns = ["agent", "seed", "steps", "half-way", "return", "last three", "mean return over seeds"]
    return markdown_table(columns, lines)


def write_ablations(folder: Path, defaults: Path) -> Path:
    """README.md: for every variant and seed what it came to, and its mean over the whole curve."""
    ablated, whole = gather([folder]).training, gather([defaults]).training
    parts = []
    for environment in sorted({run.environment for run in ablated}):
        changed = [run for run in ablated if run.environment == environment]
        steps = min(max(run.curve) for run in changed)
        default = [run.up_to(steps) for run in whole if run.environment == environment]
        groups = group_runs([*default, *(run.up_to(steps) for run in changed)], REFERENCE)
        parts += [
            f"## {environment}, {steps:,} steps\n",
            markdown_table(COLUMNS, map(_ablation, groups), left=2),
        ]
        for agent in dict.fromkeys(group.agent for group in groups if group.runs[0].changed):
            beside = [
                g for g in groups if g.agent == agent or (g.agent == "crffsac" and not g.runs[0].changed)
            ]
            title = f"{agent} on {environment}: one choice undone at a time"
            figure = _figure(beside, folder / f"{_short(environment)}-{agent}.png", title)
            parts.append(f"![return against steps]({figure.name})\n")
    return write_parts(folder / "README.md", {"runs": "\n".join(parts)})


def draw_beside(folder: Path, others: Path) -> list[Path]:
    """In `folder`, a figure for each environment of its runs: their curves beside those of the `others` there."""
    runs, beside = gather([folder]).training, gather([others]).training
    told = replace(REFERENCE, names={**REFERENCE.names, **{run.agent: run.agent for run in runs}})
    figures = []
    for environment in sorted({run.environment for run in runs}):
        steps = max(run.steps for run in runs if run.environment == environment)
        alike = [run for run in (*runs, *beside) if (run.environment, run.steps) == (environment, steps)]
        path = folder / f"{_short(environment)}.png"
        figures.append(_figure(group_runs(alike, told), path, environment, told))
    return figures


def _ablation(group: Group) -> list[str]:
    changed = ", ".join(f"{name}={value:g}" for name, value in (group.runs[0].changed or {}).items())
    line = [group.agent, changed or "plain", ", ".join(str(run.seed) for run in group.runs)]
    for values in ([run.score for run in group.runs], [run.recent for run in group.runs]):
        line += [", ".join(f"{value:,.0f}" for value in values), f"{mean(values):,.0f}"]
    return [*line, f"{mean(run.over_curve for run in group.runs):,.0f}"]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.5g}"


def _figure(groups: Sequence[Group], path: Path, title: str, reference: Reference = UNTOLD) -> Path:
    (panel,) = curve_panels(groups)
    return panel_figure(replace(panel, title=title), path, reference)


def _short(environment: str) -> str:
    return environment.rpartition("/")[2]


if __name__ == "__main__":
    agents, ablations, td7sac, confirmation = map(Path, sys.argv[1:])
    pages = write_agents(agents), write_ablations(ablations, agents)
    print(*pages, *draw_beside(td7sac, confirmation), sep="\n")
