"""Policies of a finite problem: one table of action probabilities, or a mixture of such tables.

A mixture draws one member at the start of an episode and follows it to the end. Averaging the members'
action probabilities instead would be another policy with another value.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import Probabilities
from optac.errors import InvalidInput

TOLERANCE = 1e-6


@dataclass(frozen=True)
class TabularPolicy:
    """π_h(a|s) as an array; the step h is counted from 0."""

    probabilities: Probabilities

    def __repr__(self) -> str:
        horizon, states, actions = self.probabilities.shape
        return f"<policy: horizon {horizon}, {states} states, {actions} actions>"

    def act(self, h: int, state: int, rng: np.random.Generator) -> int:
        """An action a ~ π_h(·|state)."""
        probabilities = self.probabilities[h, state]
        return int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))

    def arrays(self) -> dict[str, np.ndarray]:
        """The contents of a file of this policy."""
        return {"probabilities": self.probabilities}

    def sample(self, rng: np.random.Generator) -> "TabularPolicy":
        """The policy for one episode: itself."""
        return self


class MixturePolicy:
    """The uniform mixture of its members, one drawn per episode; `members` are the tables that were kept of them."""

    def __init__(
        self,
        members: Sequence[Any],
        size: int | None = None,
        policy: Callable[[Any], Any] = TabularPolicy,
    ) -> None:
        """`size` says how many members there were when they were not kept; `policy` what a table stands for."""
        self.members = members
        self._policy = policy
        self._size = len(members) if size is None else size

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<uniform mixture of {self._size} policies; .sample(rng) draws the one for an episode>"

    def __iter__(self) -> Iterator[Any]:
        self._require_members()
        return (self._policy(member) for member in self.members)

    def __getitem__(self, k: int) -> Any:
        self._require_members()
        return self._policy(self.members[k])

    def sample(self, rng: np.random.Generator) -> Any:
        """The member for one episode, drawn uniformly."""
        return self[int(rng.integers(self._size))]

    def _require_members(self) -> None:
        if len(self.members) != self._size:
            raise InvalidInput(
                f"the {self._size} members of this mixture were not kept; solve again with keep_members=True"
            )


PolicyLike: TypeAlias = (
    TabularPolicy
    | MixturePolicy
    | Float[np.ndarray, "horizon state action"]
    | Int[np.ndarray, "horizon state"]
)


def uniform_policy(horizon: int, states: int, actions: int) -> Probabilities:
    """π_h(a|s) = 1/|A|."""
    return np.full((horizon, states, actions), 1.0 / actions)


def policy_members(policy: PolicyLike, shape: tuple[int, int, int]) -> Iterator[Probabilities]:
    """The tables a policy consists of, each checked against the problem's (H, S, A)."""
    if isinstance(policy, MixturePolicy):
        if not len(policy):
            raise InvalidInput("a mixture without members has no value")
        for member in policy:
            yield checked_probabilities(member.probabilities, shape)
    elif isinstance(policy, TabularPolicy):
        yield checked_probabilities(policy.probabilities, shape)
    else:
        yield checked_probabilities(np.asarray(policy), shape)


def checked_probabilities(table: np.ndarray, shape: tuple[int, int, int]) -> Probabilities:
    """The table as probabilities (H, S, A); an integer table (H, S) is a deterministic policy."""
    horizon, states, actions = shape
    if table.ndim == 2 and np.issubdtype(table.dtype, np.integer):
        if table.shape != (horizon, states) or table.min() < 0 or table.max() >= actions:
            raise InvalidInput(
                f"a deterministic policy here is an integer array of shape ({horizon}, {states}) with entries "
                f"0 … {actions - 1}; got shape {table.shape}"
            )
        return np.eye(actions)[table]
    if table.shape != shape:
        raise InvalidInput(f"a policy here has shape {shape} (horizon, states, actions); got {table.shape}")
    table = table.astype(float)
    wrong = ~(np.isfinite(table).all(-1) & (table >= -TOLERANCE).all(-1))
    wrong |= ~(np.abs(table.sum(-1) - 1) <= TOLERANCE)
    if wrong.any():
        h, s = (int(i) for i in np.argwhere(wrong)[0])
        raise InvalidInput(f"policy[{h}, {s}] is not a distribution over actions: {table[h, s].tolist()}")
    return table
