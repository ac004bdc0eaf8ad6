"""What an algorithm may see of a problem that shows observations only: no table, no rewards, episodes to play."""

from typing import Any

import numpy as np

from optac.algorithms.loop.handle import EpisodesSpent, Handle, Sizes
from optac.array_types import Array
from optac.mdp.policies import uniform_policy
from optac.mdp.rich_problem import ObservationPolicy, RichProblem, RichTrajectories
from optac.models import DecodedPolicy, RichClass
from optac.models.rich import Decoders


def episodes_a_round(horizon: int) -> int:
    """One roll-in a step, and half as many episodes of the policy itself."""
    return horizon + horizon // 2


class RichHandle(Handle):
    """`states` counts the latents that the class may use; rewards and start are the model's to learn.

    Beside RI(π, h) for every step h a round plays ⌊H/2⌋ episodes of π: RI(π, H + 1), which the last step's Gram matrix
    asks for. The roll-ins of early steps end where their uniform actions lead; these see the last steps.
    """

    def __init__(
        self, problem: RichProblem, model_class: RichClass, *, rng: np.random.Generator, episodes: int | None
    ) -> None:
        self.horizon, self.states, self.actions = problem.horizon, model_class.rank, problem.actions
        self.model_class = model_class
        self.features = None
        self.episodes_played = 0
        self.rho = np.full((self.states, self.actions), 1.0 / (self.states * self.actions))
        self._dim = problem.dim
        self._simulator: Any = problem.simulator
        self._pairs = self._latent_pairs
        self._rng, self._cap = rng, episodes

    def sizes(self, iterations: int) -> Sizes:
        samples = iterations * episodes_a_round(self.horizon)
        log_size = self.model_class.log_size(self.horizon, self.states, self.actions, samples)
        sizes = self.horizon, self.states, self.actions, self.states, iterations, log_size, self._cap
        return Sizes(*sizes, rich=True)

    def _latent_pairs(self, drawn: Array, rng: np.random.Generator) -> Array:
        """Rows (z, a) for draws from a distribution over the flattened table of them."""
        return np.stack(np.unravel_index(drawn, (self.states, self.actions)), axis=-1)

    def uniform_policy(self) -> DecodedPolicy:
        """What is played before anything is learnt."""
        decoders = Decoders.first(self.horizon, self._dim, self.states)
        return DecodedPolicy(decoders, uniform_policy(self.horizon, self.states, self.actions))

    def roll_in(self, policy: ObservationPolicy) -> RichTrajectories:  # type: ignore[override]
        """RI(π, h) for every step h, and ⌊H/2⌋ episodes of π."""
        step, episode = np.indices((self.horizon, episodes_a_round(self.horizon)))
        roll_in = episode < self.horizon
        uniform = roll_in & ((step == episode) | (step == episode - 1))
        if self._cap is not None and self.episodes_played + uniform.shape[1] > self._cap:
            raise EpisodesSpent(f"{self.episodes_played} of {self._cap} episodes are played")
        self.episodes_played += uniform.shape[1]
        return self._simulator.play(policy, self._rng, uniform=uniform)
