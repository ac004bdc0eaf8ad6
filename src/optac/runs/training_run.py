"""One training run at work in its folder: rows, checkpoints and a truthful status, whatever ends it."""

import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from optac.agents.algorithm import Algorithm
from optac.agents.training import snapshot
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.environment_calls import Env
from optac.agents.training.learner import begin
from optac.agents.training.loop import Row
from optac.agents.training.loop import train as run_loop
from optac.agents.training.progress import Progress
from optac.agents.training.store import CheckpointStore
from optac.environments import make
from optac.errors import RunFailed, Terminated
from optac.runs.folder import RunFolder, write_json
from optac.runs.lease import FencedOff
from optac.runs.provenance import made_by
from optac.runs.tensorboard import event_writer
from optac.runs.training_result import TrainingResult


class Interrupted(RunFailed):
    """A signal ended the run after it had saved; `exit_code` is 128 plus the signal's number."""

    def __init__(self, number: int, folder: Path) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}; `optac resume {folder}` goes on")
        self.exit_code = 128 + number


@dataclass(frozen=True)
class Watching:
    """Who looks on while a run goes: a callback for each row, a progress bar, TensorBoard."""

    on_row: Callable[[Row], None] = lambda row: None
    show_progress: bool = False
    tensorboard: bool = False


def run(
    folder: RunFolder,
    config: Mapping[str, Any],
    chosen: Algorithm,
    env: Env,
    found: Checkpoint | None,
    watching: Watching,
) -> TrainingResult:
    """Run to the end from `found` or from step 0, leaving status.json truthful whatever happens."""
    try:
        if found is None:
            folder.note_beginning()
        folder.set_status("running")
        with _signals() as caught:
            result = _train(folder, config, chosen, env, found, watching, caught)
        folder.check()
        write_json(folder.path / "result.json", {**result.record(), **made_by()})
        folder.set_status("finished")
        return result
    except FencedOff:
        raise
    except Interrupted as error:
        folder.set_status("interrupted", str(error))
        raise
    except KeyboardInterrupt:
        folder.set_status("interrupted", "a second signal ended it at once, without saving")
        raise
    except OSError as error:
        _say_failed(folder, f"{type(error).__name__}: {error}")
        raise RunFailed(
            f"{folder.path}: {error.strerror or error}; mend it and `optac resume` the run"
        ) from error
    except Exception as error:
        _say_failed(folder, f"{type(error).__name__}: {error}")
        raise
    finally:
        env.close()


def result_of(
    folder: RunFolder, config: Mapping[str, Any], steps: int, sha256: str, *, speed: float | None, exact: bool
) -> TrainingResult:
    """The result of a run at `steps`, its evaluation the last one in the rows."""
    evaluated = [row for row in folder.rows() if "eval/mean_reward" in row]
    last = evaluated[-1] if evaluated else {}
    return TrainingResult(
        agent=config["agent"],
        environment=config["environment"],
        seed=config["seed"],
        steps=steps,
        mean_reward=last.get("eval/mean_reward"),
        std_reward=last.get("eval/std_reward"),
        episodes=config["settings"]["eval_episodes"] if evaluated else 0,
        parameters_sha256=sha256,
        steps_per_second=speed,
        exact=exact,
        folder=str(folder.path),
    )


def _train(
    folder: RunFolder,
    config: Mapping[str, Any],
    chosen: Algorithm,
    env: Env,
    found: Checkpoint | None,
    watching: Watching,
    caught: list[int],
) -> TrainingResult:
    store, total = CheckpointStore(folder.checkpoints), config["steps"]
    learner = begin(chosen, env, config["seed"]) if found is None else store.take_up(found, chosen, env)
    folder.cut(lambda row: int(row["time/total_timesteps"]) <= learner.step)
    receivers = [folder.append, watching.on_row]
    if watching.tensorboard:
        receivers.append(event_writer(folder.path / "tensorboard", learner.step))
    started, first = time.perf_counter(), learner.step

    def save() -> None:
        folder.check()
        folder.flush_rows()
        store.save(learner, folder.check)

    def pass_on(row: Row) -> None:
        for receive in [*receivers, progress.row]:
            receive(row)

    with Progress(first, total, show=watching.show_progress) as progress:
        complete = run_loop(
            learner,
            total,
            make_env=lambda: make(config["environment"]),
            on_row=pass_on,
            on_block=progress.step,
            on_checkpoint=save,
            should_stop=lambda: bool(caught),
        )
    if not complete:
        save()
        raise Interrupted(caught[0], folder.path)
    seconds = time.perf_counter() - started
    speed = (learner.step - first) / seconds if seconds > 0 else None
    sha256 = snapshot.parameters_sha256(learner)
    return result_of(folder, config, learner.step, sha256, speed=speed, exact=learner.exact)


def _say_failed(folder: RunFolder, why: str) -> None:
    """Note the failure; a disk too full even for this must not hide the failure itself."""
    try:
        folder.set_status("failed", why)
    except OSError as error:
        warnings.warn(f"cannot write {folder.path}/status.json: {error}", stacklevel=2)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """The SIGINTs and SIGTERMs caught so far; the loop looks between two blocks, then saves and ends.

    A second one ends the run at once: an environment may never come back to the loop.
    """
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if len(caught) > 1:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    try:
        before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: signals are somebody else's
        yield caught
        return
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
