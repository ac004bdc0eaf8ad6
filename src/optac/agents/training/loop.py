"""The loop around a learner: rows of metrics, evaluations and checkpoints when they are due."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from optac.agents.settings import AgentSettings
from optac.agents.training.diagnosis import diagnosis
from optac.agents.training.environment_calls import Env
from optac.agents.training.evaluation import evaluate
from optac.agents.training.learner import Learner
from optac.errors import OptacWarning, RunFailed

Row = dict[str, Any]


class NothingLearnt(OptacWarning):
    """A training ends before its first update."""


def train(
    learner: Learner,
    total: int,
    *,
    make_env: Callable[[], Env],
    on_row: Callable[[Row], None],
    on_block: Callable[[int], None] = lambda step: None,
    on_checkpoint: Callable[[], None] = lambda: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Advance `learner` to step `total`; False when `should_stop` ended it before, between two blocks.

    A row comes before the checkpoint of its step, so that a run resumed from the checkpoint has the row.
    """
    settings = learner.chosen.settings
    _warn_of_no_update(settings, total)
    started, steps_before = time.perf_counter(), learner.step
    while learner.step < total:
        if should_stop():
            return False
        before = learner.step
        learner.advance(total)
        last = learner.step == total
        evaluating = settings.eval_every > 0 and (last or _due(settings.eval_every, before, learner.step))
        if last or evaluating or _due(settings.log_every, before, learner.step):
            row = _row(learner, _rate(learner.step - steps_before, time.perf_counter() - started))
            if evaluating:
                row |= _evaluation(learner, make_env)
            on_row(row)
            started, steps_before = time.perf_counter(), learner.step
        if last or _due(settings.checkpoint_every, before, learner.step):
            on_checkpoint()
        on_block(learner.step)
    return True


def _warn_of_no_update(settings: AgentSettings, total: int) -> None:
    if total < settings.first_update:
        warnings.warn(
            f"no policy is learnt in {total} steps: its first update comes after {settings.first_update}; take more "
            f"steps or set learning_starts={settings.learning_starts} lower",
            NothingLearnt,
            stacklevel=3,
        )


def ends_like_a_longer_run(settings: AgentSettings, total: int) -> bool:
    """Whether a run of `total` steps is, at its end, where one that goes further is at that step."""
    before = total - settings.updates_per_dispatch
    evaluated = settings.eval_every > 0 and _due(settings.eval_every, before, total)
    row = evaluated or (settings.eval_every == 0 and _due(settings.log_every, before, total))
    return total % settings.updates_per_dispatch == 0 and row


def _due(every: int, before: int, now: int) -> bool:
    return now // every > before // every


def _rate(steps: int, seconds: float) -> float:
    """Steps per second; 0 where the clock stood still or went back."""
    return steps / seconds if seconds > 0 else 0.0


def _row(learner: Learner, steps_per_second: float) -> Row:
    episodes = learner.episodes
    row: Row = {"time/total_timesteps": learner.step, "time/fps": steps_per_second}
    if episodes.returns:
        row |= {
            "rollout/ep_rew_mean": float(np.mean(episodes.returns)),
            "rollout/ep_len_mean": float(np.mean(episodes.lengths)),
        }
    return row | learner.take_infos() | diagnosis(learner)


def _evaluation(learner: Learner, make_env: Callable[[], Env]) -> Row:
    settings = learner.chosen.settings
    try:
        played = evaluate(
            learner.policy,
            make_env,
            episodes=settings.eval_episodes,
            seed=learner.seed,
            place=learner.step,
            step_timeout=settings.step_timeout,
            max_steps=settings.eval_max_steps,
        )
    except RunFailed as error:
        raise RunFailed(f"in the evaluation at step {learner.step}: {error}") from error
    return played.row()
