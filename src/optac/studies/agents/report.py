"""The agents' training runs under results/agents as a table and figures.

`python -m optac.studies.agents.report results/agents` writes README.md and a figure an environment beside the
runs, from each run's config.json and metrics.jsonl alone.
"""

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optac.report.learning_curves import evaluations, last_evaluations, learning_curves
from optac.runs.folder import RunFolder

AGENTS = ("sac", "crffsac", "crffsac-bonus")


@dataclass(frozen=True)
class Run:
    """One finished or stopped training run."""

    config: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def steps(self) -> int:
        """The last step that was evaluated."""
        return max(evaluations(self.rows), default=0)

    def until(self, steps: int) -> "Run":
        """The same run read no further than `steps`."""
        return Run(self.config, [row for row in self.rows if int(row["time/total_timesteps"]) <= steps])


Groups = dict[str, dict[str, list[Run]]]


def read_runs(folder: Path) -> Groups:
    """Environment → agent → its runs by seed, of the run folders directly under `folder`."""
    groups: Groups = defaultdict(lambda: defaultdict(list))
    for path in sorted(path.parent for path in folder.glob("*/config.json")):
        run = RunFolder.open(path)
        config = run.config
        groups[config["environment"]][config["agent"]].append(Run(config, run.rows()))
    for agents in groups.values():
        for runs in agents.values():
            runs.sort(key=lambda run: int(run.config["seed"]))
    return groups


def write_report(folder: Path) -> Path:
    """README.md with what every run came to, and a figure of its curve for each environment."""
    groups = read_runs(folder)
    parts = ["# The agents on the paper's tasks\n", _made(groups)]
    for environment, agents in sorted(groups.items()):
        short = environment.rpartition("/")[2]
        figure = folder / f"{short}.png"
        chosen = {name: agents[name] for name in AGENTS if name in agents}
        curves = {name: [run.rows for run in runs] for name, runs in chosen.items()}
        learning_curves(curves, figure, title=f"{environment}, preset default")
        parts += [f"## {environment}\n", _table(chosen), f"![return against steps]({figure.name})\n"]
    path = folder / "README.md"
    path.write_text("\n".join(parts))
    return path


def _made(groups: Groups) -> str:
    runs = [run for agents in groups.values() for found in agents.values() for run in found]
    versions = ", ".join(f"{name} {number}" for name, number in runs[0].config["versions"].items())
    return (
        "To repeat a run: `optac train ENVIRONMENT --agent AGENT --steps STEPS --seed SEED`, preset default, at the\n"
        "commit named here: later ones compute the same formulas with other roundings. A run's full settings and\n"
        "versions are in its config.json, its rows in its metrics.jsonl. A run's return is the mean of its last three\n"
        "evaluations, ten episodes each of the deterministic policy, without any bonus.\n\n"
        "The pendulums' runs were made by that command at 57fe47d. The HalfCheetah runs were made by a script that\n"
        "calls what `optac train` calls, with a copy of the agents taken just before 2a99c88, the first commit that\n"
        "holds them. Repeated by `optac train` at 13b79b7, seed 1 of sac (10,000 steps) and of crffsac (9,000) gave\n"
        "the same rows but for their times; the rest was not repeated. Seed 1 of crffsac-bonus was stopped at 9,000\n"
        "steps and gone on with by `optac resume` at 13b79b7.\n"
        f"Versions: {versions}.\n"
    )


def _table(agents: dict[str, list[Run]]) -> str:
    lines = ["| agent | seed | steps | half-way | return | mean over seeds |", "|---|---|---|---|---|---|"]
    for name, runs in agents.items():
        outcomes = [last_evaluations(run.rows) for run in runs]
        for run, outcome in zip(runs, outcomes, strict=True):
            whole = f"{sum(outcomes) / len(outcomes):,.5g}" if run is runs[-1] and len(runs) > 1 else ""
            half = evaluations(run.rows).get(int(run.config["steps"]) // 2)
            middle = "" if half is None else f"{half:,.5g}"
            seed, steps = run.config["seed"], f"{run.steps:,}"
            lines.append(f"| {name} | {seed} | {steps} | {middle} | {outcome:,.5g} | {whole} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(json.dumps({"written": str(write_report(Path(sys.argv[1])))}))
