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
    from optac.algorithms.catalogue import load_algorithm
    from optac.algorithms.loop.inputs import rounds_of
    from optac.commands.solve_output import progress_note, show_result
    from optac.report.terminal import progress
    from optac.runs.solving import SolveConfig, parse_assignments, problem_of, run_solve

    config = SolveConfig(
        problem=arguments.problem,
        parameters=parse_assignments(arguments.parameters, "parameter"),
        algorithm=arguments.algorithm,
        iterations=arguments.iterations,
        episodes=arguments.episodes,
        seed=arguments.seed,
        preset=arguments.preset or "practical",
        settings=parse_assignments(arguments.settings, "setting"),
    )
    module = load_algorithm(config.algorithm)
    problem = problem_of(config)
    total = rounds_of(config.iterations, config.episodes, module, config.algorithm, problem.horizon)
    with progress(config.algorithm, total, quiet=arguments.quiet or arguments.json) as advance:
        result, folder = run_solve(
            config,
            problem,
            arguments.out,
            lambda row: advance(row["iteration"], progress_note(row)),
        )
    if arguments.json:
        print_json({**result.summary(), "out": str(folder.path)})
    else:
        show_result(problem, result, folder.path)
