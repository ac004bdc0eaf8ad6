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


def learnt_model(algorithm: str, model: LowRankModel | None, cover: Cover = ()) -> Learnt:
    """A model, in which any reward is planned by one PP call."""
    if model is None:
        raise RunFailed(f"{algorithm} has fitted no model yet; let it run for a round")
    fitted = model

    def policy_for(rewards: Rewards) -> tuple[Probabilities, Bill]:
        planned, bill = plan(fitted, rewards)
        return planned.policy, bill

    return Learnt(policy_for, features=fitted.phi, cover=cover)


def learnt_data(
    candidates: Float[np.ndarray, "candidate horizon state action rank"],
    counts: Counts,
    features: Phi,
    cover: Cover,
) -> Learnt:
    """The data of a cover, on which any reward is planned by one fitted Q-iteration over the list Φ."""

    def policy_for(rewards: Rewards) -> tuple[Probabilities, Bill]:
        q_values, bill = fitted_q_iteration(candidates, counts, rewards)
        return greedy(q_values, None), bill

    return Learnt(policy_for, features=features, cover=cover)
