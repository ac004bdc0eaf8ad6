"""Running a sweep: every run once, whatever happens to the launcher, to a worker, or to a machine.

All that is known lies in the folders, so a launcher that starts again, or a second one beside the first, continues from
there: a finished run is skipped, a broken one resumed from its newest sound checkpoint, one that another launcher
holds waited for. A run that fails or dies is started again at most `retries` times, after the others.
"""

import contextlib
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from errno import EEXIST
from pathlib import Path

from optac.errors import InvalidInput, OptacError, RunFailed, cannot_write
from optac.plain_files import NotPlain, is_folder, is_there
from optac.provenance import all_versions
from optac.registry import paths
from optac.runs.folder import RunFolder
from optac.runs.json_files import write_json
from optac.runs.kinds import SWEEP_FILE
from optac.runs.lease import LeaseWatch, holder, newest_attempt
from optac.runs.lock import Lock
from optac.settings import read
from optac.sweeps.expected_speed import expected_speed
from optac.sweeps.local_executor import Executor
from optac.sweeps.plan import Sweep, SweptRun
from optac.sweeps.standing import SweepStanding, run_standing, sweep_run_ids
from optac.sweeps.worker import Outcome, Task

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_LAY_OUT = 60.0
MARGIN = 1.25
"""So much longer than its steps a run is expected to take: starting, compiling, evaluating and saving come on top."""


@dataclass(frozen=True)
class Watching:
    """Callbacks of a sweep: told in a sentence what happened, called at every look, handed each run that finished."""

    say: Callable[[str], None] = lambda text: None
    look: Callable[[], None] = lambda: None
    finished: Callable[[Path], None] = lambda run: None


def lay_out(sweep: Sweep, path: Path) -> None:
    """Write the sweep's folder: sweep.json and, for each run, its config.json.

    What the folder already holds stays: a sweep that has grown keeps its finished runs.
    """
    if not sweep.runs:
        raise InvalidInput("the sweep has no run")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    with contextlib.ExitStack() as held:
        held.callback(Lock(path, SECONDS_TO_LAY_OUT).release)
        _refuse_others(sweep, path)
        _write_sweep_file(sweep, path)
        for run in sweep.runs:
            with contextlib.suppress(RunFailed):  # a damaged run is reported when its turn comes
                is_folder(path / run.id)
                RunFolder.open_or_create(path / run.id, run.config)


def planned(sweep: Sweep, path: Path) -> SweepStanding:
    """Where every run of a sweep stands, without running any; refused where `lay_out` would refuse a folder."""
    place = path.resolve()
    if is_there(place) and not place.is_dir():
        raise cannot_write(path, FileExistsError(EEXIST, os.strerror(EEXIST)))
    _refuse_others(sweep, place)
    return replace(_standing(sweep, place), path=path)


def _refuse_others(sweep: Sweep, path: Path) -> None:
    """Refuse a folder in which the place of one of the runs is another's, before anything is written there."""
    _known_runs(path)
    for run in sweep.runs:
        with contextlib.suppress(RunFailed):
            if is_there(path / run.id / "config.json"):
                RunFolder.open(path / run.id).refuse_another(run.config)
            else:
                RunFolder(path / run.id).refuse_what_is_no_run()


def _standing(sweep: Sweep, path: Path) -> SweepStanding:
    return SweepStanding(path, tuple(run_standing(path / run.id, dict(run.config)) for run in sweep.runs))


def _known_runs(path: Path) -> list[str]:
    """The runs of the sweep there; refused where there is a run instead."""
    try:
        known = sweep_run_ids(path) if (path / SWEEP_FILE).exists() else []
    except RunFailed:  # damaged: the folders say what it said
        known = sorted(config.parent.name for config in path.glob("*/config.json"))
    if not known and (path / "config.json").exists():
        raise InvalidInput(f"{path} holds a run, not a sweep; give another folder with --out")
    return known


def _write_sweep_file(sweep: Sweep, path: Path) -> None:
    known = _known_runs(path)
    wanted = [run.id for run in sweep.runs]
    runs = [*known, *(name for name in wanted if name not in known)]
    write_json(
        path / SWEEP_FILE, {"name": sweep.name, **sweep.given, "runs": runs, "versions": all_versions()}
    )


def run_sweep(
    sweep: Sweep,
    path: Path,
    executor: Executor,
    *,
    retries: int = 2,
    minutes: int | float | None = None,
    watching: Watching | None = None,
    measured: Sequence[Path] = (),
) -> SweepStanding:
    """Run what the sweep lacks; where every run of it stands in the end.

    With `minutes`, no run is started that the speeds measured so far (in this sweep, and in the run folders
    `measured`) say cannot end in time, and what still runs when time is up is saved and stopped.
    """
    with contextlib.closing(executor):
        read("retries", retries, int, least=0)
        read("minutes", minutes, float | None, least=0)
        path = path.resolve()
        lay_out(sweep, path)
        _Launcher(
            path=path,
            executor=executor,
            retries=retries,
            deadline=None if minutes is None else time.monotonic() + 60 * minutes,
            watching=watching or Watching(),
            measured=measured,
            waiting=list(sweep.runs),
            names=_names(sweep, path),
        ).run()
    return _standing(sweep, path)


