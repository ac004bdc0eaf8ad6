"""All that an algorithm may see of a problem: its sizes, its known rewards, a model class, and episodes to play."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Pairs, Phi, Probabilities, Rewards, StateDistribution
from optac.errors import OptacError
from optac.mdp import LowRankMDP, SmoothWalk
from optac.mdp.policies import uniform_policy
from optac.models import LowRankModel
from optac.oracles import ModelClass


class EpisodesSpent(OptacError):
    """The next episodes would exceed the cap on episodes."""


@dataclass(frozen=True)
class Sizes:
    """The sizes that an algorithm's constants may depend on."""

    horizon: int
    states: int
    actions: int
    rank: int
    iterations: int
    log_class_size: float
    episodes: int | None = None
    """the cap on episodes, which explore-then-commit algorithms divide among their rounds"""
    continuous: bool = False
    """states are points of R^D, and `states` counts the points of the grid that critics are kept on"""
    rich: bool = False
    """only observations are seen, and `states` counts the latents that a model may have"""


class Handle:
    """A problem without its truth.

    `initial`, the paper's fixed s_1 or its distribution, is known as the rewards are. `features` are there
    for the algorithms that assume them known, else None. Where states are continuous, `states` counts the points
    of a grid on which policies, rewards and critics are kept; episodes leave the grid.
    """

    def __init__(
        self,
        problem: LowRankMDP | SmoothWalk,
        model_class: ModelClass,
        *,
        rho: Float[np.ndarray, "state action"],
        rng: np.random.Generator,
        episodes: int | None = None,
        features: Phi | None = None,
    ) -> None:
        self.horizon, self.states, self.actions = problem.shape
        self.rewards: Rewards = problem.rewards
        self.initial: StateDistribution = problem.initial
        self.model_class = model_class
        self.rho = rho
        self.features = features
        self.episodes_played = 0
        self._simulator = problem.simulator
        self._pairs = problem.pairs
        self._continuous = isinstance(problem, SmoothWalk)
        self._rng = rng
        self._cap = episodes

    def saved(self) -> dict[str, Any]:
        """What changes in a handle as episodes are played."""
        return {"episodes": self.episodes_played, "environment": self._rng}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from there."""
        self.episodes_played = saved["episodes"]
        self._rng.bit_generator.state = saved["environment"].bit_generator.state

    def sizes(self, iterations: int) -> Sizes:
        samples = iterations * self.horizon
        log_size = self.model_class.log_size(self.horizon, self.states, self.actions, samples)
        rank = self.model_class.rank if self.features is None else self.features.shape[-1]
        sizes = self.horizon, self.states, self.actions, rank, iterations, float(log_size), self._cap
        return Sizes(*sizes, continuous=self._continuous)

    def uniform_policy(self) -> Any:
        """What is played before anything is learnt."""
        return uniform_policy(self.horizon, self.states, self.actions)

    def rewards_in(self, model: LowRankModel) -> Rewards:
        """The known rewards, or what the model has learnt of them."""
        return self.rewards if model.rewards is None else model.rewards

    def initial_in(self, model: LowRankModel) -> StateDistribution:
        """The known start, or what the model has learnt of it."""
        return self.initial if model.initial is None else model.initial

    def draw_pairs(self, count: int, rng: np.random.Generator) -> Pairs:
        """Rows (s, a) drawn from ρ."""
        return self._pairs(rng.choice(self.rho.size, size=count, p=self.rho.ravel()), rng)

    def play(
        self,
        policies: Float[np.ndarray, "member horizon state action"],
        member: Int[np.ndarray, " batch"],
        uniform: Bool[np.ndarray, "horizon batch"] | None = None,
    ) -> Any:
        """Trajectories in which episode i follows policies[member[i]], with uniform actions where `uniform` says so."""
        if self._cap is not None and self.episodes_played + len(member) > self._cap:
            raise EpisodesSpent(f"{self.episodes_played} of {self._cap} episodes are played")
        self.episodes_played += len(member)
        return self._simulator.play(policies, self._rng, member=member, uniform=uniform)

    def play_one(self, policy: Probabilities, episodes: int) -> Any:
        """Episodes of one policy."""
        return self.play(policy[None], np.zeros(episodes, dtype=np.int64))

    def roll_in(self, policy: Probabilities) -> Any:
        """RI(π, h) for every step h, episode h for step h: π, but uniform actions at h − 1 and h, then π again."""
        step, episode = np.indices((self.horizon, self.horizon))
        uniform = (step == episode) | (step == episode - 1)
        return self.play(policy[None], np.zeros(self.horizon, dtype=np.int64), uniform)
