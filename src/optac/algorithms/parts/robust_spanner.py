"""RobustSpanner: d policies whose expected features span, with coefficients at most C, all that can be reached.

After Awerbuch and Kleinberg's barycentric spanners and their robust form in Mhammedi et al. (2023). Reachable
features may live in a subspace, where no d of them have a determinant; each column is therefore nudged by ε
along its own normal, which keeps the determinant away from 0 and adds at most C·d·ε to what is spanned.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from optac.array_types import Probabilities

Vector = Float[np.ndarray, " rank"]


@dataclass(frozen=True)
class Spanner:
    """The policies, their nudged expected features as columns, and how the search went."""

    policies: list[Probabilities]
    columns: Float[np.ndarray, "rank rank"]
    swaps: int
    calls: int
    """calls of the linear optimiser"""
    capped: bool
    """the cap on calls ended the search before a whole pass without a swap"""
    effective_rank: int
    """columns that are more than their nudge"""


def robust_spanner(
    optimise: Callable[[Vector], Probabilities],
    estimate: Callable[[Probabilities], Vector],
    rank: int,
    *,
    C: float,
    epsilon: float,
    max_calls: int,
) -> Spanner:
    """`optimise(θ)` is a policy with the largest E[⟨φ, θ⟩], `estimate(π)` its E[φ].

    First every column is chosen once, then columns are swapped while a swap multiplies |det| by more than C.
    """
    columns = np.eye(rank)
    policies: list[Probabilities] = []
    sizes = np.zeros(rank)
    calls = swaps = 0

    def best(i: int) -> tuple[Probabilities, Vector, float]:
        """The better of ±θ for column i: the policy, its nudged feature, and the feature's own length along θ."""
        theta = np.linalg.inv(columns)[i]
        theta = theta / np.linalg.norm(theta)
        found = [(policy, estimate(policy)) for policy in (optimise(theta), optimise(-theta))]
        policy, feature = max(found, key=lambda pair: abs(float(theta @ pair[1])))
        along = float(theta @ feature)
        return policy, feature + (1.0 if along >= 0 else -1.0) * epsilon * theta, abs(along)

    for i in range(rank):
        policy, columns[:, i], sizes[i] = best(i)
        policies.append(policy)
        calls += 2
    settled = 0
    i = 0
    while settled < rank and calls + 2 <= max_calls:
        policy, candidate, along = best(i)
        calls += 2
        growth = abs(float(np.linalg.solve(columns, candidate)[i]))
        if growth > C:
            policies[i], columns[:, i], sizes[i] = policy, candidate, along
            swaps, settled = swaps + 1, 0
        else:
            settled += 1
        i = (i + 1) % rank
    effective = int((sizes > epsilon).sum())
    return Spanner(policies, columns, swaps, calls, settled < rank, effective)
