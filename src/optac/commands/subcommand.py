"""The parts of every subcommand: options, one-line errors, one JSON object on standard output."""

import argparse
import json
import os
import re
import sys
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

from optac.errors import clipped, unknown_name
from optac.meanings import meanings
from optac.settings import wanted

SEVERAL = ("--set", "--env-kwargs")
"""options that take one NAME=VALUE each, and may have more of them behind"""
_ASSIGNMENT = re.compile(r"[\w.][\w.-]*=.+", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """argparse with our one-line errors, the nearest name first where a name is wrong."""

    more_help: Callable[[argparse.Namespace], str] | None = None
    """the end of the help, made when it is asked for, from the options that stand before --help"""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, add_help=False)
        self.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help and exit")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        return super().parse_known_args(None if args is None else _one_each(args), namespace)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        for kind, plain in (("int", "whole number"), ("float", "number")):
            said, wrong, given = message.partition(f"invalid {kind} value: ")
            message = f"{said}{clipped(given)} is not a {plain}" if wrong else message
        notice(f"error: {message}")
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            kind = action.metavar if isinstance(action.metavar, str) else action.dest
            raise argparse.ArgumentError(None, str(unknown_name(kind.lower(), str(value), action.choices)))


def _one_each(words: Iterable[str]) -> list[str]:
    """`--set a=1 b=2 NAME` as `--set a=1 --set b=2 NAME`: argparse would take the name for a value too."""
    spread: list[str] = []
    option = ""
    for word in words:
        if option and spread[-1] != option:
            if _ASSIGNMENT.fullmatch(word):
                spread.append(option)
            else:
                option = ""
        if word in SEVERAL:
            option = word
        spread.append(word)
    return spread


class _Help(argparse.Action):
    """--help, with the settings of the algorithm or agent that was named before it."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any, **__: Any
    ) -> NoReturn:
        more = getattr(parser, "more_help", None)
        parser.print_help()
        if more is not None:
            print(f"\n{more(namespace)}")
        parser.exit()


def listed_settings(who: str, kind: type, *, defaults: Mapping[str, Any] | None = None) -> str:
    """The settings of an algorithm or an agent for its command's help: name, meaning, what is allowed, default."""
    kinds, texts, lines = typing.get_type_hints(kind), meanings(kind), []
    for field in fields(kind):
        if defaults is None or field.name in defaults:
            usual = "" if defaults is None else f" [{defaults[field.name]}]"
            allowed = wanted(kinds[field.name], field.metadata.get("range"))
            lines.append(help_line(field.name, f"{texts[field.name]}; {allowed}{usual}"))
    return "\n".join([f"settings of {who}, as in --set {lines[0].split()[0]}=VALUE:", *lines])


def help_line(name: str, text: str) -> str:
    """A name and its text beside it, as the help of a command has them."""
    return fill(f"  {name:22} {text}", 110, subsequent_indent=" " * 25)


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
            help="a setting by its Python keyword, as the docs name them; repeatable, also as --set a=1 b=2",
        )


def add_problem(parser: argparse.ArgumentParser) -> None:
    """A problem's name and its parameters."""
    name = "a name from `optac list`, an .npz file or a toy-text id"
    parser.add_argument("problem", metavar="PROBLEM", help=name)
    own = "its parameters, among them the instance's seed="
    parser.add_argument("parameters", nargs="*", default=[], metavar="name=value", help=own)


def add_run_folder(parser: argparse.ArgumentParser) -> None:
    """The folder of a run that is there."""
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="import the code that only the folder names (see docs/extending.md)",
    )


def add_policy(parser: argparse.ArgumentParser) -> None:
    """The folder of a trained run, and which of its policies."""
    add_run_folder(parser)
    parser.add_argument(
        "--best", action="store_true", help="the policy of the best evaluation, not the last one"
    )


def chosen_policy(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `add_policy` asked for, as `open_policy` takes it."""
    return {"on_notice": notice, "trust": arguments.trust, "best": arguments.best}


def add_examples(parser: argparse.ArgumentParser, *lines: str, before: str = "") -> None:
    """Examples at the end of the help."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    head = [f"{before}\n"] if before else []
    parser.epilog = "\n".join([*head, "examples:", *(f"  {line}" for line in lines)])


def notice(text: str) -> None:
    """A line on standard error."""
    print(f"optac: {text}", file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """The one object that --json promises, printed once all else is done."""
    text = json.dumps(value, default=lambda item: item.item() if hasattr(item, "item") else str(item))
    if _answers:
        _answers[-1].append(text)
    else:
        print(text)


_answers: list[list[str]] = []
"""the objects to print in the end, of each command that has standard output for them alone"""


@contextmanager
def json_alone(asked: bool) -> Iterator[None]:
    """With --json, standard output is for the one object: what others print there meanwhile goes to standard error."""
    if not asked:
        yield
        return
    shown, kept = sys.stdout, None
    if _descriptor(shown) == 1:  # for what is no Python too
        shown.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    _answers.append([])
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = shown
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)
        for text in _answers.pop():
            print(text)


def _descriptor(stream: Any) -> int | None:
    try:
        number: int = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return number


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
    return out.resolve() / name


def folder(text: str) -> Path:
    """A folder's name, not empty."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name is not a folder")
    return Path(text)
