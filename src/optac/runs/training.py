"""Training an agent in a run's folder: start, resume, evaluate."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from optac import registry
from optac.agents.record import record_of
from optac.agents.training import checkpoints, snapshot
from optac.agents.training.best_checkpoint import BEST
from optac.agents.training.callbacks import require_evaluations, score_of
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.compiled import CompiledAgent, compiled
from optac.agents.training.environment_calls import made
from optac.agents.training.evaluation import evaluate as play
from optac.agents.training.fitting import check_fits
from optac.agents.training.learner import Learner
from optac.agents.training.store import ResumeWarning, learner_of
from optac.environments import make
from optac.errors import InvalidInput, RunFailed
from optac.numpy_policy import Policy
from optac.numpy_policy import load as load_policy
from optac.plain_files import is_there, opened
from optac.runs.continuing import (
    is_dead_end,
    record_asked,
    refuse_another,
    stop_of,
    with_more_steps,
    with_stop,
)
from optac.runs.folder import RunFolder
from optac.runs.json_files import read_json_object
from optac.runs.kinds import TRAIN
from optac.runs.lease import Claim
from optac.runs.running import Interrupted
from optac.runs.training_config import training_config, training_id
from optac.runs.training_result import TrainingResult
from optac.runs.training_run import result_of, run
from optac.settings import whole

__all__ = ["Interrupted", "evaluate", "open_policy", "resume", "train"]

Notice = Callable[[str], None]


def train(
    environment: str,
    agent: str = "crffsac",
    *,
    steps: int,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    out: Path | str | None = None,
    stop_on_reward: float | None = None,
    **watching: Any,
) -> TrainingResult:
    """The result of a new run in `out` (default runs/<id>); bad input is refused before it starts.

    It stops early at an evaluation of `stop_on_reward`, also when it is resumed. `watching` is what `training_run.run`
    takes: on_row, callback, show_progress.
    """
    config = training_config(environment, agent, steps=steps, seed=seed, settings=settings or {})
    config |= stop_of(stop_on_reward)
    chosen = _chosen(config)
    if stop_on_reward is not None:
        require_evaluations(stop_on_reward, chosen.settings)
    with made(environment) as env:
        check_fits(chosen, env)
        with RunFolder.create(Path("runs") / training_id(config) if out is None else out, config) as folder:
            return run(folder, config, chosen, env, None, **watching)


def resume(
    path: Path | str,
    *,
    on_notice: Notice = lambda text: None,
    steps: int | None = None,
    claim: Claim | None = None,
    trust: bool = False,
    stop_on_reward: float | None = None,
    **watching: Any,
) -> TrainingResult:
    """Go on from the newest sound checkpoint; a finished run is left alone and its result returned.

    With `steps`, more than it was asked for before, it goes on to there and ends, to the bit, as a run that was asked
    for as many at once; one that was stopped goes on with as many as before too. It still stops where it was told to,
    or at `stop_on_reward` instead; what has stopped it once does so no more. In a sweep, `claim` is the attempt that
    the launcher asks for. Code that only config.json names is imported with `trust` alone.
    """
    folder = RunFolder.open(path, claim)
    config = TRAIN.config_of(folder)
    with folder, registry.named_by(folder.config_path, trust=trust):
        found = _newest(folder, on_notice, but=partial(is_dead_end, config=config))
        refuse_another(folder, config, found)
        end, finished = _end_of(folder, config), folder.is_finished
        further = steps is not None and steps != end
        if steps is not None and further:
            if found is None and finished:
                raise InvalidInput(
                    f"{folder.path} has no checkpoint to go on from: it is the record of a run"
                )
            config = with_more_steps(folder, config, steps)
            found = _newest(folder, on_notice, but=partial(is_dead_end, config=config))
        elif finished:
            if found is None:
                again = config.get("command", "optac train makes it again")
                raise InvalidInput(
                    f"{folder.path} is the record of a finished run, without its checkpoints: {again}"
                )
            if found.meta.get("step") == end:
                on_notice("this run is finished, and left alone; --steps N takes it on to N steps in all")
                with _learner(config, found) as learner:
                    return result_of(folder, config, learner, exact=bool(found.meta.get("exact", True)))
        if further if finished else stop_on_reward is not None:
            config = with_stop(folder, config, stop_on_reward, found)
        with made(config["environment"]) as env:
            check_fits(chosen := _chosen(config), env)
            record_asked(folder, config)
            return run(folder, config, chosen, env, found, **watching)


def evaluate(
    path: Path | str,
    *,
    episodes: int = 10,
    seed: int = 0,
    on_notice: Notice = lambda text: None,
    trust: bool = False,
    best: bool = False,
) -> TrainingResult:
    """The saved policy on fresh seeds, none that training or its evaluations used; `seed` chooses among them.

    With `best` it is the policy of the run's best evaluation, else the one of its newest checkpoint.
    """
    episodes, seed = whole("episodes", episodes), whole("seed", seed, least=0)
    opened = open_policy(path, on_notice, trust=trust, best=best)
    config = opened.config
    # Training evaluates at places 1 … steps, so the ones after these are fresh.
    with registry.named_by(opened.folder.config_path, trust=trust):
        played = play(
            opened.policy,
            lambda: make(config["environment"]),
            episodes=episodes,
            seed=config["seed"],
            place=config["steps"] + 1 + seed,
            step_timeout=config["settings"].get("step_timeout", 0.0),
            max_steps=config["settings"].get("eval_max_steps"),
        )
    return TrainingResult(
        agent=config["agent"],
        environment=config["environment"],
        seed=config["seed"],
        steps=opened.step,
        mean_reward=played.mean,
        std_reward=played.std,
        episodes=episodes,
        parameters_sha256=opened.parameters_sha256,
        steps_per_second=None,
        exact=opened.exact,
        folder=str(opened.folder.path),
    )


@dataclass(frozen=True)
class OpenPolicy:
    """A run's policy, to look at, and the step it was at then."""

    folder: RunFolder
    config: dict[str, Any]
    policy: Policy
    step: int
    parameters_sha256: str | None
    """a hash of all that was trained; None of the best policy, of which the policy alone is kept"""
    exact: bool | None
    """whether the run is, to the bit, one that was never stopped; None of the best policy"""


