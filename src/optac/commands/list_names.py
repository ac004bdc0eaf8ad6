"""`optac list`."""

import argparse
from typing import Any

from optac.commands.subcommand import add_command, print_json, write_answer


def add_list(commands: Any) -> None:
    """Add `optac list`."""
    add_command(
        commands,
        "list",
        "everything there is by name, each with one line",
        _list,
        out="also write it to list.json there",
    )


def _list(arguments: argparse.Namespace) -> None:
    from optac.commands.listing import everything

    sections = everything()
    write_answer(arguments.out, "list.json", sections)
    if arguments.json:
        print_json(sections)
        return
    for title, entries in sections.items():
        print(title)
        width = max(len(name) for name in entries)
        for name, line in entries.items():
            print(f"  {name.ljust(width)}  {line}")
