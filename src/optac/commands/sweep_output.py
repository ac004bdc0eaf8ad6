"""A sweep on the terminal: live while it runs, plain lines in a pipe, and the same table from another terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from optac.report.terminal import show_table
from optac.runs.folder import State
from optac.sweeps.launcher import Watching
from optac.sweeps.standing import RunStanding, SweepStanding, sweep_standing

STATES: Final[tuple[State, ...]] = ("finished", "running", "waiting", "failed")
SECONDS_BETWEEN_LINES = 30.0


def standing_json(standing: SweepStanding) -> dict[str, Any]:
    """What --json prints of a sweep."""
    return {
        "out": str(standing.path),
        **{state: standing.count(state) for state in STATES},
        "seconds_left": standing.seconds_left,
        "runs": [
            {
                "id": run.id,
                "state": run.state,
                "reached": run.reached,
                "total": run.total,
                "score": run.score,
                "attempts": run.attempts,
                "why": run.why,
                "parameters_sha256": run.parameters_sha256,
            }
            for run in standing.runs
        ],
    }


def show_standing(standing: SweepStanding) -> None:
    """The table of a sweep's runs."""
    show_table(headline(standing), columns(standing), [_cells(run) for run in standing.runs])
    for run in standing.runs:
        if run.state == "failed":
            print(f"{run.id}: {run.why}")


def columns(standing: SweepStanding) -> list[str]:
    """What the table shows of each run: a training's last return, an algorithm's last gap."""
    scores = {run.kind.score_name for run in standing.runs if run.kind is not None}
    return ["run", "state", "reached", " or ".join(sorted(scores)) or "score", "speed", "attempts"]


def headline(standing: SweepStanding) -> str:
    """Runs finished, running, waiting and failed, and the time left."""
    counts = [f"{standing.count(state)} {state}" for state in STATES]
    return f"{standing.path.name}: {', '.join(counts)}{_time_left(standing)}"


@contextmanager
def watched(path: Path, *, quiet: bool) -> Iterator[Watching]:
    """Shows a sweep while it runs: a live table on a terminal's standard error, else lines; nothing when quiet."""
    try:
        if quiet:
            yield Watching(say=_say_what_is_wrong)
        elif sys.stderr.isatty():
            with _live(path) as watching:
                yield watching
        else:
            yield _lines(path)
    except KeyboardInterrupt:
        _say(f"what ran in {path} is saved; the same command goes on")
        raise


def _say(text: str) -> None:
    print(f"optac: {text}", file=sys.stderr, flush=True)


def _say_what_is_wrong(text: str) -> None:
    if not any(word in text for word in (" finished (", " interrupted (")):
        _say(text)


def _lines(path: Path) -> Watching:
    last = [time.monotonic()]

    def look() -> None:
        if time.monotonic() - last[0] >= SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            _say(headline(sweep_standing(path)))

    return Watching(say=_say, look=look)


@contextmanager
def _live(path: Path) -> Iterator[Watching]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def look() -> None:
            live.update(_table(sweep_standing(path), console.height - 5), refresh=True)

        yield Watching(say=lambda text: live.console.print(text, markup=False, highlight=False), look=look)


def _table(standing: SweepStanding, room: int) -> Any:
    """The live table: what runs or failed first, as many lines as fit."""
    from rich.table import Table

    table = Table(title=headline(standing), title_justify="left", title_style="bold")
    for i, column in enumerate(columns(standing)):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    order = {"running": 0, "failed": 1, "waiting": 2, "finished": 3}
    for run in sorted(standing.runs, key=lambda run: order[run.state])[: max(room, 1)]:
        table.add_row(*_cells(run))
    return table


def _cells(run: RunStanding) -> list[str]:
    reached = f"{run.reached:,}" if run.total is None else f"{run.reached:,}/{run.total:,}"
    score = "" if run.score is None else f"{run.score:.5g}"
    speed = "" if run.speed is None else f"{run.speed:.0f}/s"
    return [run.id, run.state, reached, score, speed, str(run.attempts)]


def _time_left(standing: SweepStanding) -> str:
    if not standing.count("running") and not standing.count("waiting"):
        return ""
    seconds = standing.seconds_left
    if seconds is None:
        return "; time left unknown"
    if seconds < 90:
        return f"; about {seconds:.0f} s left"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"; about {hours} h {minutes:02d} min left"
