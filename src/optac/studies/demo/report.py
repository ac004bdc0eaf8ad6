"""What `optac demo` shows: a table with the bill, a figure, what the training came to, and the page of it all."""

from pathlib import Path
from typing import TYPE_CHECKING

from optac.report.curves import gap_figure
from optac.report.files import Written, write_report
from optac.report.terminal import show_table

if TYPE_CHECKING:
    from optac.studies.demo.cells import Story


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
    print(f"go further  {story.command}\n")
    return figure


def write_page(out: Path, title: str) -> Written:
    """The report on everything the demo ran."""
    return write_report([out], out / "report.html", title=title)


def show_page(written: Written) -> None:
    """Where the page is: the last line is its path."""
    print("\nthe page of it all, which opens in any browser without a network:")
    print(written.page.resolve())