@dataclass
class _Launcher:
    path: Path
    executor: Executor
    retries: int
    deadline: float | None
    watching: Watching
    measured: Sequence[Path]
    waiting: list[SweptRun]
    names: Mapping[str, str]
    running: dict[str, SweptRun] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    has_room: bool = True
    waited_for: set[str] = field(default_factory=set)
    watch: LeaseWatch = field(default_factory=LeaseWatch)
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    def run(self) -> None:
        """Start, collect, start again, until nothing is left that can be done."""
        try:
            while self.waiting or self.running:
                later = self._start_what_can_be()
                if not self.running and not later:
                    break  # there is not the time for any that is left
                for outcome in self.executor.ended(SECONDS_BETWEEN_LOOKS):
                    self._take(outcome)
                self.watching.look()
                if self._seconds_left() <= 0:
                    self._stop()
                    break
        except KeyboardInterrupt:
            self._stop()
            raise

    def _start_what_can_be(self) -> bool:
        """Start as many runs as there is room for; whether one is left that waits for more than time."""
        later = False
        for run in list(self.waiting):
            try:
                later |= self._start_if_it_can_be(run)
            except OptacError as error:
                self.waiting.remove(run)
                self.watching.say(f"{self.names[run.id]} is damaged and left alone: {error}")
        return later

    def _start_if_it_can_be(self, run: SweptRun) -> bool:
        """Whether the run has to wait, for another launcher that holds it or for room."""
        # In this order: who held it at the first question and has let go at the second has finished it by then.
        held = holder(self.path / run.id, besides=self.token, watch=self.watch)
        if RunFolder.open(self.path / run.id).is_finished:
            self.waiting.remove(run)
            return False
        if held is not None:
            if run.id not in self.waited_for:
                self.waited_for.add(run.id)
                self.watching.say(f"{self.names[run.id]} is held by {held}; waiting for it")
            return True
        if self.executor.free() <= 0:
            if not self.running and self.has_room:
                self.watching.say("there is no core to run on; waiting for one")
            self.has_room = bool(self.running)
            return True
        self.has_room = True
        if not self._can_end(run):
            return False
        self._start(run)
        return run in self.waiting  # it could not be started, and is tried again

    def _start(self, run: SweptRun) -> None:
        newest = newest_attempt(self.path / run.id)
        task = Task(
            path=str(self.path / run.id),
            attempt=1 if newest is None else newest.number + 1,
            launcher=self.token,
            working_directory=str(Path.cwd()),
            paths=tuple(paths()),
        )
        self.waiting.remove(run)
        self.running[run.id] = run
        try:
            self.executor.start(task)
        except (OSError, NotPlain) as error:  # no process, no memory, no room for its standard error
            self._take(Outcome(task, "died", f"it could not be started: {error}"))

    def _take(self, outcome: Outcome) -> None:
        run = self.running.pop(outcome.task.run)
        for notice in outcome.notices:
            self.watching.say(f"{self.names[run.id]}: {notice}")
        # A worker may die after its last word to the folder and before that to the launcher.
        if outcome.ending == "finished" or _has_finished(self.path / run.id):
            self.watching.say(f"{self.names[run.id]} finished (attempt {outcome.task.attempt})")
            self.watching.finished(self.path / run.id)
        elif outcome.ending == "superseded":
            self.waiting.append(run)
        else:
            self._count_failure(run, outcome)

    def _count_failure(self, run: SweptRun, outcome: Outcome) -> None:
        self.failures[run.id] += 1
        again = self.failures[run.id] <= self.retries
        if again:
            self.waiting.append(run)
        why = f"{outcome.ending} (attempt {outcome.task.attempt}): {outcome.why}"
        # A run that will be tried again waits; one that died could not say so itself.
        with contextlib.suppress(OptacError, OSError):
            if holder(self.path / run.id, besides=self.token) is None:
                RunFolder.open(self.path / run.id).set_status("interrupted" if again else "failed", why)
        then = "it is started again" if again else f"given up after {self.failures[run.id]} attempts"
        self.watching.say(f"{self.names[run.id]} {why.rstrip('.')}; {then}")

    def _stop(self) -> None:
        """Have what runs save and end; it is resumed when the sweep is started again."""
        for outcome in self.executor.stop():
            run = self.running.pop(outcome.task.run)
            if outcome.ending == "finished" or _has_finished(self.path / run.id):
                self.watching.finished(self.path / run.id)
            self.watching.say(f"{self.names[run.id]} {outcome.ending} (attempt {outcome.task.attempt})")

    def _seconds_left(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def _can_end(self, run: SweptRun) -> bool:
        """Whether the time left is enough for a run, at the speed of those measured that are most like it."""
        left = self._seconds_left()
        if left == float("inf"):
            return True
        others = [self.path / name for name in sweep_run_ids(self.path)]
        speed = expected_speed(run.config, [*others, *self.measured])
        if speed is None or run.total is None:
            return left > 0
        return MARGIN * (run.total - run_standing(self.path / run.id).reached) / speed <= left


def _names(sweep: Sweep, path: Path) -> dict[str, str]:
    """How messages call each run: its folder's name, with what the sweep varied."""
    standing = _standing(sweep, path)
    varied = [name for name in standing.varied if name != "seed"] if len(sweep.runs) > 1 else []
    told = {run.id: ", ".join(f"{name}={run.choice(name)}" for name in varied) for run in standing.runs}
    return {name: f"{name} ({text})" if text else name for name, text in told.items()}


def _has_finished(run: Path) -> bool:
    """Whether a run has finished, as far as its folder can be read."""
    try:
        return RunFolder.open(run).is_finished
    except (OptacError, OSError):
        return False
