"""`optac export`."""

import argparse
from pathlib import Path

from optac.commands.subcommand import add_best, add_everywhere, add_run_folder, answer, into, notice


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="the folder that FILE.npz is under (default: here)")
    add_run_folder(parser)
    add_best(parser)
    parser.add_argument("file", type=Path, metavar="FILE.npz", help="where to")


def run(arguments: argparse.Namespace) -> None:
    """Write the policy as plain arrays."""
    from optac.runs.deployment import export_policy

    file = arguments.file if arguments.out is None else into(arguments.out, arguments.file)
    made = export_policy(
        arguments.run_folder, file, on_notice=notice, trust=arguments.trust, best=arguments.best
    )
    use = f"act with optac.numpy_policy.load({made['policy']!r})(observation)"
    answer(arguments, made, lambda: print(f"{made['policy']}: {use}"))
