"""The training loop's unit: some steps in the environment, then as many updates in one compiled call.

A learner holds everything that determines the rest of its run. Time limits bootstrap and terminations do not;
actions are rescaled from [−1, 1] to the environment's bounds; nothing but finite numbers gets past it.
"""

from copy import copy
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import jax
import numpy as np
from gymnasium.spaces import Box
from jaxtyping import Float

from optac.agents.parts.replay import Replay
from optac.agents.parts.statistics import Returns, RunningMoments, Statistics
from optac.agents.parts.transitions import Transitions
from optac.agents.record import Block
from optac.agents.training.compiled import CompiledAgent, State
from optac.agents.training.environment_calls import Env, checked_observation, restarted, stepped
from optac.agents.training.fitting import check_fits
from optac.agents.training.retracing import Trail
from optac.agents.training.soundness import refuse_outliers, refuse_unsound
from optac.environments import surroundings
from optac.errors import InvalidInput, RunFailed
from optac.numpy_policy import Policy
from optac.settings import LARGEST, read

_STREAMS = {"actions": 0, "environment": 1, "evaluation": 2}
_EPISODES_REMEMBERED = 100


@dataclass
class Episodes:
    """The episode under way and the last hundred finished ones."""

    total_return: float = 0.0
    length: int = 0
    finished: int = 0
    returns: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def step(self, reward: float, ended: bool) -> None:
        """Count one step."""
        self.total_return += reward
        self.length += 1
        if ended:
            self.returns = [*self.returns, self.total_return][-_EPISODES_REMEMBERED:]
            self.lengths = [*self.lengths, self.length][-_EPISODES_REMEMBERED:]
            self.finished += 1
            self.total_return, self.length = 0.0, 0


