"""`optac solve`."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optac.algorithms import Result
from optac.algorithms.loop.inputs import COMMON_SETTINGS
from optac.algorithms.loop.run import progress_note
from optac.algorithms.protocol import load_algorithm
from optac.commands.subcommand import (
    Parser,
    add_everywhere,
    add_examples,
    add_problem,
    answer,
    help_line,
    is_quiet,
    listed_settings,
)
from optac.mdp import Problem
from optac.report.tables import ORACLES
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.settings import assignments
from optac.terminal import progress, show_table


def configure(parser: Parser) -> None:
    """Its options."""
    add_everywhere(parser, presets="practical (default) or theory")
    add_examples(
        parser,
        "optac solve combination-lock horizon=6 actions=10 --iterations 300",
        "optac solve random-simplex states=30 rank=3 seed=1 --set model_class=finite --preset theory",
        "optac solve FrozenLake-v1 horizon=20 --episodes 60000",
        "optac solve my-arrays.npz --set rank=4",
    )
    parser.more_help = _listed_settings
    add_problem(parser)
    parser.add_argument("--algorithm", default="opt-ac", metavar="ALGORITHM", help="default: opt-ac")
    parser.add_argument("--iterations", type=int, metavar="K", help="outer rounds (default: the algorithm's)")
    parser.add_argument("--episodes", type=int, metavar="N", help="play at most so many episodes")
    parser.add_argument("--seed", type=int, default=0, help="the learner's seed (default: 0)")


def _listed_settings(arguments: argparse.Namespace) -> str:
    part = load_algorithm(arguments.algorithm)
    own = listed_settings(f"{arguments.algorithm}, its preset's by default", part.Settings)
    common = "\n".join(help_line(name, text) for name, text in COMMON_SETTINGS.items())
    return f"{own}\nsettings of every algorithm:\n{common}"


def run(arguments: argparse.Namespace) -> None:
    """Solve, and say what was learnt and what it cost."""
    config = SolveConfig(
        problem=arguments.problem,
        parameters=assignments(arguments.parameters, "parameter"),
        algorithm=arguments.algorithm,
        iterations=arguments.iterations,
        episodes=arguments.episodes,
        seed=arguments.seed,
        preset=arguments.preset or "practical",
        settings=assignments(arguments.settings, "setting"),
    )
    prepared = prepared_solve(config)
    with progress(prepared.run.algorithm, prepared.run.rounds, quiet=is_quiet(arguments)) as advance:
        result, folder = run_solve(
            prepared, arguments.out, lambda row: advance(row["iteration"], progress_note(row))
        )
    said = {**result.summary(), "out": str(folder.path)}
    answer(arguments, said, lambda: _show_result(prepared.run.problem, result, folder.path))


def _show_result(problem: Problem, result: Result, folder: Path) -> None:
    """Print what was learnt, what it cost, with which constants, where it lies."""
    rows = [
        ["optimal value V*", f"{result.optimal_value:.4f}"],
        ["uniform play", f"{problem.uniform_value:.4f}"],
        ["mixture: value, gap", f"{result.value:.4f}, {result.gap:.4f}"],
        ["last policy: value, gap", f"{result.last_value:.4f}, {result.last_gap:.4f}"],
        ["certificate (a bound on the gap without the truth)", _or_dash(result.certificate)],
        ["episodes, iterations", f"{result.episodes}, {result.iterations}"],
        ["bill", _bill_line(result.bill.asdict())],
        ["seconds", f"{result.seconds:.2f}"],
    ]
    if getattr(problem, "reward_scale", 1.0) != 1.0 or problem.original(0.0) != 0.0:
        own = [problem.original(value) for value in (result.optimal_value, result.last_value)]
        rows.insert(
            4, ["in the unit of its own rewards: V*, last policy", ", ".join(f"{x:.4f}" for x in own)]
        )
    for search, rounds in result.capped.items():
        rows.append([f"{search}: ended by its cap, not done", f"in {rounds} of {result.iterations} rounds"])
    show_table(f"{result.algorithm} on {problem!r}, seed {result.seed}", ["", ""], rows)
    print(
        "constants: "
        + ", ".join(f"{name}={_short(value)}" for name, value in asdict(result.settings).items())
    )
    print(f"written to {folder}")


def _bill_line(bill: dict[str, Any]) -> str:
    """SL 2000, PE 1000, PP 0, CP 0."""
    return ", ".join(f"{name} {bill[name]}" for name in ORACLES)


def _or_dash(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
