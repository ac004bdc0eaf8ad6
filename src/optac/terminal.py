"""Tables and progress: live on a terminal or in a notebook, plain lines in a pipe or file."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from optac.notebook import bar, is_notebook

SECONDS_BETWEEN_LINES = 5.0


@runtime_checkable
class Advance(Protocol):
    """Called with how far the work has come and what to say beside it."""

    def __call__(self, done: int, note: str = "") -> None: ...


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(rich_table(title, columns, rows))
        return
    widths = [max(len(line[i]) for line in [list(columns), *rows]) for i in range(len(columns))]
    print(title)
    for line in [columns, *rows]:
        cells = [
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def rich_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, no_wrap: bool = False
) -> Any:
    """A table for a terminal, its first column to the left."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", title_style="bold")  # Text: brackets are no markup
    for i, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if i == 0 else "right", no_wrap=no_wrap)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


@contextmanager
def progress(description: str, total: int, *, quiet: bool, lines: bool = True) -> Iterator[Advance]:
    """A bar in a notebook or on a terminal's standard error, else, with `lines`, a line every few seconds."""
    if not quiet and "IPython" in sys.modules and is_notebook():
        with bar(description, total) as advance:
            yield advance
    elif quiet or not (lines or sys.stderr.isatty()):
        yield lambda done, note="": None
    elif sys.stderr.isatty():
        with _bar() as live:
            task = live.add_task(description, total=total, note="")
            yield lambda done, note="": live.update(task, completed=done, note=note)
    else:
        last = time.monotonic()

        def line(done: int, note: str = "") -> None:
            nonlocal last
            if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                print(f"{description}: {done}/{total} {note}".rstrip(), file=sys.stderr, flush=True)

        yield line


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    return Progress(*columns, console=Console(stderr=True))
