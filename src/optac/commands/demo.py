"""`optac demo`: Opt-AC and ε-greedy on one lock, the same episodes each, then a short training of cRFFSAC.

Loads JAX only for the training.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from optac.algorithms import Result
from optac.commands.subcommand import add_everywhere, answer, is_quiet, notice
from optac.figures import COLOURS, figure
from optac.mdp import Problem
from optac.report.files import write_report
from optac.report.tables import ORACLES, column
from optac.runs.solving import SolveConfig, fresh_path, prepared_solve, problem_of, run_solve
from optac.settings import whole
from optac.studies.table2.report import REFERENCE
from optac.terminal import progress, show_table
from optac.threads import limit_threads

PROBLEM, PARAMETERS = "combination-lock", {"horizon": 6, "actions": 10}
ALGORITHMS = ("opt-ac", "epsilon-greedy")
BUDGET = 2000
TASK, STEPS = "optac/Pendulum-v0", 8_000
TRAINING_SETTINGS = {"learning_starts": 1_000, "eval_every": 1_000, "checkpoint_every": 4_000}
FURTHER = "optac solve combination-lock horizon=100 actions=10 --iterations 600"


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--steps", type=int, metavar="N", help=f"steps of the training (default: {STEPS})")
    length.add_argument("--theory", action="store_true", help="the lock alone: no training, no JAX")


def run(arguments: argparse.Namespace) -> None:
    """The lock, then the training unless it is left out, then the page of both."""
    steps = whole("steps", STEPS if arguments.steps is None else arguments.steps)
    out = arguments.out or fresh_path(Path("runs/demo"))
    problem = problem_of(SolveConfig(PROBLEM, PARAMETERS))
    with progress(PROBLEM, len(ALGORITHMS) * BUDGET, quiet=is_quiet(arguments)) as advance:
        results = _play(out, advance)
    drawn = _gap_figure(problem, results, out / "lock.png")
    said = {**{name: result.summary() for name, result in results.items()}, "figure": str(drawn)}
    if not arguments.json:
        _show_lock(problem, results, drawn)
    if arguments.theory:
        _show_page(arguments, out, "The demo: a lock", said)
    else:
        _train_and_report(arguments, out, steps, said)


def _play(out: Path, advance: Callable[[int, str], None]) -> dict[str, Result]:
    """Run both algorithms into folders below `out`; `advance` hears of the episodes played."""
    results = {}
    for i, algorithm in enumerate(ALGORITHMS):

        def report(row: dict[str, Any], before: int = i * BUDGET, name: str = algorithm) -> None:
            advance(before + row["episodes"], f"{name}: gap of the last policy {row['last_gap']:.2f}")

        config = SolveConfig(PROBLEM, PARAMETERS, algorithm, episodes=BUDGET)
        results[algorithm], _ = run_solve(prepared_solve(config), out / algorithm, report)
    return results


def _gap_figure(problem: Problem, results: Mapping[str, Result], path: Path) -> Path:
    """The gap against episodes, one colour per algorithm: the last policy solid, the mixture dashed."""
    with figure(path, size=(8, 4.5)) as axes:
        for (name, result), colour in zip(results.items(), COLOURS, strict=False):
            episodes = column(result.history, "episodes")
            axes.plot(
                episodes, column(result.history, "last_gap"), color=colour, label=f"{name}, last policy"
            )
            mixture = {"color": colour, "linestyle": "--", "alpha": 0.7, "label": f"{name}, mixture"}
            axes.plot(episodes, column(result.history, "gap"), **mixture)
        uniform_gap = problem.optimal_value - problem.uniform_value
        axes.axhline(uniform_gap, color="0.5", linewidth=0.8, linestyle=":", label="uniform play")
        title = f"A lock of {problem.horizon} steps and {problem.actions} actions per step"
        axes.set(
            xlabel="episodes played", ylabel="gap  V* − V(policy), exact", ylim=(-0.03, None), title=title
        )
        axes.set_xlim(left=0)
        axes.legend()
    return path


def _show_lock(problem: Problem, results: Mapping[str, Result], drawn: Path) -> None:
    print(
        f"The lock: {problem.horizon} steps, {problem.actions} actions, one of them right in each live row.\n"
        f"Uniform play opens it once in {problem.actions**problem.horizon:,} episodes; every wrong action tempts with "
        "0.05.\n"
    )
    rows = []
    for name, result in results.items():
        gaps, bill = [f"{result.last_gap:.3f}", f"{result.gap:.3f}"], result.bill.asdict()
        calls = [str(bill[oracle]) for oracle in ORACLES]
        rows.append([name, str(result.episodes), *gaps, *calls, f"{result.seconds:.2f}"])
    columns = ["", "episodes", "gap, last policy", "gap, mixture", *ORACLES, "seconds"]
    show_table("Opt-AC needs only supervised learning (SL) and policy evaluation (PE)", columns, rows)
    print(f"\nfigure      {drawn}\ngo further  {FURTHER}\n")


def _train_and_report(arguments: argparse.Namespace, out: Path, steps: int, said: dict[str, Any]) -> None:
    """cRFFSAC brings a pendulum to rest: an evaluation every thousand steps, the first thousand random."""
    limit_threads(1)
    from optac.commands.train import print_evaluation, show_training
    from optac.runs.training import train

    quiet = is_quiet(arguments)
    if not quiet:
        notice(f"now cRFFSAC learns {TASK}, {steps:,} steps")
    result = train(
        TASK,
        "crffsac",
        steps=steps,
        settings=TRAINING_SETTINGS,
        out=out / "crffsac",
        on_row=(lambda row: None) if quiet else print_evaluation,
        show_progress=not quiet,
    )
    if not arguments.json:
        show_training(result)
    _show_page(arguments, out, "The demo: a lock and a pendulum", {**said, "training": result.summary()})


def _show_page(arguments: argparse.Namespace, out: Path, title: str, said: dict[str, Any]) -> None:
    """The report on everything the demo ran: the last line is the path of its page."""
    page = write_report([out], out / "report.html", title=title, reference=REFERENCE).page
    text = f"\nthe page of it all, which opens in any browser without a network:\n{page.resolve()}"
    answer(arguments, {**said, "page": str(page), "out": str(out)}, lambda: print(text))
