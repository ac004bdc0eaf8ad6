"""`optac enjoy` and `optac export`."""

import argparse
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, into, notice, print_json


def add_enjoy(commands: Any) -> None:
    """Add `optac enjoy`."""
    parser = add_command(
        commands,
        "enjoy",
        "film an episode of a trained run's policy",
        _enjoy,
        out="the folder for the film (default: the run's)",
    )
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument(
        "--video", type=Path, metavar="FILE.mp4", help="its name (default: episode.mp4 in the run's folder)"
    )
    parser.add_argument("--seed", type=int, default=0, help="the episode's seed (default: 0)")


def _enjoy(arguments: argparse.Namespace) -> None:
    from optac.runs.deployment import film

    if arguments.out is not None:
        file = into(arguments.out, arguments.video or "episode.mp4")
    else:
        file = arguments.video or arguments.run_folder / "episode.mp4"
    made = film(arguments.run_folder, file, seed=arguments.seed, on_notice=notice)
    if arguments.json:
        print_json(made)
    else:
        print(
            f"{made['file']}: {made['steps']} steps, return {made['episode_return']:.1f}, {made['frames']} frames"
        )


def add_export(commands: Any) -> None:
    """Add `optac export`."""
    parser = add_command(
        commands,
        "export",
        "a trained run's policy as plain arrays, for numpy alone",
        _export,
        out="the folder that FILE.npz is under (default: here)",
    )
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("file", type=Path, metavar="FILE.npz", help="where to")


def _export(arguments: argparse.Namespace) -> None:
    from optac.runs.deployment import export_policy

    file = arguments.file if arguments.out is None else into(arguments.out, arguments.file)
    made = export_policy(arguments.run_folder, file, on_notice=notice)
    if arguments.json:
        print_json(made)
    else:
        print(f"{made['policy']}: act with optac.numpy_policy.load({made['policy']!r})(observation)")
