"""A low-rank MDP whose truth is known: T_h(s'|s,a) = ⟨φ_h(s,a), μ_h(s')⟩, a factorisation a step."""

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optac.array_types import Occupancy, Probabilities, QValues, Rewards, StateDistribution, Transitions
from optac.errors import InvalidInput, InvalidProblem
from optac.mdp import validation
from optac.mdp.policies import MixturePolicy, PolicyLike, policy_members, uniform_policy
from optac.mdp.sampling import Simulator
from optac.mdp.values import OptimalControl, occupancies, optimal_control, policy_q_values, policy_values

if TYPE_CHECKING:
    from optac.mdp.gymnasium_conversion import TabularEnv


BATCH = 256


class LowRankMDP:
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
    ) -> None:
        """`reward_scale` and `reward_offset` undo the map into [0, 1]: original = scale·r + offset, a step."""
        self.phi = validation.frozen_copy(phi, "phi", "(H, S, A, d)")
        self.mu = validation.frozen_copy(mu, "mu", "(H, d, S)")
        rewards = validation.frozen_copy(rewards, "rewards", "(H, S, A)")
        validation.check_shapes(self.phi, self.mu, rewards)
        validation.check_finite(self.phi, "phi", "(h, s, a, component)")
        validation.check_finite(self.mu, "mu", "(h, component, s)")
        validation.check_finite(rewards, "rewards", "(h, s, a)")
        validation.check_rewards(rewards)
        self.transitions: Transitions = validation.checked_transitions(self.phi, self.mu)
        validation.check_features(self.phi, self.mu)
        self.rewards: Rewards = _clipped(rewards)
        self.horizon, self.states, self.actions, self.rank = self.phi.shape
        self.initial: StateDistribution = _read_only(validation.checked_initial(initial_state, self.states))
        self.name = name
        self.parameters = dict(parameters or {})
        self.reward_scale = reward_scale
        self.reward_offset = reward_offset

    def __repr__(self) -> str:
        words = [self.name, *(f"{key}={value}" for key, value in self.parameters.items())]
        return (
            f"<{' '.join(words)}: horizon {self.horizon}, {self.states} states, "
            f"{self.actions} actions, rank {self.rank}>"
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, S, A)."""
        return self.horizon, self.states, self.actions

    @cached_property
    def optimal(self) -> OptimalControl:
        """Q*, V* and an optimal policy."""
        return OptimalControl(*(_read_only(part) for part in optimal_control(self.transitions, self.rewards)))

    @property
    def optimal_value(self) -> float:
        """V* = sup_π V^π at the initial state."""
        return float(self.initial @ self.optimal.values[0])

    @property
    def optimal_policy(self) -> Probabilities:
        """A deterministic policy that attains V*."""
        return self.optimal.policy

    @property
    def optimal_q_values(self) -> QValues:
        """Q*_h(s,a)."""
        return self.optimal.q_values

    def value(self, policy: PolicyLike) -> float:
        """V^π at the initial state; a mixture's is the mean of its members'."""
        total, count = 0.0, 0
        members = policy_members(policy, self.shape)
        while batch := list(islice(members, BATCH)):
            total += float(self.values(batch).sum())
            count += len(batch)
        return total / count

    def values(self, policies: Sequence[Probabilities]) -> np.ndarray:
        """V^π of many tables (H, S, A) in one backward pass; they are taken as they are."""
        return policy_values(self.transitions, self.rewards, np.asarray(policies, dtype=float), self.initial)

    def q_values(self, policy: PolicyLike) -> QValues:
        """Q^π_h(s,a) of one table; a mixture has none, since its member is drawn once an episode."""
        if isinstance(policy, MixturePolicy):
            raise InvalidInput("a mixture has no action values; ask for those of one of its members")
        (table,) = policy_members(policy, self.shape)
        return policy_q_values(self.transitions, self.rewards, table)

    def occupancy(self, policy: PolicyLike) -> Occupancy:
        """d^π_h(s); a mixture's is the mean of its members'."""
        members = policy_members(policy, self.shape)
        return np.mean([occupancies(self.transitions, member, self.initial) for member in members], axis=0)

    def original(self, value: float) -> float:
        """A value in the unit of the environment the problem came from."""
        return self.reward_scale * value + self.reward_offset * self.horizon

    @cached_property
    def simulator(self) -> Simulator:
        """Plays many episodes at once."""
        return Simulator(self.transitions, self.initial)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is known of this instance: V*, the uniform policy's value, ranks, singular values, η_min."""
        from optac.mdp.facts import problem_facts

        return problem_facts(self)

    @cached_property
    def uniform_value(self) -> float:
        """The value of playing uniformly."""
        return self.value(uniform_policy(*self.shape))

    def as_gymnasium(self, time: bool = True) -> "TabularEnv":
        """This problem as a Gymnasium environment; with `time` the observation is h·S + s, else s."""
        from optac.mdp.gymnasium_conversion import TabularEnv

        return TabularEnv(self, time=time)

    def save(self, path: str | Path) -> None:
        """Write the arrays, and the map back to the original unit, to an .npz that `make_problem` reads."""
        np.savez_compressed(
            path,
            phi=self.phi,
            mu=self.mu,
            rewards=self.rewards,
            initial_state=self.initial,
            reward_scale=self.reward_scale,
            reward_offset=self.reward_offset,
        )


def load_problem(path: str | Path) -> LowRankMDP:
    """The problem in an .npz with phi, mu, rewards and optionally initial_state."""
    path = Path(path)
    if not path.is_file():
        raise InvalidProblem(f"no such file: {path}; a problem's file is an .npz with phi, mu and rewards")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidProblem(f"{path} cannot be read as an .npz of plain arrays: {error}") from None
    missing = {"phi", "mu", "rewards"} - set(arrays)
    if missing:
        raise InvalidProblem(f"{path} lacks {', '.join(sorted(missing))}; it has {', '.join(sorted(arrays))}")
    initial = arrays.get("initial_state", np.array(0))
    return LowRankMDP(
        arrays["phi"],
        arrays["mu"],
        arrays["rewards"],
        int(initial) if initial.ndim == 0 and np.issubdtype(initial.dtype, np.integer) else initial,
        name=str(path),
        reward_scale=float(arrays.get("reward_scale", 1.0)),
        reward_offset=float(arrays.get("reward_offset", 0.0)),
    )


def _clipped(rewards: Rewards) -> Rewards:
    if rewards.min() >= 0 and rewards.max() <= 1:
        return rewards
    return _read_only(np.clip(rewards, 0.0, 1.0))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
