"""A low-rank MDP whose truth is known: T_h(s'|s,a) = ⟨φ_h(s,a), μ_h(s')⟩, one factorisation per step."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from optac.array_types import Rewards, Transitions
from optac.mdp import validation
from optac.mdp.exact_problem import ExactProblem, read_only
from optac.mdp.sampling import Simulator
from optac.mdp.values import Factors, Kernel, check_table, is_large
from optac.settings import require_memory

if TYPE_CHECKING:
    from optac.mdp.gymnasium_conversion import TabularEnv


class LowRankMDP(ExactProblem):
    """An episodic MDP of finite horizon with known factors, known rewards in [0, 1] and exact values."""

    def __init__(
        self,
        phi: Any,
        mu: Any,
        rewards: Any,
        initial_state: Any = 0,
        *,
        name: str = "arrays",
        parameters: Mapping[str, Any] | None = None,
        reward_scale: float = 1.0,
        reward_offset: float = 0.0,
        features: Any = None,
    ) -> None:
        """`features` (S, p), where states come with vectors that say something of them, are what a learner may see.

        `reward_scale` and `reward_offset` undo the map into [0, 1]: original = scale·r + offset, a step.
        """
        self.phi = validation.frozen_copy(phi, "phi", "(H, S, A, d)")
        self.mu = validation.frozen_copy(mu, "mu", "(H, d, S)")
        rewards = validation.frozen_copy(rewards, "rewards", "(H, S, A)")
        validation.check_shapes(self.phi, self.mu, rewards)
        require_memory(rewards.nbytes, "a policy", "the horizon, the states or the actions")
        validation.check_finite(self.phi, "phi", "(h, s, a, component)")
        validation.check_finite(self.mu, "mu", "(h, component, s)")
        validation.check_finite(rewards, "rewards", "(h, s, a)")
        validation.check_rewards(rewards)
        validation.check_transitions(self.phi, self.mu)
        validation.check_features(self.phi, self.mu)
        inside = rewards.min() >= 0 and rewards.max() <= 1
        self.rewards: Rewards = rewards if inside else read_only(np.clip(rewards, 0.0, 1.0))
        self.horizon, self.states, self.actions, self.rank = self.phi.shape
        self.initial = read_only(validation.checked_initial(initial_state, self.states))
        self.name = name
        self.parameters = dict(parameters or {})
        self.reward_scale = reward_scale
        self.reward_offset = reward_offset
        self.features = None if features is None else validation.checked_state_features(features, self.states)

    def __repr__(self) -> str:
        words = [self.name, *(f"{key}={value}" for key, value in self.parameters.items())]
        return (
            f"<{' '.join(words)}: horizon {self.horizon}, {self.states} states, "
            f"{self.actions} actions, rank {self.rank}>"
        )

    def original(self, value: float) -> float:
        """A value in the unit of the environment the problem came from."""
        return self.reward_scale * value + self.reward_offset * self.horizon

    @cached_property
    def transitions(self) -> Transitions:  # type: ignore[override]
        """T_h(s'|s,a) as a table, made when first asked for; refused where it would not fit."""
        check_table(self._distinct_steps, self.states, self.actions)
        return validation.clean_transitions(self.phi, self.mu)

    @property
    def kernel(self) -> Kernel:
        """The table, or where it would be large the factors: all that values, occupancies and episodes need."""
        large = is_large(self._distinct_steps, self.states, self.actions)
        return Factors(self.phi, self.mu) if large else self.transitions

    @property
    def _distinct_steps(self) -> int:
        """The tables that steps do not share."""
        same = all(validation.is_broadcast(factor) for factor in (self.phi, self.mu))
        return 1 if same else self.horizon

    @cached_property
    def simulator(self) -> Simulator:
        """Plays many episodes at once."""
        return Simulator(self.kernel, self.initial)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts of this instance: V*, the uniform policy's value, ranks, singular values, η_min."""
        from optac.mdp.facts import problem_facts

        return problem_facts(self)

    def as_gymnasium(self, time: bool = True) -> "TabularEnv":
        """This problem as a Gymnasium environment; with `time` the observation is h·S + s, else s."""
        from optac.mdp.gymnasium_conversion import TabularEnv

        return TabularEnv(self, time=time)

    def arrays(self) -> dict[str, Any]:
        """The contents of this problem's file; what every step shares is kept once."""
        return {
            "phi": _kept_once(self.phi),
            "mu": _kept_once(self.mu),
            "rewards": _kept_once(self.rewards),
            "horizon": self.horizon,
            "initial_state": self.initial,
            "reward_scale": self.reward_scale,
            "reward_offset": self.reward_offset,
            **({} if self.features is None else {"features": self.features}),
        }


def _kept_once(array: np.ndarray) -> np.ndarray:
    return array[:1] if validation.is_broadcast(array) else array
