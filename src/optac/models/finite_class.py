"""A finite list Θ of candidate factorisations, the class of the paper's theorems; its fit is exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Counts, Mu, Phi
from optac.errors import InvalidInput
from optac.mdp.low_rank import LowRankMDP
from optac.mdp.values import check_table
from optac.models.data import TransitionData
from optac.models.low_rank import LowRankModel
from optac.models.transition_counts import TransitionCounts, dense_counts
from optac.settings import read, require_memory

FLOOR = 1e-300
TIE = 1e-9
EXCHANGED = 0.7
"""the share of their features that two actions of a decoy exchange"""
EXCHANGING = 0.75
"""the share of the states in which they do"""


@dataclass(frozen=True)
class ListedModel(LowRankModel):
    """A candidate of a list at every step; `within` says which others the slack lets pass."""

    listed: "FiniteClass | None" = None
    within: Bool[np.ndarray, "candidate horizon"] | None = None

    def contested(self) -> tuple[Float[np.ndarray, "horizon state action"], int]:
        """Where the candidates that pass disagree; each of them is looked at."""
        assert self.listed is not None and self.within is not None and self.choice is not None
        return self.listed.contested(self.within, self.choice).astype(float), int(self.within.sum())


class FiniteClass:
    """Candidates (φ, μ), one of which is chosen at every step apart: θ = (φ_h, μ_h)_h with each pair from the list."""

    def __init__(self, candidates: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        if not candidates:
            raise InvalidInput("a finite model class needs at least one candidate (phi, mu)")
        self.candidates = list(candidates)
        ranks = {phi.shape[-1] for phi, _ in self.candidates}
        if len(ranks) > 1:
            raise InvalidInput(f"all candidates must have one rank; got ranks {sorted(ranks)}")
        self.rank = ranks.pop()

    def check(self, states: int, actions: int) -> None:
        """Every candidate describes S states and A actions."""
        for i, (phi, mu) in enumerate(self.candidates):
            if phi.ndim != 4 or phi.shape[1:3] != (states, actions) or mu.shape[2] != states:
                raise InvalidInput(
                    f"candidate {i} has phi {phi.shape} and mu {mu.shape}; the problem has "
                    f"{states} states and {actions} actions"
                )
        check_table(len(self.candidates) * len(self.candidates[0][0]), states, actions)

    def check_horizon(self, horizon: int) -> None:
        """Every candidate describes H steps."""
        for i, (phi, mu) in enumerate(self.candidates):
            if (len(phi), len(mu)) != (horizon, horizon):
                raise InvalidInput(
                    f"candidate {i} has {len(phi)} steps of phi and {len(mu)} of mu; the problem has {horizon}"
                )

    def empty_data(self, horizon: int, states: int, actions: int) -> TransitionData:
        """Where a learner's memory starts."""
        return TransitionData.empty(horizon, states, actions)

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """log |Θ|, one choice per step."""
        return horizon * float(np.log(len(self.candidates)))

    @cached_property
    def features(self) -> Float[np.ndarray, "candidate horizon state action rank"]:
        """The candidates' features alone: the class Φ of the algorithms that fit no μ."""
        return np.stack([phi for phi, _ in self.candidates])

    @cached_property
    def _transitions(self) -> np.ndarray:
        return np.stack([phi @ mu[:, None] for phi, mu in self.candidates])

    @cached_property
    def _log_transitions(self) -> np.ndarray:
        logs = np.log(np.maximum(self._transitions, FLOOR))
        return logs.reshape(*logs.shape[:2], -1)

    def fit(
        self,
        counts: Counts | TransitionCounts,
        previous: LowRankModel | None,
        *,
        slack: float,
        rng: np.random.Generator,
    ) -> LowRankModel:
        """A candidate within `slack` of the likeliest at every step: the previous one while it is, else the likeliest.

        A likelihood of 0 is floored at 1e-300 a transition, below what any slack forgives.
        Ties go to the first of the list.
        """
        counts = dense_counts(counts)
        likelihoods = np.einsum(
            "chx,hx->ch", self._log_transitions, counts.reshape(len(counts), -1), optimize=True
        )
        steps = np.arange(len(counts))
        chosen = likelihoods.argmax(axis=0)
        within = likelihoods >= likelihoods[chosen, steps] - slack
        if previous is not None and previous.choice is not None:
            chosen = np.where(within[previous.choice, steps], previous.choice, chosen)
        phi = np.stack([self.candidates[c][0][h] for h, c in enumerate(chosen)])
        return ListedModel(
            phi,
            np.stack([self.candidates[c][1][h] for h, c in enumerate(chosen)]),
            likelihoods[chosen, steps],
            np.zeros(phi.shape[:3], dtype=bool),
            chosen,
            decoder=np.eye(int(self._kinds.max()) + 1)[self._kinds[chosen, steps]],
            listed=self,
            within=within,
        )

    @cached_property
    def _kinds(self) -> np.ndarray:
        """The kind of every state: states that a candidate cannot tell apart at a step are of one kind."""
        candidates, horizon, states, *_ = self.features.shape
        kinds = np.empty((candidates, horizon, states), dtype=np.int64)
        for c, h in np.ndindex(candidates, horizon):
            rows = self.features[c, h].reshape(states, -1)
            kinds[c, h] = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        return kinds

    def contested(self, within: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The pairs on which candidates of the same likelihood, up to the slack, disagree."""
        free = np.zeros(self._transitions.shape[1:4], dtype=bool)
        for h, c in enumerate(chosen):
            rivals = self._transitions[within[:, h], h]
            free[h] = (np.abs(rivals - self._transitions[c, h]) > TIE).any(axis=(0, -1))
        return free


def decoy_class(problem: LowRankMDP, candidates: int) -> FiniteClass:
    """The class that the name "finite" stands for: the truth among decoys, drawn from the problem's own seed."""
    seed = read("seed", problem.parameters.get("seed", 0), int, least=0)
    return truth_among_decoys(problem.phi, problem.mu, candidates, seed)


def truth_among_decoys(phi: Phi, mu: Mu, size: int, seed: int) -> FiniteClass:
    """The truth and size − 1 decoys at shuffled places of the list.

    A decoy is the truth but that at every step, in three states of four, two actions that differ have exchanged most of
    their features: it plans wrongly there, no datum is impossible in it, and it takes several visits of just those
    pairs to tell it from the truth.
    """
    if size < 1:
        raise InvalidInput(f"candidates={size} is too small; the class holds at least the truth")
    require_memory(8 * size * (phi.size + mu.size), "the candidates", "candidates")
    rng = np.random.default_rng([seed, size])
    candidates = [(phi, mu)]
    for _ in range(1, size):
        exchanged = np.take_along_axis(phi, _exchange(phi, rng)[..., None], axis=2)
        decoy = EXCHANGED * exchanged + (1 - EXCHANGED) * phi
        candidates.append((decoy, mu))
    return FiniteClass([candidates[i] for i in rng.permutation(size)])


def _exchange(phi: Phi, rng: np.random.Generator) -> Int[np.ndarray, "horizon state action"]:
    """The actions at every step and state, in three states of four two drawn ones that differ in each other's place."""
    horizon, states, actions, _ = phi.shape
    differ = (np.abs(phi[:, :, :, None] - phi[:, :, None]) > TIE).any(axis=-1)
    drawn = (rng.random(differ.shape) * differ).reshape(horizon, states, -1)
    pair = np.stack(np.unravel_index(drawn.argmax(axis=-1), (actions, actions)), axis=-1)
    order = np.broadcast_to(np.arange(actions), phi.shape[:3]).copy()
    there = (drawn.max(axis=-1) > 0) & (rng.random((horizon, states)) < EXCHANGING)
    np.put_along_axis(order, pair, np.where(there[..., None], pair[..., ::-1], pair), axis=-1)
    return order
