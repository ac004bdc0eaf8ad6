"""Exact values of a problem whose truth is a table, be it of a finite MDP or of a continuous one on its grid."""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import (
    Occupancy,
    Pairs,
    Probabilities,
    QValues,
    Rewards,
    StateDistribution,
    Transitions,
)
from optac.errors import InvalidInput
from optac.mdp.policies import MixturePolicy, PolicyLike, TabularPolicy, policy_members, uniform_policy
from optac.mdp.values import (
    Kernel,
    OptimalControl,
    occupancies,
    optimal_control,
    policy_q_values,
    policy_values,
)
from optac.notebook import card

if TYPE_CHECKING:
    from optac.figures import Picture

BATCH = 256
SHOWN = 2**22
"""entries of the table of transitions up to which a notebook shows values and a figure unasked"""
Loaded = TypeVar("Loaded", bound="ExactProblem")


class ExactProblem:
    """A problem: sizes, transitions, known rewards in [0, 1], an initial distribution, exact values."""

    name: str
    parameters: dict[str, Any]
    horizon: int
    states: int
    actions: int
    transitions: Transitions
    rewards: Rewards
    initial: StateDistribution

    @property
    def kernel(self) -> Kernel:
        """The transitions as the exact values use them."""
        return self.transitions

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, S, A)."""
        return self.horizon, self.states, self.actions

    @cached_property
    def optimal(self) -> OptimalControl:
        """Q*, V* and an optimal policy."""
        return OptimalControl(*(read_only(part) for part in optimal_control(self.kernel, self.rewards)))

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

    def tables(self, policy: Any) -> Iterator[Probabilities]:
        """The tables (H, S, A) that a policy consists of, each checked; a subclass may know further policies."""
        given: PolicyLike = policy
        return policy_members(given, self.shape)

    def value(self, policy: Any) -> float:
        """V^π at the initial state; a mixture's is the mean of its members'."""
        total, count = 0.0, 0
        members = self.tables(policy)
        while batch := list(islice(members, BATCH)):
            total += float(self.values(batch).sum())
            count += len(batch)
        return total / count

    def values(self, policies: Sequence[Probabilities]) -> np.ndarray:
        """V^π of many tables (H, S, A) in one backward pass; they are taken as they are."""
        return policy_values(self.kernel, self.rewards, np.asarray(policies, dtype=float), self.initial)

    def q_values(self, policy: Any) -> QValues:
        """Q^π_h(s,a) of one table; a mixture has none, since its member is drawn once an episode."""
        if isinstance(policy, MixturePolicy):
            raise InvalidInput("a mixture has no action values; ask for those of one of its members")
        (table,) = self.tables(policy)
        return policy_q_values(self.kernel, self.rewards, table)

    def occupancy(self, policy: Any) -> Occupancy:
        """d^π_h(s); a mixture's is the mean of its members'."""
        members = self.tables(policy)
        return np.mean([occupancies(self.kernel, member, self.initial) for member in members], axis=0)

    @cached_property
    def uniform_value(self) -> float:
        """The value of playing uniformly."""
        return self.value(uniform_policy(*self.shape))

    def uniform_pairs(self) -> Float[np.ndarray, "state action"]:
        """The uniform distribution over (s, a)."""
        return np.full((self.states, self.actions), 1.0 / (self.states * self.actions))

    def pairs(self, drawn: Int[np.ndarray, " batch"], rng: np.random.Generator) -> Pairs:
        """Rows (s, a) for draws from a distribution over the flattened table of pairs."""
        return np.stack(np.unravel_index(drawn, (self.states, self.actions)), axis=-1)

    def policy(self, probabilities: Probabilities) -> TabularPolicy:
        """The policy that a table of action probabilities stands for."""
        return TabularPolicy(probabilities)

    def original(self, value: float) -> float:
        """A value in the unit of the environment the problem came from: the value itself, if rewards came in [0, 1]."""
        return value

    def plot(self) -> "Picture":
        """Where the optimal policy goes: the probability of every state at every step, as a matplotlib figure."""
        from optac.figures import picture

        with picture(size=(6, 3.2), title=f"{self.name}: d_h(s) of an optimal policy") as (drawn, axis):
            shown = axis.imshow(
                self.occupancy(self.optimal_policy).T, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0
            )
            axis.set(xlabel="step h", ylabel="state s")
            axis.xaxis.get_major_locator().set_params(integer=True)
            axis.yaxis.get_major_locator().set_params(integer=True)
            axis.grid(False)
            drawn.colorbar(shown, label="probability")
        return drawn

    def _repr_html_(self) -> str:
        """The sizes, and where they can be had at once V*, the uniform value and the figure."""
        facts = {"horizon, states, actions": f"{self.horizon}, {self.states:,}, {self.actions}"}
        if self.horizon * self.states * self.actions * self.states > SHOWN:
            return card(repr(self)[1:-1], facts)
        facts["optimal value V*"] = f"{self.optimal_value:.4f}"
        facts["uniform play"] = f"{self.uniform_value:.4f}"
        return card(repr(self)[1:-1], facts, self.plot())

    def arrays(self) -> dict[str, Any]:
        """The contents of this problem's file beside its name and parameters: the family they make it again with."""
        if not self.parameters:
            raise InvalidInput(f"{self!r} has no parameters to be made again by; make it with make_problem")
        return {"family": self.name}

    def save(self, path: str | Path) -> None:
        """Write the problem to an .npz of plain arrays, which `load`, `make_problem` and the command read."""
        if Path(path).suffix != ".npz":
            raise InvalidInput(f"a problem is saved to a file that ends in .npz, not {str(path)!r}")
        said = {"name": self.name, "parameters": json.dumps(self.parameters, default=str)}
        np.savez_compressed(path, allow_pickle=False, **said, **self.arrays())

    @classmethod
    def load(cls: type[Loaded], path: str | Path, *, trust: bool = False) -> Loaded:
        """The problem of a file that `save` or numpy.savez wrote; with `trust` it may name a family to import."""
        from optac.mdp.catalogue import load_problem

        problem = load_problem(path, trust=trust)
        if not isinstance(problem, cls):
            raise InvalidInput(f"{path} holds a {type(problem).__name__}, not a {cls.__name__}")
        return problem


def read_only(array: np.ndarray) -> np.ndarray:
    """The array itself, protected from writing."""
    array.flags.writeable = False
    return array
