"""`optac reproduce`: studies of many small runs, and sweeps of training runs."""

import argparse
import os
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, print_json
from optac.commands.sweep import add_launching, executor_of
from optac.errors import InvalidInput

FOR_SWEPT = ("ray", "steps", "seeds", "environments", "preset")


def add_reproduce(commands: Any) -> None:
    """Add `optac reproduce`."""
    parser = add_command(
        commands,
        "reproduce",
        "run an experiment of the paper, or go on with it",
        _reproduce,
        out="where its rows or records go (default: results/NAME); trainings are at work in runs/table2",
    )
    parser.add_argument("experiment", metavar="NAME", help="a name from `optac list`, section experiments")
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="start nothing after so many minutes, nor a training that cannot end by then; report what is there",
    )
    add_launching(parser)
    less = parser.add_argument_group("to do less of table2 and training-curves")
    less.add_argument("--steps", type=int, metavar="N", help="steps of every run (default: the task's)")
    less.add_argument("--seeds", type=int, metavar="N", help="seeds 0 … N − 1 (default: 4)")
    less.add_argument("--environments", nargs="+", metavar="ENV", help="these tasks (default: all six)")
    less.add_argument("--preset", metavar="NAME", help="the agents' preset (default: default)")


def _reproduce(arguments: argparse.Namespace) -> int:
    from optac.studies.catalogue import SWEPT

    if arguments.experiment in SWEPT:
        return _reproduce_swept(arguments)
    for name in FOR_SWEPT:
        if getattr(arguments, name) is not None:
            raise InvalidInput(f"--{name} goes with {' and '.join(SWEPT)}, not with {arguments.experiment}")
    return _reproduce_study(arguments)


def _reproduce_study(arguments: argparse.Namespace) -> int:
    from importlib import import_module

    from optac.report.terminal import progress
    from optac.studies.catalogue import cells_of, experiment, reproduce

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
    return 0


def _reproduce_swept(arguments: argparse.Namespace) -> int:
    """Both are the same runs, at work in runs/table2; the records of the finished ones go to results/table2."""
    from optac.commands.sweep_output import show_standing, standing_json, watched
    from optac.studies.table2.cells import SEEDS, reproduce_table2, table2_sweep
    from optac.studies.table2.page import show_table2, write_table2_page
    from optac.sweeps.standing import SweepStanding, run_standing

    sweep = table2_sweep(
        environments=arguments.environments,
        seeds=SEEDS if arguments.seeds is None else arguments.seeds,
        steps=arguments.steps,
        preset=arguments.preset or "default",
    )
    results, work = arguments.out or Path("results/table2"), Path("runs/table2")
    with watched(work, quiet=arguments.quiet or arguments.json) as watching:
        missing = reproduce_table2(
            sweep,
            work,
            results,
            lambda: executor_of(arguments),
            retries=arguments.retries,
            minutes=arguments.minutes,
            watching=watching,
        )
    # Of a run made here, its folder says more than its record: how many attempts it took.
    made_here = {
        run.id for run in sweep.runs if run.id in missing or run_standing(work / run.id).state == "finished"
    }
    places = [(work if run.id in made_here else results) / run.id for run in sweep.runs]
    standing = SweepStanding(results, tuple(run_standing(path) for path in places))
    written = write_table2_page(results, arguments.steps)
    page = None if written is None else str(written.page)
    if arguments.json:
        print_json({"experiment": arguments.experiment, **standing_json(standing), "page": page})
    else:
        show_standing(standing)
        show_table2(results, arguments.steps)
        print(
            f"\nthe page with the curves: {page}" if page else "\nno run is finished yet, so there is no page"
        )
    return 1 if standing.count("failed") else 0
