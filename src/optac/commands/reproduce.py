"""`optac reproduce`."""

import argparse
import os
from typing import Any

from optac.commands.subcommand import add_command, print_json


def add_reproduce(commands: Any) -> None:
    """Add `optac reproduce`."""
    parser = add_command(
        commands, "reproduce", "run an experiment of the paper, or go on with it", _reproduce
    )
    parser.add_argument("experiment", metavar="NAME", help="a name from `optac list`, section experiments")
    parser.add_argument("--jobs", type=int, metavar="J", help="processes (default: the machine's cores)")
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="start nothing after so many minutes; report what is there"
    )


def _reproduce(arguments: argparse.Namespace) -> None:
    from importlib import import_module

    from optac.experiments.reproducing import cells_of, experiment, reproduce
    from optac.reports.terminal import progress

    chosen = experiment(arguments.experiment)
    total = len(cells_of(arguments.experiment))
    jobs = (os.cpu_count() or 1) if arguments.jobs is None else arguments.jobs
    with progress(arguments.experiment, total, quiet=arguments.quiet or arguments.json) as advance:
        done = reproduce(
            arguments.experiment, arguments.out, jobs=jobs, minutes=arguments.minutes, progress=advance
        )
    report = import_module(chosen.report).write_report(done.rows, done.total, done.path)
    if arguments.json:
        summary = {"experiment": arguments.experiment, "rows": len(done.rows), "of": done.total}
        print_json({**summary, "out": str(done.path), "report": str(report)})
    else:
        print(report.read_text(encoding="utf-8"))
        print(f"written to {done.path}")
