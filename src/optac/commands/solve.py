"""`optac solve`."""

import argparse
from typing import Any

from optac.commands.subcommand import add_command, add_problem, print_json


def add_solve(commands: Any) -> None:
    """Add `optac solve`."""
    parser = add_command(
        commands, "solve", "run an algorithm on a problem", _solve, presets="practical (default) or theory"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples:\n"
        "  optac solve combination-lock horizon=6 actions=10 --iterations 300\n"
        "  optac solve random-simplex states=30 rank=3 seed=1 --set model_class=finite --preset theory\n"
        "  optac solve FrozenLake-v1 horizon=20 --episodes 20000\n"
        "  optac solve my-arrays.npz --set rank=4"
    )
    add_problem(parser)
    parser.add_argument("--algorithm", default="opt-ac", metavar="ALGORITHM", help="default: opt-ac")
    parser.add_argument("--iterations", type=int, metavar="K", help="outer rounds (default: the algorithm's)")
    parser.add_argument("--episodes", type=int, metavar="N", help="play at most so many episodes")
    parser.add_argument("--seed", type=int, default=0, help="the learner's seed (default: 0)")


def _solve(arguments: argparse.Namespace) -> None:
    from optac.commands.solve_output import progress_note, show_result
    from optac.report.terminal import progress
    from optac.runs.solving import SolveConfig, prepared_solve, run_solve
    from optac.settings import assignments

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
    name, rounds = prepared.run.algorithm, prepared.run.rounds
    with progress(name, rounds, quiet=arguments.quiet or arguments.json) as advance:
        result, folder = run_solve(
            prepared,
            arguments.out,
            lambda row: advance(row["iteration"], progress_note(row)),
        )
    if arguments.json:
        print_json({**result.summary(), "out": str(folder.path)})
    else:
        show_result(prepared.run.problem, result, folder.path)
