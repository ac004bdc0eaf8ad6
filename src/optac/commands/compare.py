"""`optac compare`."""

import argparse
import os
from typing import Any

from optac.commands.subcommand import add_command, add_problem, print_json


def add_compare(commands: Any) -> None:
    """Add `optac compare`."""
    parser = add_command(
        commands,
        "compare",
        "several algorithms and seeds on one problem, in parallel",
        _compare,
        presets="practical (default) or theory",
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "The same command goes on where it stopped.\n\nexamples:\n"
        "  optac compare combination-lock horizon=6 actions=10 --algorithms opt-ac rep-ucb --seeds 5\n"
        "  optac compare my-arrays.npz --set model_class=finite --set rep-ucb.alpha=0.1"
    )
    add_problem(parser)
    parser.add_argument(
        "--algorithms", nargs="+", metavar="ALGORITHM", help="default: all that accept the problem"
    )
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 0 … N − 1 (default: 5)")
    parser.add_argument(
        "--episodes", type=int, metavar="N", help="budget of a run, and top of a ladder (default: 1000·H)"
    )
    parser.add_argument(
        "--epsilon", type=float, default=0.1, metavar="E", help="the gap to reach (default: 0.1)"
    )
    parser.add_argument("--jobs", type=int, metavar="J", help="processes (default: the machine's cores)")


def _compare(arguments: argparse.Namespace) -> None:
    from optac.registry import ours
    from optac.report.comparison import show_comparison
    from optac.report.terminal import progress
    from optac.settings import assignments
    from optac.sweeps.comparing import CompareConfig, prepared_comparison, run_compare

    config = CompareConfig(
        problem=arguments.problem,
        parameters=assignments(arguments.parameters, "parameter"),
        algorithms=tuple(arguments.algorithms or ours("algorithm")),
        seeds=arguments.seeds,
        episodes=arguments.episodes,
        epsilon=arguments.epsilon,
        preset=arguments.preset or "practical",
        settings=assignments(arguments.settings, "setting"),
    )
    comparison = prepared_comparison(config, leave_out=arguments.algorithms is None)
    total = len(comparison.algorithms) * config.seeds
    with progress("compare", total, quiet=arguments.quiet or arguments.json) as advance:
        jobs = (os.cpu_count() or 1) if arguments.jobs is None else arguments.jobs
        rows, path = run_compare(comparison, arguments.out, jobs=jobs, progress=advance)
    summary = show_comparison(
        rows,
        path,
        title=repr(comparison.problem)[1:-1],
        epsilon=config.epsilon,
        episodes=comparison.episodes,
        left_out=comparison.left_out,
        quiet=arguments.json,
    )
    if arguments.json:
        print_json({**summary, "rows": rows, "out": str(path)})
