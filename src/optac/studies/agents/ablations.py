"""What each choice of the default preset is worth: runs with one choice undone beside the default's.

`python -m optac.studies.agents.ablations results/ablations results/agents` writes README.md and a figure beside the
ablated runs, from rows alone. A default run counts as far as the ablated ones went.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from optac.report.learning_curves import evaluations, last_evaluations, learning_curves
from optac.studies.agents.report import AGENTS, Run, read_runs

Variants = dict[str, list[Run]]


def write_ablations(folder: Path, defaults: Path) -> Path:
    """README.md: for every variant and seed what it came to, and its mean over the whole curve."""
    parts = ["# The choices behind the default preset\n", _HEADING]
    for environment, agents in sorted(read_runs(folder).items()):
        steps = min(run.steps for runs in agents.values() for run in runs)
        whole = read_runs(defaults)[environment]
        default = {agent: [run.until(steps) for run in whole[agent]] for agent in AGENTS if agent in whole}
        ablated = {agent: _variants(agents[agent], default[agent]) for agent in AGENTS if agent in agents}
        lines = ["| agent | what differs | seeds | last three evaluations | mean | over all evaluations |"]
        lines += ["|---|---|---|---|---|---|"]
        pictures = []
        for agent, runs in default.items():
            lines.append(_line(agent, "the default", runs))
            lines += [_line(agent, change, changed) for change, changed in ablated.get(agent, {}).items()]
            if agent in ablated:
                figure = folder / f"{environment.rpartition('/')[2]}-{agent}.png"
                shown = {f"{name}, default": default[name] for name in default if name in (agent, "crffsac")}
                curves = {
                    name: [run.rows for run in found] for name, found in (shown | ablated[agent]).items()
                }
                learning_curves(
                    curves, figure, title=f"{agent} on {environment}: one choice undone at a time"
                )
                pictures.append(f"![return against steps]({figure.name})\n")
        table = "\n".join(lines) + "\n"
        parts += [f"## {environment}, {steps:,} steps\n", table, *pictures]
    path = folder / "README.md"
    path.write_text("\n".join(parts))
    return path


def _variants(runs: Sequence[Run], default: Sequence[Run]) -> Variants:
    """The runs by the settings in which they differ from the default's."""
    found: Variants = defaultdict(list)
    for run in runs:
        found[_difference(run.config["settings"], default[0].config["settings"])].append(run)
    return found


def _difference(settings: Mapping[str, Any], default: Mapping[str, Any]) -> str:
    idle = {"fourier_bandwidth"} if settings.get("head") == default.get("head") == "mlp" else set()
    changed = {n: value for n, value in settings.items() if n not in idle and default.get(n) != value}
    return ", ".join(f"{name}={value:g}" for name, value in changed.items())


def _line(agent: str, change: str, runs: Sequence[Run]) -> str:
    ends = [last_evaluations(run.rows) for run in runs]
    whole = [mean(evaluations(run.rows).values()) for run in runs]
    seeds = ", ".join(str(run.config["seed"]) for run in runs)
    each = ", ".join(f"{end:,.0f}" for end in ends)
    return f"| {agent} | {change} | {seeds} | {each} | {mean(ends):,.0f} | {mean(whole):,.0f} |"


_HEADING = """\
Each line undoes one choice of the default preset, or one bundle where several belong together, and leaves the
rest. "Last three evaluations" is each seed's mean of its last three, ten episodes each; "over all evaluations"
is the mean of the whole curve, which says how fast a variant learns. Two seeds: a difference below the distance
between a variant's own seeds is none that this shows.

To repeat a line: `optac train ENVIRONMENT --agent AGENT --steps STEPS --seed SEED --set NAME=VALUE …`;
settings, versions and commit are in each run's config.json. The default's runs are those of
[results/agents](../agents/README.md), read as far as these went.
"""


if __name__ == "__main__":
    print(json.dumps({"written": str(write_ablations(Path(sys.argv[1]), Path(sys.argv[2])))}))