def open_policy(
    path: Path | str, on_notice: Notice = print, *, trust: bool = False, best: bool = False
) -> OpenPolicy:
    """A run's policy at its newest sound checkpoint or its best evaluation; nothing in the folder is touched."""
    folder = RunFolder.open(path)
    config = TRAIN.config_of(folder)
    found = _newest(folder, on_notice, replay=False)
    refuse_another(folder, config, found)
    if best:
        return _best_policy(folder, config)
    if found is None:
        raise RunFailed(
            f"{folder.path} has not saved a checkpoint yet; let it train to its first, or `optac resume` it where it "
            "was stopped"
        )
    exact = bool(found.meta.get("exact", True))
    with registry.named_by(folder.config_path, trust=trust), _learner(config, found) as learner:
        digest = snapshot.parameters_sha256(learner)
        return OpenPolicy(folder, config, learner.policy, learner.step, digest, exact)


def _best_policy(folder: RunFolder, config: dict[str, Any]) -> OpenPolicy:
    rows = (row for row in folder.rows() if type(row.get(TRAIN.reached)) is int)
    scored = [(score, row) for row in rows if (score := score_of(row)) is not None]
    if not scored or not is_there(folder.path / BEST):
        raise RunFailed(
            f"{folder.path} has no {BEST}: no evaluation was made yet (eval_every), or by an optac that kept none"
        )
    # The first of several that are equal, as the file was written.
    _, best = max(scored, key=lambda one: one[0])
    with opened(folder.path / BEST, os.O_RDONLY):  # refused where it is no plain file
        policy = load_policy(folder.path / BEST)
    return OpenPolicy(folder, config, policy, best[TRAIN.reached], None, None)


def _end_of(folder: RunFolder, config: Mapping[str, Any]) -> Any:
    """The step at which a run ends: where a callback stopped it, or as far as it was asked for."""
    if not folder.is_finished or not is_there(folder.path / "result.json"):
        return config["steps"]
    return read_json_object(folder.path / "result.json").get("steps", config["steps"])


def _chosen(config: Mapping[str, Any]) -> CompiledAgent:
    record = record_of(config["agent"])
    return compiled(record, record.choose(config["settings"], recorded=True))


@contextmanager
def _learner(config: Mapping[str, Any], found: Checkpoint) -> Iterator[Learner]:
    """The learner of a checkpoint, to look at: its environment is closed after the block."""
    with made(config["environment"]) as env:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResumeWarning)
            learner = learner_of(found, _chosen(config), env)
        yield learner


def _newest(folder: RunFolder, on_notice: Notice, **which: Any) -> Checkpoint | None:
    """The newest sound checkpoint, with a notice for each damaged one; None where none was ever saved."""
    found, damage = checkpoints.newest_sound(folder.checkpoints, **which)
    if found is None and damage:
        raise RunFailed(
            f"no sound checkpoint is left in {folder.checkpoints}; start the run anew. {damage[0]}"
        )
    for error in damage:
        then = "its rows are dropped" if found is not None and found.damaged else "using the one before it"
        on_notice(f"{error}; {then}")
    return found
