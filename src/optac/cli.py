"""The command `optac`: its subcommands, and what its exit codes mean.

Exit codes: 0 done, 1 a run failed, 2 bad input, 130 and 143 interrupted by SIGINT and SIGTERM.
"""

import argparse
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from optac import __version__
from optac.commands.bench import add_bench
from optac.commands.compare import add_compare
from optac.commands.demo import add_demo
from optac.commands.deploy import add_enjoy, add_export
from optac.commands.list_names import add_list
from optac.commands.report import add_report
from optac.commands.reproduce import add_reproduce
from optac.commands.solve import add_solve
from optac.commands.subcommand import Parser, notice
from optac.commands.sweep import add_status, add_sweep
from optac.commands.train import add_eval, add_resume, add_train
from optac.errors import InvalidInput, OptacError, OptacWarning, Terminated
from optac.registry import add_paths

DESCRIPTION = """\
Learning in low-rank Markov decision processes: provable algorithms with every oracle call billed and the
gap exact, and the deep agents built on the same idea.

start here:
  optac demo                                             the story in a few minutes
  optac solve combination-lock horizon=6 actions=10      Opt-AC opens a lock
  optac list                                             everything there is, a line each
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # formulas on a terminal that knows only ASCII
    arguments = build_parser().parse_args(argv)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        with _warnings_in_a_line():
            add_paths(arguments.path)
            return int(arguments.run(arguments) or 0)
    except InvalidInput as error:
        print(f"optac: error: {error}", file=sys.stderr)
        return 2
    except OptacError as error:
        print(f"optac: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        print("optac: interrupted", file=sys.stderr)
        return 143 if isinstance(stop, Terminated) else 130
    except BrokenPipeError:
        # Whoever reads our output has had enough; nothing may be flushed to it on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError as error:
        print(f"optac: error: out of memory: {error}; make the problem or the run smaller", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"optac: error: {error}", file=sys.stderr)
        return 1


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Our own warnings as notices; anybody else's as Python shows them."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, OptacWarning):
            notice(f"warning: {message}")
        else:
            shown(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated


def build_parser() -> argparse.ArgumentParser:
    """Every subcommand; what each needs is loaded when it runs."""
    parser = Parser(
        prog="optac", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"optac {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for add in (
        add_demo,
        add_list,
        add_solve,
        add_train,
        add_resume,
        add_eval,
        add_enjoy,
        add_export,
        add_compare,
        add_sweep,
        add_status,
        add_reproduce,
        add_report,
        add_bench,
    ):
        add(commands)
    return parser
