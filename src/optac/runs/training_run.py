"""One training run at work in its folder: rows, checkpoints and a truthful status, whatever ends it."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from optac.agents.training import snapshot
from optac.agents.training.best_checkpoint import BestCheckpoint
from optac.agents.training.callbacks import (
    Callbacks,
    Given,
    StopBelow,
    StopOnReward,
    Training,
    several,
)
from optac.agents.training.checkpoint import Checkpoint, read_as_ours
from optac.agents.training.compiled import CompiledAgent
from optac.agents.training.deadline import last_words
from optac.agents.training.environment_calls import Env
from optac.agents.training.learner import Learner, begin
from optac.agents.training.loop import Row
from optac.agents.training.loop import train as run_loop
from optac.agents.training.progress import training_progress
from optac.agents.training.store import CheckpointStore
from optac.environments import make
from optac.provenance import made_by
from optac.runs.command_lines import resume_command
from optac.runs.continuing import step_of
from optac.runs.folder import RunFolder
from optac.runs.json_files import write_json
from optac.runs.running import Interrupted, at_work
from optac.runs.sealed_config import STOP, sealed_config
from optac.runs.training_result import TrainingResult
from optac.signals import noted


def run(
    folder: RunFolder,
    config: Mapping[str, Any],
    chosen: CompiledAgent,
    env: Env,
    found: Checkpoint | None,
    *,
    on_row: Callable[[Row], None] = lambda row: None,
    callback: Given | Iterable[Given] | None = None,
    show_progress: bool = False,
) -> TrainingResult:
    """Run from `found` or from step 0 to the end, or to where a callback stops it; the best policy is kept too."""
    store, total = CheckpointStore(folder.checkpoints, sealed_config(config)), config["steps"]
    failed = partial(folder.set_status, "failed")
    with at_work(folder) as work, last_words(failed), noted() as caught:

        def heed() -> None:
            if caught.heard():
                raise Interrupted(caught[0], resume_command(folder.path, config))

        if found is None:
            folder.note_beginning()
            learner = begin(chosen, env, config["seed"])
        else:
            learner = store.take_up(found, chosen, env, _changed_rows(folder, found), heed)
        first, started = learner.step, time.perf_counter()
        folder.cut(lambda row: step_of(row, folder) <= first)
        watched = Training(learner, total, folder.rows(), folder.path)
        stops: list[Given] = [StopBelow(config["bars"])] if config.get("bars") else []
        stops += [StopOnReward(config[STOP])] if STOP in config else []
        callbacks = Callbacks.of(watched, [BestCheckpoint(), *several(callback), *stops])

        def save() -> None:
            folder.check()
            folder.flush_rows()
            if store.save(learner, folder.check, rows=folder.rows_seal()):
                callbacks.checkpoint()

        def pass_on(row: Row) -> None:
            for receive in (folder.append, callbacks.row, on_row, progress.row):
                receive(row)

        callbacks.start()
        with training_progress(first, total, show=show_progress) as progress:
            complete = run_loop(
                learner,
                total,
                make_env=lambda: make(config["environment"]),
                on_row=pass_on,
                on_block=progress.step,
                on_checkpoint=save,
                should_stop=lambda: caught.heard() or watched.why is not None,
            )
        if not complete:
            save()
            heed()
            work.stopped = watched.why
        callbacks.end()
        seconds = time.perf_counter() - started
        speed = (learner.step - first) / seconds if seconds > 0 else None
        result = result_of(folder, config, learner, speed=speed, exact=learner.exact)
        folder.check()
        write_json(folder.path / "result.json", {**result.record(), **made_by()})
    return result


def _changed_rows(folder: RunFolder, found: Checkpoint) -> list[str]:
    """Why a run that goes on from a checkpoint will not have the rows that it had there."""
    with read_as_ours(found):
        seal, step = found.meta.get("rows"), int(found.meta["step"])
        size = folder.size_kept(lambda row: step_of(row, folder) <= step)
        same = seal is None or folder.rows_seal(size) == seal
    return [] if same else [f"{folder.metrics_path} is not what was written up to the checkpoint"]


def result_of(
    folder: RunFolder,
    config: Mapping[str, Any],
    learner: Learner,
    *,
    speed: float | None = None,
    exact: bool = True,
) -> TrainingResult:
    """The result of a run, with the last evaluation in its rows."""
    last = next((row for row in reversed(folder.rows()) if "eval/mean_reward" in row), None) or {}
    return TrainingResult(
        agent=config["agent"],
        environment=config["environment"],
        seed=config["seed"],
        steps=learner.step,
        mean_reward=last.get("eval/mean_reward"),
        std_reward=last.get("eval/std_reward"),
        episodes=config["settings"]["eval_episodes"] if last else 0,
        parameters_sha256=snapshot.parameters_sha256(learner),
        steps_per_second=speed,
        exact=exact,
        folder=str(folder.path),
    )
