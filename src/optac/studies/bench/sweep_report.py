"""The table of `optac bench sweep`."""

from typing import Any

from optac.report.terminal import show_table
from optac.studies.bench.agents_report import spread

AIM = 1.8


def show_sweep_bench(measured: dict[str, Any]) -> None:
    """What `bench sweep` measured."""
    task = measured["task"]
    title = f"{task['runs']} runs of {task['agent']} in {task['environment']}, {task['steps']} steps each, turn about"
    rows = [[name, spread(speeds, digits=1)] for name, speeds in measured["steps_per_second"].items()]
    one, two = measured["steps_per_second"]["one job"], measured["steps_per_second"]["two jobs"]
    ratios = [b / a for a, b in zip(one, two, strict=True)]
    rows.append(["two jobs over one, within a round", f"{spread(ratios, digits=2)}; aim ≥ {AIM}"])
    show_table(title, ["", "steps a second (median, least–most)"], rows)
