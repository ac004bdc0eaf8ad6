"""PP: the optimal action values of a known model, by H stages backwards."""

from dataclasses import dataclass
from math import inf

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import Probabilities, QValues, Rewards
from optac.models.low_rank import LowRankModel
from optac.oracles.bill import Bill


@dataclass(frozen=True)
class Plan:
    """Q̂*, and the policy that maximises it, ties broken by the generator given or else to the first."""

    q_values: QValues
    policy: Probabilities


def plan(
    model: LowRankModel,
    rewards: Rewards,
    *,
    ceiling: float = inf,
    rng: np.random.Generator | None = None,
    accuracy: float = 0.0,
) -> tuple[Plan, Bill]:
    """Q*_h = r_h + φ_hᵀ Σ_s' μ_h(s') max_a' Q*_{h+1}(s',a'), cut off at `ceiling` inside the recursion."""
    horizon = len(rewards)
    q_values = np.empty_like(rewards)
    q_values[-1] = np.minimum(rewards[-1], ceiling)
    for h in reversed(range(horizon - 1)):
        weights = model.mu[h] @ q_values[h + 1].max(axis=-1)
        q_values[h] = np.minimum(rewards[h] + model.phi[h] @ weights, ceiling)
    return Plan(q_values, greedy(q_values, rng)), Bill(SL=horizon, PP=1, accuracy=accuracy**2)


def plan_by_regression(
    model: LowRankModel, rewards: Rewards, *, samples: Int[np.ndarray, "batch 2"], accuracy: float
) -> tuple[Plan, Bill]:
    """The same by H least-squares fits over samples from ρ, the expectation over s' taken inside the target."""
    horizon = len(rewards)
    state, action = samples.T
    q_values = np.empty_like(rewards)
    q_values[-1] = rewards[-1]
    for h in reversed(range(horizon - 1)):
        features = model.phi[h, state, action]
        target = features @ (model.mu[h] @ q_values[h + 1].max(axis=-1))
        weights: Float[np.ndarray, " rank"] = np.linalg.lstsq(features, target, rcond=None)[0]
        q_values[h] = rewards[h] + model.phi[h] @ weights
    return Plan(q_values, greedy(q_values, None)), Bill(SL=horizon, PP=1, accuracy=accuracy**2)


def greedy(q_values: QValues, rng: np.random.Generator | None) -> Probabilities:
    """The deterministic policy that maximises q_values; equal maximisers are drawn from by `rng`."""
    actions = q_values.shape[-1]
    if rng is None:
        return np.eye(actions)[q_values.argmax(axis=-1)]
    best = q_values >= q_values.max(axis=-1, keepdims=True) - 1e-12
    return np.eye(actions)[np.where(best, rng.random(q_values.shape), -1.0).argmax(axis=-1)]
