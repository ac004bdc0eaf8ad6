"""`optac export`."""

import argparse
from pathlib import Path

from optac.commands.subcommand import add_everywhere, add_policy, answer, chosen_policy, into


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="the folder that FILE.npz is under (default: here)")
    add_policy(parser)
    parser.add_argument("file", type=Path, metavar="FILE.npz", help="where to")


def run(arguments: argparse.Namespace) -> None:
    """Write the policy as plain arrays."""
    from optac.runs.deployment import export_policy

    file = arguments.file if arguments.out is None else into(arguments.out, arguments.file)
    made = export_policy(arguments.run_folder, file, **chosen_policy(arguments))
    use = f"act with optac.numpy_policy.load({made['policy']!r})(observation)"
    answer(arguments, made, lambda: print(f"{made['policy']}: {use}"))
