"""The command `optac`: its subcommands, and what its exit codes mean.

Exit codes: 0 done, 1 a run failed, 2 bad input, 130 and 143 interrupted by SIGINT and SIGTERM, 141 nobody reads what it
prints any more.
"""

import argparse
import io
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from optac import __version__
from optac.commands.subcommand import Parser, json_alone, notice
from optac.errors import Interrupted, OptacError, OptacWarning, Terminated, refusal
from optac.registry import add_paths
from optac.signals import let_go, listen

DESCRIPTION = """\
Learning in low-rank Markov decision processes: provable algorithms with every oracle call billed and the
gap exact, and the deep agents built on the same idea.

start here:
  optac demo                                             the story in a few minutes
  optac solve combination-lock horizon=6 actions=10      Opt-AC opens a lock
  optac list                                             everything there is, one line each
"""
COMMANDS = {
    "demo": "the whole story in about three minutes: Opt-AC opens a lock, cRFFSAC learns a task, a page shows both",
    "list": "everything there is by name, each with one line",
    "solve": "run an algorithm on a problem",
    "train": "train an agent in an environment",
    "resume": "resume a run from its newest sound checkpoint",
    "eval": "play a trained run's policy on fresh seeds",
    "enjoy": "film an episode of a trained run's policy",
    "export": "a trained run's policy as plain arrays, for numpy alone",
    "compare": "several algorithms and seeds on one problem, in parallel",
    "sweep": "run all that a TOML file asks for, or resume it",
    "tune": "search an agent's settings as a TOML file asks, or continue",
    "status": "what a sweep has done and is doing",
    "reproduce": "run studies of the paper, or resume them",
    "report": "a page about runs, sweeps and comparisons",
    "bench": "measure side by side with what a user would pick instead",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, that of this process where none is given; the exit code."""
    _fill_closed_streams()
    try:
        try:
            return _run(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()
    except OSError as error:
        # Nothing more may be flushed there on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # whoever reads our output has had enough
            return 128 + signal.SIGPIPE
        notice(f"error: standard output: {error}")
        return 1
    finally:
        if argv is None:
            let_go()


def _run(words: Sequence[str]) -> int:
    if not sys.platform.startswith("linux"):
        notice(f"error: the command needs Linux, and this is {sys.platform}")
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # formulas on a terminal that knows only ASCII
    chosen = next((word for word in words if not word.startswith("-")), "")
    listen()
    try:
        with _warnings_in_a_line():
            arguments = build_parser(chosen).parse_args(words)
            add_paths(arguments.path)
            with json_alone(arguments.json):
                return int(arguments.run(arguments) or 0)
    except KeyboardInterrupt as stop:
        notice("interrupted")
        return 143 if isinstance(stop, Terminated) else 130
    except BrokenPipeError:
        raise
    except MemoryError as error:
        notice(f"error: out of memory: {error}; make the problem or the run smaller")
        return 1
    except OptacError as error:
        notice(str(error) if isinstance(error, Interrupted) else f"error: {error}")
        return error.exit_code
    except OSError as error:
        notice(f"error: {refusal(error)}")
        return 1
    except Exception as error:  # what nobody foresaw: the traceback is for whoever fixes it
        notice(f"error: {_unforeseen(error)}")
        return 1


def _fill_closed_streams() -> None:
    """Put the null device where standard input, output or error is closed: else a run's file would take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  (as long as the process)


def _unforeseen(error: Exception) -> str:
    """One line about an error that is a fault of ours, and where its traceback is."""
    said = " ".join(str(error).split())[:200]
    try:
        with tempfile.NamedTemporaryFile("w", prefix="optac-error-", suffix=".log", delete=False) as file:
            file.write("".join(traceback.format_exception(error)))
        where = f"the traceback is in {file.name}"
    except OSError as full:
        where = f"its traceback could not be written ({full})"
    return f"this should not have happened: {type(error).__name__}: {said}; {where}"


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Our own warnings as notices; anybody else's as Python shows them."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, OptacWarning):
            notice(f"warning: {message}")
        else:
            shown(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def build_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Every subcommand with its line; the options of the chosen one, or of all, are read from its module."""
    parser = Parser(
        prog="optac", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"optac {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name, line in COMMANDS.items():
        command = commands.add_parser(name, help=line, description=line[0].upper() + line[1:])
        if chosen in (None, name):
            module = import_module(f"optac.commands.{name}")
            module.configure(command)
            command.set_defaults(run=module.run)
    return parser
