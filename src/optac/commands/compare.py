"""`optac compare`."""

import argparse
import os

from optac.commands.subcommand import add_everywhere, add_examples, add_problem, is_quiet, print_json
from optac.settings import assignments
from optac.studies.compare import LADDER_TITLE, compared
from optac.sweeps.comparing import prepared_comparison
from optac.terminal import progress, show_table


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, presets="practical (default) or theory")
    add_examples(
        parser,
        "optac compare combination-lock horizon=6 actions=10 --algorithms opt-ac rep-ucb --seeds 5",
        "optac compare my-arrays.npz --set model_class=finite --set rep-ucb.alpha=0.1",
        before="The same command resumes where it stopped.",
    )
    add_problem(parser)
    every = "default: all that accept the problem"
    parser.add_argument("--algorithms", nargs="+", metavar="ALGORITHM", help=every)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 0 … N − 1 (default: 5)")
    budget = "budget of a run, and top of a ladder (default: 1000·H)"
    parser.add_argument("--episodes", type=int, metavar="N", help=budget)
    target = "the gap to reach (default: 0.1)"
    parser.add_argument("--epsilon", type=float, default=0.1, metavar="E", help=target)
    parser.add_argument("--jobs", type=int, metavar="J", help="processes (default: the machine's cores)")


def run(arguments: argparse.Namespace) -> None:
    """Run what is missing, write table and figure beside the rows, print the table."""
    comparison = prepared_comparison(
        arguments.problem,
        assignments(arguments.parameters, "parameter"),
        arguments.algorithms,
        seeds=arguments.seeds,
        episodes=arguments.episodes,
        epsilon=arguments.epsilon,
        preset=arguments.preset or "practical",
        settings=assignments(arguments.settings, "setting"),
    )
    total = len(comparison.solves) * comparison.seeds
    with progress("compare", total, quiet=is_quiet(arguments)) as advance:
        jobs = (os.cpu_count() or 1) if arguments.jobs is None else arguments.jobs
        result, path = compared(comparison, arguments.out, jobs=jobs, on_cell=advance)
    files, tables = result.write(path), result.tables
    if arguments.json:
        print_json(
            {
                "table": [dict(zip(tables.columns, line, strict=True)) for line in tables.lines],
                "ladders": [dict(zip(tables.ladder_columns, line, strict=True)) for line in tables.ladders],
                "left_out": dict(comparison.left_out),
                "figure": str(path / "gaps.png"),
                "rows": result.rows,
                "out": str(path),
            }
        )
        return
    show_table(result.title, tables.columns, tables.lines)
    if tables.ladders:
        show_table(LADDER_TITLE, tables.ladder_columns, tables.ladders)
    print("\n".join(result.notes))
    print(f"written to {path}: {', '.join(file.name for file in files)}")
