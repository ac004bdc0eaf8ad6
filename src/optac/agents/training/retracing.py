"""The steps before a checkpoint, taken again on resuming: an environment that repeats them is the one that was saved.

What an environment is made of can only be guessed from outside: a part of its state may be where no checkpoint sees it.
So a learner marks where its environment is every hundred steps, and a checkpoint keeps such a mark from a hundred to
two hundred steps before it. From there the actions that replay remembers must lead again to the observations and
rewards that it remembers, and to the state that the checkpoint holds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optac.agents.parts.replay import Replay, Rows
from optac.agents.training.environment_calls import Env, checked_observation, restarted, stepped
from optac.environments import UnsavableState, restore_state, save_state, state_difference
from optac.errors import Interrupted, InvalidInput, RunFailed

STEPS_BETWEEN_MARKS = 100
ToEnv = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Mark:
    """The state of an environment when replay had had so many rows."""

    row: int
    state: Mapping[str, Any]


@dataclass
class Trail:
    """The last two marks of a run."""

    marks: list[Mark] = field(default_factory=list)

    def note(self, replay: Replay, env: Env) -> None:
        """Mark this place where the last mark is far enough away, but not so far that its rows are gone too soon."""
        apart = min(STEPS_BETWEEN_MARKS, replay.capacity // 2)
        if self.marks and replay.added - self.marks[-1].row < apart:
            return
        try:
            self.marks = [*self.marks[-1:], Mark(replay.added, save_state(env))]
        except UnsavableState:
            self.marks = []

    def mark_since(self, row: int) -> Mark | None:
        """The older mark, where it is not older than this row, or the other."""
        return next((mark for mark in self.marks if mark.row >= row), None)


@dataclass(frozen=True)
class Steps:
    """What is known of the steps from a mark to a checkpoint: rows of replay, and where they ended."""

    mark: Mark
    rows: Rows
    observation: np.ndarray
    state: Mapping[str, Any]

    def difference(self, env: Env, to_env: ToEnv, timeout: float, heed: Callable[[], None]) -> str | None:
        """Why `env`, taken from the mark along the rows, is not where it was saved; None where it is, to the bit.

        `to_env` maps actions to their bounds; `heed` is called before each step, and may raise. An environment that
        differs is left wherever that showed.
        """
        try:
            why = self._retraced(env, to_env, timeout, heed)
        except Interrupted:
            raise
        except (InvalidInput, RunFailed) as error:
            why = str(error)
        count = len(self.rows.action)
        return None if why is None else f"the {count} steps before the checkpoint are not repeated ({why})"

    def _retraced(self, env: Env, to_env: ToEnv, timeout: float, heed: Callable[[], None]) -> str | None:
        restore_state(env, dict(self.mark.state))
        shape, rows = self.observation.shape, self.rows
        for number, then in enumerate([*rows.obs[1:], self.observation] if len(rows.action) else ()):
            heed()
            action = to_env(rows.action[number])
            seen, reward, terminated, truncated = stepped(
                env, action, shape, number, timeout=timeout, what="the environment's step"
            )
            told = [seen, np.float32(reward), np.float32(terminated)]
            if terminated or truncated:
                seen = checked_observation(restarted(env, number, timeout), shape, number)
            known = [rows.next_obs[number], rows.reward[number], rows.terminated[number], then]
            if [one.tobytes() for one in (*told, seen)] != [one.tobytes() for one in known]:
                return "the environment answers otherwise"
        attribute = state_difference(self.state, save_state(env))
        return None if attribute is None else f"{attribute} becomes another"
