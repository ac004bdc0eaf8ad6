"""`optac status`."""

import argparse
from pathlib import Path

from optac.commands.subcommand import add_everywhere, answer, write_answer
from optac.commands.sweep import show_standing, standing_json
from optac.sweeps.standing import sweep_standing


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="also write it to standing.json there")
    parser.add_argument(
        "sweep_folder", type=Path, metavar="DIR", help="the folder of a sweep, of a run, or of several runs"
    )


def run(arguments: argparse.Namespace) -> None:
    """Show where the sweep stands."""
    standing = sweep_standing(arguments.sweep_folder)
    write_answer(arguments.out, "standing.json", standing_json(standing))
    answer(arguments, standing_json(standing), lambda: show_standing(standing))
