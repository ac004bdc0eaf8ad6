"""The memory a learner keeps of its episodes: counts, the sufficient statistics of every fit and Gram matrix.

Nothing here grows with the number of episodes beyond the transitions that differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import Counts, Phi, Visits
from optac.mdp.sampling import Trajectories
from optac.models.low_rank import LowRankModel
from optac.models.transition_counts import TransitionCounts


@dataclass(frozen=True)
class TransitionData:
    """Counts of (s_h, a_h, s_{h+1}) for the fit, and of the (s_h, a_h) that enter the Gram matrix."""

    evidence: TransitionCounts
    """what a fit needs"""
    gram_visits: Visits

    @classmethod
    def empty(cls, horizon: int, states: int, actions: int) -> "TransitionData":
        return cls(
            TransitionCounts.empty(horizon, states, actions),
            np.zeros((horizon, states, actions), dtype=np.int64),
        )

    @property
    def counts(self) -> Counts:
        """N_h(s,a,s') as a table."""
        return self.evidence.dense()

    @property
    def visits(self) -> Visits:
        """N_h(s,a) of the fit."""
        return self.evidence.visits

    def second_moments(self, model: LowRankModel) -> Float[np.ndarray, "horizon rank rank"]:
        """Σ_n φ̂_h(s_h, a_h) φ̂_h(s_h, a_h)ᵀ under the model's features, from visit counts."""
        return second_moments(model.phi, self.gram_visits)

    def add_roll_ins(self, played: Trajectories, *, whole_trajectories: bool) -> "TransitionData":
        """The data with one roll-in RI(π, h) for every step h, episode h being the one of step h.

        The fit at h takes the transition at step h of RI(π, h), whose state is one uniform action past π; with
        `whole_trajectories` every transition of every episode. The Gram matrix at h takes (s_h, a_h) of RI(π, h + 1):
        there s_h ~ d^π_h and a_h is uniform. The last step has no such roll-in.
        """
        states, actions = played
        steps = np.arange(len(actions))
        before_last, later = steps[:-1], steps[1:]
        if whole_trajectories:
            evidence = self.evidence.add_trajectories(played)
        else:
            evidence = self.evidence.add(
                steps, states[steps, steps], actions[steps, steps], states[steps + 1, steps]
            )
        gram_visits = self.gram_visits.copy()
        gram_visits[before_last, states[before_last, later], actions[before_last, later]] += 1
        return TransitionData(evidence, gram_visits)

    def add_steps(self, played: Trajectories, steps: Sequence[int]) -> "TransitionData":
        """The fit with the transitions at these steps of every episode."""
        states, actions = played
        at = np.asarray(steps)
        step = np.broadcast_to(at[:, None], (len(at), actions.shape[1]))
        told = (step, states[at], actions[at], states[at + 1])
        return TransitionData(self.evidence.add(*(one.ravel() for one in told)), self.gram_visits)

    def add_steps_before(self, played: Trajectories) -> "TransitionData":
        """The fit with the transition at step h of RI(π, h + 1) too: its state is π's own, its action uniform."""
        states, actions = played
        h = np.arange(len(actions) - 1)
        evidence = self.evidence.add(h, states[h, h + 1], actions[h, h + 1], states[h + 1, h + 1])
        return TransitionData(evidence, self.gram_visits)


def add_transitions(counts: Counts, played: Trajectories) -> None:
    """Add every transition of every episode to counts, in place."""
    states, actions = played
    horizon, batch = actions.shape
    steps = np.broadcast_to(np.arange(horizon)[:, None], (horizon, batch))
    flat: Int[np.ndarray, ...] = np.ravel_multi_index((steps, states[:-1], actions, states[1:]), counts.shape)
    counts += np.bincount(flat.ravel(), minlength=counts.size).reshape(counts.shape)


def second_moments(
    phi: Phi, weights: Float[np.ndarray, "horizon state action"] | np.ndarray
) -> Float[np.ndarray, "horizon rank rank"]:
    """Σ_{s,a} weight_h(s,a) φ_h(s,a) φ_h(s,a)ᵀ for every step."""
    horizon, _, _, rank = phi.shape
    rows = phi.reshape(horizon, -1, rank)
    weighted = rows * weights.reshape(horizon, -1, 1)
    return weighted.transpose(0, 2, 1) @ rows
