"""Regressions over a list Φ of candidate features, and the planning built on them: fitted Q-iteration.

Everything works on counts, so that a fit's cost does not grow with the number of episodes.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from optac.array_types import Counts
from optac.oracles import Bill

RIDGE = 1e-6


@dataclass(frozen=True)
class Fit:
    """The prediction ⟨φ(s,a), w⟩ of the best candidate, cut off to the range of the targets."""

    prediction: Float[np.ndarray, "state action"]
    candidate: int
    loss: float


def class_regression(
    features: Float[np.ndarray, "candidate state action rank"],
    weights: Float[np.ndarray, "state action"],
    targets: Float[np.ndarray, "state action"],
) -> Fit:
    """min over φ in Φ and w of Σ weight(s,a) (⟨φ(s,a), w⟩ − target(s,a))²: one SL call over the class.

    `targets` are the mean targets of every pair; what varies around the mean changes no minimiser. Without
    any data the prediction is 0.
    """
    candidates, states, actions, rank = features.shape
    rows = features.reshape(candidates, states * actions, rank)
    weight, target = weights.reshape(-1), targets.reshape(-1)
    weighted = rows * weight[:, None]
    gram = weighted.transpose(0, 2, 1) @ rows + RIDGE * np.eye(rank)
    solution = np.linalg.solve(gram, (weighted.transpose(0, 2, 1) @ target)[..., None])
    predictions = (rows @ solution)[..., 0]
    losses = ((predictions - target) ** 2 @ weight).ravel()
    best = int(losses.argmin())
    seen = target[weight > 0]
    low, high = (seen.min(), seen.max()) if seen.size else (0.0, 0.0)
    return Fit(np.clip(predictions[best], low, high).reshape(states, actions), best, float(losses[best]))


def fitted_q_iteration(
    features: Float[np.ndarray, "candidate horizon state action rank"],
    counts: Counts,
    rewards: Float[np.ndarray, "stage state action"],
) -> tuple[Float[np.ndarray, "stage state action"], Bill]:
    """Q_t = r_t + the regression of max_a' Q_{t+1}(s', a') on the pairs of step t, from the last of `rewards` on back.

    One PP call, at the price of any other: H, the steps that the features have. A step without data is taken to lead
    nowhere.
    """
    q_values = rewards.astype(float).copy()
    for t in reversed(range(len(rewards) - 1)):
        visits = counts[t].sum(axis=-1).astype(float)
        targets = counts[t] @ q_values[t + 1].max(axis=-1) / np.maximum(visits, 1.0)
        q_values[t] += class_regression(features[:, t], visits, targets).prediction
    return q_values, Bill(SL=features.shape[1], PP=1, accuracy=0.0)
