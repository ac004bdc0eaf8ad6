"""The table of `optac bench sweep`."""

from statistics import median
from typing import Any

from optac.reports.terminal import show_table

AIM = 1.8


def show_sweep_bench(measured: dict[str, Any]) -> None:
    """What `bench sweep` measured."""
    task = measured["task"]
    title = f"{task['runs']} runs of {task['agent']} in {task['environment']}, {task['steps']} steps each, turn about"
    rows = [
        [name, f"{median(speeds):.1f} ({min(speeds):.1f}–{max(speeds):.1f})"]
        for name, speeds in measured["steps_per_second"].items()
    ]
    one, two = measured["steps_per_second"]["one job"], measured["steps_per_second"]["two jobs"]
    ratios = [b / a for a, b in zip(one, two, strict=True)]
    spread = f"{measured['ratio']:.2f} ({min(ratios):.2f}–{max(ratios):.2f}); aim ≥ {AIM}"
    rows.append(["two jobs over one, within a round", spread])
    show_table(title, ["", "steps a second (median, least–most)"], rows)