@dataclass
class Learner:
    """An agent in its environment, at some step of its run."""

    chosen: CompiledAgent
    env: Env
    seed: int
    state: State
    replay: Replay
    generator: np.random.Generator
    next_obs_moments: RunningMoments
    reward_moments: RunningMoments
    returns: Returns
    observation: Float[np.ndarray, " obs"]
    step: int = 0
    episodes: Episodes = field(default_factory=Episodes)
    info_sums: dict[str, float] = field(default_factory=dict)
    info_count: int = 0
    exact: bool = True  # to the bit the learner that was never stopped and taken up again
    trail: Trail = field(default_factory=Trail)
    adrift: bool = False  # a block was broken off: where the environment is, nobody knows

    def __post_init__(self) -> None:
        self.policy = self._policy()
        self.surroundings = surroundings(self.env)

    def block_end(self, total: int) -> int:
        """The step at which the present block ends: the next multiple of its length, or the run's end."""
        length = self.chosen.settings.updates_per_dispatch
        return min((self.step // length + 1) * length, total)

    def advance(self, total: int) -> None:
        """Play one block, then make one update for each of its steps past the random start.

        One that an error or Ctrl-C breaks off counts for nothing, and the next one begins a new episode.
        """
        if self.adrift:
            self._begin_episode()
        before, replay = self._before_block(), self.replay.before(self.block_end(total) - self.step)
        try:
            self._play_and_learn(total)
        except BaseException:
            vars(self).update(before)
            self.replay.undo(replay)
            self.adrift, self.exact = True, False
            raise

    def _before_block(self) -> dict[str, Any]:
        """What a block changes, but for the environment, replay and the generator, whose numbers are spent."""
        returns = copy(self.returns)
        returns.moments = copy(returns.moments)
        return {
            "step": self.step,
            "state": self.state,
            "policy": self.policy,
            "next_obs_moments": copy(self.next_obs_moments),
            "reward_moments": copy(self.reward_moments),
            "returns": returns,
            "episodes": copy(self.episodes),
            "info_sums": copy(self.info_sums),
            "info_count": self.info_count,
        }

    def _begin_episode(self) -> None:
        first = restarted(self.env, self.step, self.chosen.settings.step_timeout)
        self.observation = checked_observation(first, self.observation.shape, self.step)
        self.episodes.total_return, self.episodes.length = 0.0, 0
        self.returns.total, self.returns.length = 0.0, 0
        self.adrift, self.trail = False, Trail()

    def _play_and_learn(self, total: int) -> None:
        """One block. Updates come in rounds of `actor_every`; one that is not full when the delay ends is not made."""
        start, end = self.step, self.block_end(total)
        self.trail.note(self.replay, self.env)
        discounted = [self._interact() for _ in range(end - start)]
        rows = self.replay.between(self.replay.added - (end - start), self.replay.added)
        if self.chosen.settings.normalise:
            refuse_outliers(rows.next_obs, self.next_obs_moments, first_step=start)
        self.next_obs_moments.add(rows.next_obs)
        self.reward_moments.add(rows.reward)
        self.returns.moments.add(np.array(discounted))
        self._between_blocks(start)
        rounds = self._rounds_by(end) - self._rounds_by(start)
        if rounds > 0:
            self._update(self.chosen, rounds)
        undelayed = self._undelayed_by(end) - self._undelayed_by(start)
        if undelayed > 0:
            self._update(self.chosen.undelayed, undelayed)
        self.policy = self._policy()

    def statistics(self) -> Statistics:
        """The statistics of the data that the updates are given."""
        return Statistics(
            self.next_obs_moments.mean.astype(np.float32),
            self.next_obs_moments.std().astype(np.float32),
            np.asarray(self.reward_moments.std(), np.float32),
            np.asarray(self.returns.spread(), np.float32),
            np.asarray(self.returns.best, np.float32),
        )

    def take_infos(self) -> dict[str, float]:
        """Means over the updates since the last call."""
        means = {f"train/{name}": total / self.info_count for name, total in self.info_sums.items()}
        self.info_sums, self.info_count = {}, 0
        return means

    def _policy(self) -> Policy:
        """The actor on the host: one observation at a time, without the cost of a call into XLA."""
        box = self.env.action_space
        assert isinstance(box, Box)
        record, settings = self.chosen.record, self.chosen.settings
        parts = record.policy(settings, self.state, self.statistics())
        return Policy(**parts, action_low=box.low, action_high=box.high)

    def _rounds_by(self, step: int) -> int:
        """How many rounds of `actor_every` updates there is a step each for, from the random start to `delay_ends`."""
        settings = self.chosen.settings
        return max(0, min(step, settings.delayed_until) - settings.learning_starts) // settings.actor_every

    def _undelayed_by(self, step: int) -> int:
        """How many updates with the actor's turn at each there is a step for, from `delay_ends` on."""
        settings = self.chosen.settings
        return max(0, step - max(settings.delayed_until, settings.learning_starts))

    def _interact(self) -> float:
        """One step in the environment; the episode's discounted return after it."""
        settings = self.chosen.settings
        action = self._choose_action()
        next_obs, reward, terminated, truncated = stepped(
            self.env,
            self.policy.to_env(action),
            self.observation.shape,
            self.step,
            timeout=settings.step_timeout,
            what="the environment's step",
        )
        self.replay.add(self.observation, action, reward, next_obs, terminated)
        self.episodes.step(reward, terminated or truncated)
        discounted = self.returns.step(reward, terminated=terminated, truncated=truncated)
        self.step += 1
        if terminated or truncated:
            first = restarted(self.env, self.step, settings.step_timeout)
            next_obs = checked_observation(first, self.observation.shape, self.step)
        self.observation = next_obs
        return discounted

    def _choose_action(self) -> Float[np.ndarray, " act"]:
        settings = self.chosen.settings
        random = self.step < settings.learning_starts
        if not random and settings.uniform_probability > 0:
            random = self.generator.random() < settings.uniform_probability
        if random:
            return self.generator.uniform(-1, 1, self.policy.action_low.size).astype(np.float32)
        return self.policy.sample(self.observation, generator=self.generator)

    def _update(self, chosen: CompiledAgent, count: int) -> None:
        slots = self.replay.draw(chosen.batches, generator=self.generator)
        batches = Transitions.at(self.replay, slots, chosen.settings)
        state, told, finite = chosen.updates(self.state, batches, self.statistics(), count)
        values = {name: np.asarray(column)[:count] for name, column in told.info._asdict().items()}
        every = chosen.settings.actor_every
        refuse_unsound(values, finite, steps=range(self.step - (count - 1) * every, self.step + 1, every))
        self.state = state
        if told.priorities is not None:
            self._prioritise(slots[:count, :, -1], np.asarray(told.priorities)[:count])
        self.info_count += count
        for name, column in values.items():
            self.info_sums[name] = self.info_sums.get(name, 0.0) + float(column.sum(dtype=np.float64))

    def _prioritise(self, slots: np.ndarray, priorities: np.ndarray) -> None:
        try:
            self.replay.prioritise(slots, priorities)
        except ValueError as error:
            raise RunFailed(
                f"{error} at step {self.step}: fix `priorities` of the agent {self.chosen.record.name!r}"
            ) from error

    def _between_blocks(self, before: int) -> None:
        hook = self.chosen.record.between_blocks
        if hook is not None:
            block = Block(before, self.step, self.replay, self.generator, self.statistics())
            self.state = hook(self.chosen.settings, self.state, block)


def begin(chosen: CompiledAgent, env: Env, seed: SupportsIndex) -> Learner:
    """A learner at step 0: fresh networks, the environment reset."""
    seed = int(read("seed", seed, int, least=0, most=LARGEST))
    observations, obs, act = check_fits(chosen, env)
    timeout = chosen.settings.step_timeout
    first = restarted(env, 0, timeout, seed=stream_seed(seed, "environment"))
    return Learner(
        chosen=chosen,
        env=env,
        seed=seed,
        state=chosen.init(obs, act, key=_key(seed)),
        replay=Replay.empty(chosen.settings.replay_capacity, obs, act),
        generator=np.random.default_rng(stream_seed(seed, "actions")),
        next_obs_moments=RunningMoments.empty((obs,)),
        reward_moments=RunningMoments.empty(()),
        returns=Returns(chosen.settings.discount, RunningMoments.empty(())),
        observation=_first_observation(first, observations),
    )


def _key(seed: int) -> jax.Array:
    """JAX's own takes the last 32 bits of a seed alone."""
    last, others = seed % 2**32, seed // 2**32
    return jax.random.fold_in(jax.random.key(last), others) if others else jax.random.key(last)


def stream_seed(seed: int, stream: str, *place: int) -> int:
    """A seed for one use of randomness, independent of the others; `place` tells repeated uses apart."""
    return int(np.random.SeedSequence((seed, _STREAMS[stream], *place)).generate_state(1)[0])


def _first_observation(given: Any, box: Box) -> Float[np.ndarray, " obs"]:
    if np.shape(given) != box.shape:
        raise InvalidInput(
            f"the environment's reset returned an observation of shape {np.shape(given)}, but its "
            f"observation space says {box.shape}; make the two agree"
        )
    return checked_observation(given, box.shape, 0)
