"""The knowledge a reward-free algorithm leaves behind: enough to plan for any reward given afterwards."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from optac.algorithms.parts.class_regression import fitted_q_iteration
from optac.algorithms.parts.policy_cover import Cover
from optac.array_types import Counts, Phi, Probabilities, Rewards
from optac.errors import RunFailed
from optac.models import LowRankModel
from optac.oracles import Bill, plan
from optac.oracles.planning import greedy


@dataclass(frozen=True)
class Learnt:
    """`policy_for` a reward, and whatever of the rest an algorithm learns."""

    policy_for: Callable[[Rewards], tuple[Probabilities, Bill]]
    features: Phi | None = None
    cover: Cover = ()
    """for every step the policies that together reach what can be reached there"""


@dataclass(frozen=True)
class PlanInModel:
    """Plans for any reward by one PP call in a fitted model."""

    model: LowRankModel

    def __call__(self, rewards: Rewards) -> tuple[Probabilities, Bill]:
        planned, bill = plan(self.model, rewards)
        return planned.policy, bill


@dataclass(frozen=True)
class PlanOnData:
    """Plans for any reward by one fitted Q-iteration over the list Φ, on the data of a cover."""

    candidates: Float[np.ndarray, "candidate horizon state action rank"]
    counts: Counts

    def __call__(self, rewards: Rewards) -> tuple[Probabilities, Bill]:
        q_values, bill = fitted_q_iteration(self.candidates, self.counts, rewards)
        return greedy(q_values, None), bill


def learnt_model(algorithm: str, model: LowRankModel | None, cover: Cover = ()) -> Learnt:
    """A model, in which any reward is planned by one PP call."""
    if model is None:
        raise RunFailed(f"{algorithm} has fitted no model yet; let it run for a round")
    return Learnt(PlanInModel(model), features=model.phi, cover=cover)
