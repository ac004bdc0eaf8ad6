"""`optac compare`."""

import argparse
import os

from optac.commands.subcommand import add_everywhere, add_examples, add_problem, is_quiet, print_json
from optac.report.comparison import LADDER_COLUMNS, NOTES, comparison_tables, write_comparison
from optac.settings import assignments
from optac.sweeps.comparing import prepared_comparison, run_compare
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
        rows, path = run_compare(comparison, arguments.out, jobs=jobs, progress=advance)
    title = repr(comparison.problem)[1:-1]
    tables = comparison_tables(rows, comparison.epsilon, comparison.episodes)
    notes = [*NOTES, *(f"{name} is left out: {why}" for name, why in comparison.left_out.items())]
    figure = write_comparison(rows, path, title=title, epsilon=comparison.epsilon, tables=tables, notes=notes)
    if arguments.json:
        print_json(
            {
                "table": [dict(zip(tables.columns, line, strict=True)) for line in tables.lines],
                "ladders": [dict(zip(LADDER_COLUMNS, line, strict=True)) for line in tables.ladders],
                "left_out": dict(comparison.left_out),
                "figure": str(figure),
                "rows": rows,
                "out": str(path),
            }
        )
        return
    show_table(title, tables.columns, tables.lines)
    if tables.ladders:
        show_table("explore, then commit: one row per rung", LADDER_COLUMNS, tables.ladders)
    print("\n".join(notes))
    print(f"written to {path}: table.md, {figure.name}, {figure.with_suffix('.svg').name}")
