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
    rows.append(["two jobs over one, the median over rounds", f"{measured['ratio']:.2f} (aim ≥ {AIM})"])
    show_table(title, ["", "steps a second (median, least–most)"], rows)
