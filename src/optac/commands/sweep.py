"""`optac sweep` and `optac status`."""

import argparse
import os
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, print_json, write_answer


def add_sweep(commands: Any) -> None:
    """Add `optac sweep`."""
    parser = add_command(commands, "sweep", "run all that a TOML file asks for, or go on with it", _sweep)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "The same command goes on where it stopped, and may run twice at once on one folder.\n\nexamples:\n"
        "  optac sweep cheetah.toml --dry-run          the runs, without running them\n"
        "  optac sweep cheetah.toml --jobs 2           two at a time, one thread each\n"
        "  optac sweep cheetah.toml --ray 10.0.0.1:6379 --out /shared/cheetah"
    )
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="the sweep (see docs/sweeps.md)")
    parser.add_argument("--dry-run", action="store_true", help="list the runs and where each stands")
    add_launching(parser)
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="start no run that cannot end within M minutes; then save and stop",
    )


def add_launching(parser: argparse.ArgumentParser) -> None:
    """Where runs are made, how many at once, and how often one that fails is tried again."""
    parser.add_argument("--jobs", type=int, metavar="J", help="runs at once (default: one a core)")
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="on the Ray cluster there, or `local` to start one (the extra ray)"
    )
    parser.add_argument(
        "--retries", type=int, default=2, metavar="R", help="start a run that failed again (default: 2)"
    )


def executor_of(arguments: argparse.Namespace) -> Any:
    """The executor that --jobs and --ray ask for."""
    if arguments.ray is not None:
        from optac.sweeps.ray_executor import RayExecutor

        return RayExecutor(arguments.ray, jobs=arguments.jobs)
    from optac.sweeps.local_executor import LocalExecutor

    return LocalExecutor(len(os.sched_getaffinity(0)) if arguments.jobs is None else arguments.jobs)


def _sweep(arguments: argparse.Namespace) -> int:
    from optac.commands.sweep_output import show_standing, standing_json, watched
    from optac.sweeps.launcher import run_sweep
    from optac.sweeps.plan import read_sweep
    from optac.sweeps.standing import SweepStanding, run_standing

    sweep = read_sweep(arguments.file)
    path = arguments.out or Path("runs") / sweep.name
    if arguments.dry_run:
        standing = SweepStanding(path, tuple(run_standing(path / run.id) for run in sweep.runs))
    else:
        with watched(path, quiet=arguments.quiet or arguments.json) as watching:
            standing = run_sweep(
                sweep,
                path,
                executor_of(arguments),
                retries=arguments.retries,
                minutes=arguments.minutes,
                watching=watching,
            )
    if arguments.json:
        print_json(standing_json(standing))
    else:
        show_standing(standing)
    return 1 if standing.count("failed") and not arguments.dry_run else 0


def add_status(commands: Any) -> None:
    """Add `optac status`."""
    parser = add_command(
        commands,
        "status",
        "what a sweep has done and is doing",
        _status,
        out="also write it to standing.json there",
    )
    parser.add_argument("sweep_folder", type=Path, metavar="DIR", help="the sweep's folder")


def _status(arguments: argparse.Namespace) -> None:
    from optac.commands.sweep_output import show_standing, standing_json
    from optac.sweeps.standing import sweep_standing

    standing = sweep_standing(arguments.sweep_folder)
    write_answer(arguments.out, "standing.json", standing_json(standing))
    if arguments.json:
        print_json(standing_json(standing))
    else:
        show_standing(standing)
