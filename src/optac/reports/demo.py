"""What `optac demo` shows: a table with the bill, and a figure."""

from pathlib import Path
from typing import TYPE_CHECKING

from optac.reports.curves import gap_figure
from optac.reports.terminal import show_table

if TYPE_CHECKING:
    from optac.experiments.demo import Story


def show_demo(story: "Story", out: Path, *, quiet: bool) -> Path:
    """Write the figure; unless quiet, print the story too. The figure's path."""
    problem = story.problem
    uniform_gap = problem.optimal_value - problem.uniform_value
    figure = gap_figure(
        {name: result.history for name, result in story.results.items()},
        out / "lock.png",
        title=f"A lock of {problem.horizon} steps and {problem.actions} actions a step",
        trivial_gap=uniform_gap,
        trivial_label="uniform play",
    )
    if quiet:
        return figure
    odds = problem.actions**problem.horizon
    print(
        f"The lock: {problem.horizon} steps, {problem.actions} actions, one of them right in each live row."
    )
    print(f"Uniform play opens it once in {odds:,} episodes; every wrong action tempts with 0.05.\n")
    columns = ["", "episodes", "gap, last policy", "gap, mixture", "SL", "PE", "PP", "CP", "seconds"]
    rows = []
    for name, result in story.results.items():
        bill = result.bill
        calls = [str(count) for count in (bill.SL, bill.PE, bill.PP, bill.CP)]
        gaps = [f"{result.last_gap:.3f}", f"{result.gap:.3f}"]
        rows.append([name, str(result.episodes), *gaps, *calls, f"{result.seconds:.2f}"])
    show_table("Opt-AC needs only supervised learning (SL) and policy evaluation (PE)", columns, rows)
    print(f"\nfigure      {figure}")
    print(f"go further  {story.command}")
    return figure
