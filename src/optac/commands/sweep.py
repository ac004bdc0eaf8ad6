"""`optac sweep`."""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from optac.commands.subcommand import add_everywhere, add_examples, answer, is_quiet, notice
from optac.runs.folder import State
from optac.sweeps.launcher import Watching, planned, run_sweep
from optac.sweeps.local_executor import LocalExecutor
from optac.sweeps.plan import read_sweep
from optac.sweeps.standing import RunStanding, SweepStanding, sweep_standing
from optac.terminal import rich_table, show_table

STATES: Final[tuple[State, ...]] = ("finished", "running", "waiting", "failed")
TOLD = ("id", "choices", "state", "reached", "total", "score", "attempts", "why", "parameters_sha256")
SECONDS_BETWEEN_LINES = 30.0
RETRIES: Final = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser)
    add_examples(
        parser,
        "optac sweep cheetah.toml --dry-run          the runs, without running them",
        "optac sweep cheetah.toml --jobs 2           two at a time, one thread each",
        "optac sweep cheetah.toml --ray 10.0.0.1:6379 --out /shared/cheetah",
        before="The same command resumes where it stopped, and may run twice at once on one folder.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="the sweep (see docs/sweeps.md)")
    parser.add_argument("--dry-run", action="store_true", help="list the runs and where each stands")
    add_launching(parser)
    enough = "start no run that cannot end within M minutes; then save and stop"
    parser.add_argument("--minutes", type=float, metavar="M", help=enough)


def add_launching(parser: argparse.ArgumentParser) -> None:
    """Where runs are made, how many at once, and how often one that fails is tried again."""
    parser.add_argument("--jobs", type=int, metavar="J", help="runs at once (default: one per core)")
    cluster = "on the Ray cluster there, or `local` to start one (the extra ray)"
    parser.add_argument("--ray", metavar="ADDRESS", help=cluster)
    again = f"start a run that failed again (default: {RETRIES})"
    parser.add_argument("--retries", type=int, metavar="R", help=again)


def executor_of(arguments: argparse.Namespace) -> Any:
    """The executor that --jobs and --ray ask for."""
    if arguments.ray is not None:
        from optac.sweeps.ray_executor import RayExecutor

        return RayExecutor(arguments.ray, jobs=arguments.jobs)
    return LocalExecutor(len(os.sched_getaffinity(0)) if arguments.jobs is None else arguments.jobs)


def limits_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """How often a run is tried again, and for how long runs are started."""
    return {"retries": retries_of(arguments), "minutes": arguments.minutes}


def retries_of(arguments: argparse.Namespace) -> int:
    """How often a run is tried again."""
    return RETRIES if arguments.retries is None else int(arguments.retries)


def run(arguments: argparse.Namespace) -> int:
    """Run what is missing, or list what there is to run, and show where all stands."""
    sweep = read_sweep(arguments.file)
    path = arguments.out or Path("runs") / sweep.name
    if arguments.dry_run:
        standing = planned(sweep, path)
    else:
        with watched(path, quiet=is_quiet(arguments)) as watching:
            standing = run_sweep(
                sweep, path, executor_of(arguments), **limits_of(arguments), watching=watching
            )
    answer(arguments, standing_json(standing), lambda: show_standing(standing))
    return 1 if standing.count("failed") and not arguments.dry_run else 0


def standing_json(standing: SweepStanding) -> dict[str, Any]:
    """The object that --json prints of a sweep."""
    return {
        "out": str(standing.path),
        **{state: standing.count(state) for state in STATES},
        "seconds_left": standing.seconds_left,
        "runs": [{name: getattr(run, name) for name in TOLD} for run in standing.runs],
    }


def show_standing(standing: SweepStanding) -> None:
    """The table of a sweep's runs."""
    show_table(headline(standing), columns(standing), _lines_of(standing.runs, standing))
    for run in standing.runs:
        if run.state == "failed" or (run.state == "finished" and run.why):
            print(f"{standing.told(run)}: {run.why}")


def columns(standing: SweepStanding) -> list[str]:
    """The columns of the table: what was varied; a training's last return, an algorithm's last gap."""
    scores = {run.kind.score_name for run in standing.runs if run.kind is not None}
    return [
        *([] if standing.planned else ["run"]),
        *(standing.varied or ["run"] * standing.planned),
        "state",
        "reached",
        " or ".join(sorted(scores)) or "score",
        "speed",
        "attempts",
    ]


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
        notice(f"what ran in {path} is saved; the same command resumes it")
        raise


def _say_what_is_wrong(text: str) -> None:
    if not any(word in text for word in (" finished (", " interrupted (")):
        notice(text)


def _lines(path: Path) -> Watching:
    last = [time.monotonic()]

    def look() -> None:
        if time.monotonic() - last[0] >= SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            notice(headline(sweep_standing(path)))

    return Watching(say=notice, look=look)


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
    order = ("running", "failed", "waiting", "finished")
    runs = sorted(standing.runs, key=lambda run: order.index(run.state))[: max(room, 1)]
    lines = _lines_of(runs, standing)
    return rich_table(headline(standing), columns(standing), lines, no_wrap=True)


def _lines_of(runs: Iterable[RunStanding], standing: SweepStanding) -> list[list[str]]:
    varied = standing.varied
    if standing.planned:
        return [[*_told_apart(run, varied), *_cells(run)] for run in runs]
    return [[run.id, *(run.choice(name) for name in varied), *_cells(run)] for run in runs]


def _told_apart(run: RunStanding, varied: Sequence[str]) -> list[str]:
    """What was varied, of this run; its folder where nobody knows."""
    if not run.choices:
        return [run.id, *[""] * (len(varied) - 1)]
    return [run.choice(name) for name in varied]


def _cells(run: RunStanding) -> list[str]:
    reached = f"{run.reached:,}" if run.total is None else f"{run.reached:,}/{run.total:,}"
    score = "" if run.score is None else f"{run.score:.5g}"
    speed = "" if run.speed is None else f"{run.speed:.0f}/s"
    state = "pruned" if (run.why or "").startswith("pruned") else run.state
    return [state, reached, score, speed, str(run.attempts)]


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
