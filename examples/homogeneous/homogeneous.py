"""Models whose transitions are the same at every step, as in most environments: all steps share their data."""

from typing import Any

import numpy as np

from optac.extend import InvalidInput, LowRankMDP, LowRankModel, TransitionData


class HomogeneousClass:
    """All tables T(s'|s,a), one for every step; the likeliest one is the frequencies over all steps together."""

    def __init__(self, problem: LowRankMDP) -> None:
        """By name the class is made for a problem, of which it uses the number of states alone."""
        self.rank = problem.states

    def check(self, states: int, actions: int) -> None:
        if states != self.rank:
            raise InvalidInput(f"this class is for {self.rank} states; the problem has {states}")

    def empty_data(self, horizon: int, states: int, actions: int) -> TransitionData:
        return TransitionData.empty(horizon, states, actions)

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """One log(samples) for each free parameter of the one table."""
        return states * actions * (states - 1) * float(np.log(max(samples, 2)))

    def fit(
        self, seen: Any, previous: LowRankModel | None, /, *, slack: float, rng: np.random.Generator
    ) -> LowRankModel:
        """N(s,a,s')/N(s,a) as φ, with μ the identity; a pair that was never seen leads anywhere."""
        counts = np.asarray(seen)
        together = counts.sum(axis=0)
        visits = together.sum(axis=-1, keepdims=True)
        table = np.where(visits > 0, together / np.maximum(visits, 1), 1.0 / self.rank)
        phi = np.broadcast_to(table, counts.shape)
        logs = np.log(np.maximum(table, 1e-300))
        return LowRankModel(
            phi=phi,
            mu=np.broadcast_to(np.eye(self.rank), (len(counts), self.rank, self.rank)),
            log_likelihood=(counts * logs).sum(axis=(1, 2, 3)),
            free=np.broadcast_to(visits[..., 0] == 0, counts.shape[:3]),
        )
