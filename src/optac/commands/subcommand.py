"""The parts of every subcommand: options, one-line errors, one JSON object on standard output."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from optac.errors import unknown_name


class Parser(argparse.ArgumentParser):
    """argparse with our one-line errors, the nearest name first where a name is wrong."""

    more_help: Callable[[], str] | None = None
    """the end of the help, made when it is asked for"""

    def format_help(self) -> str:
        end = "" if self.more_help is None else self.more_help() + "\n"
        return super().format_help() + end

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        notice(f"error: {message}")
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            kind = action.metavar if isinstance(action.metavar, str) else action.dest
            raise argparse.ArgumentError(None, str(unknown_name(kind.lower(), str(value), action.choices)))


def add_everywhere(
    parser: argparse.ArgumentParser,
    *,
    presets: str | None = None,
    out: str = "where to write (default: runs/<id>)",
    out_name: str = "DIR",
) -> None:
    """The options every subcommand has; with `presets`, their names, also --preset and --set.

    `out` says what --out is for.
    """
    everywhere = parser.add_argument_group("everywhere")
    everywhere.add_argument("--out", type=folder, metavar=out_name, help=out)
    everywhere.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    everywhere.add_argument("--quiet", action="store_true", help="no progress")
    everywhere.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder with code of one's own, beside the installed packages; repeatable",
    )
    if presets is not None:
        start = f"the set of defaults to start from: {presets}"
        everywhere.add_argument("--preset", metavar="NAME", help=start)
        everywhere.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            dest="settings",
            help="a setting by its Python keyword, as the docs name them; repeatable",
        )


def add_problem(parser: argparse.ArgumentParser) -> None:
    """A problem's name and its parameters."""
    name = "a name from `optac list`, an .npz file or a toy-text id"
    parser.add_argument("problem", metavar="PROBLEM", help=name)
    own = "its parameters, among them the instance's seed="
    parser.add_argument("parameters", nargs="*", metavar="name=value", help=own)


def add_run_folder(parser: argparse.ArgumentParser) -> None:
    """The folder of a run that is there."""
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="import the code that only the folder names (see docs/extending.md)",
    )


def add_examples(parser: argparse.ArgumentParser, *lines: str, before: str = "") -> None:
    """Examples at the end of the help."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    head = [f"{before}\n"] if before else []
    parser.epilog = "\n".join([*head, "examples:", *(f"  {line}" for line in lines)])


def notice(text: str) -> None:
    """A line on standard error."""
    print(f"optac: {text}", file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """The one object that --json promises."""
    print(json.dumps(value, default=lambda item: item.item() if hasattr(item, "item") else str(item)))


def answer(arguments: argparse.Namespace, value: Any, show: Callable[[], None]) -> None:
    """Print the object with --json, else show it as people read it."""
    if arguments.json:
        print_json(value)
    else:
        show()


def is_quiet(arguments: argparse.Namespace) -> bool:
    """Whether no progress is to be shown."""
    return bool(arguments.quiet or arguments.json)


def write_answer(out: Path | None, name: str, value: Any) -> None:
    """The object that --json prints as a file in --out, where that is given."""
    if out is not None:
        from optac.runs.json_files import write_json

        write_json(into(out, name), value)


def into(out: Path, name: Path | str) -> Path:
    """A file in the folder of --out, which is made where it is not there."""
    out.mkdir(parents=True, exist_ok=True)
    return out / name


def folder(text: str) -> Path:
    """A folder's name, not empty."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name is not a folder")
    return Path(text)
