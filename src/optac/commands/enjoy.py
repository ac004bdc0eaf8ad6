"""`optac enjoy`."""

import argparse
from pathlib import Path

from optac.commands.subcommand import add_everywhere, add_policy, answer, chosen_policy, into


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="the folder for the film (default: the run's)")
    add_policy(parser)
    name = "its name (default: episode.mp4 in the run's folder)"
    parser.add_argument("--video", type=Path, metavar="FILE.mp4", help=name)
    parser.add_argument("--seed", type=int, default=0, help="the episode's seed (default: 0)")


def run(arguments: argparse.Namespace) -> None:
    """Film an episode."""
    from optac.runs.deployment import film

    if arguments.out is not None:
        file = into(arguments.out, arguments.video or "episode.mp4")
    else:
        file = arguments.video or arguments.run_folder / "episode.mp4"
    made = film(arguments.run_folder, file, seed=arguments.seed, **chosen_policy(arguments))
    said = f"{made['steps']} steps, return {made['episode_return']:.1f}, {made['frames']} frames"
    answer(arguments, made, lambda: print(f"{made['file']}: {said}"))
