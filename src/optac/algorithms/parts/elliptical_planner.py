"""FLAMBE's elliptical planner: policies that leave no direction of a step's features uncovered, in a model."""

from dataclasses import dataclass

import numpy as np

from optac.algorithms.parts.policy_cover import Policies
from optac.array_types import StateDistribution
from optac.mdp.policies import uniform_policy
from optac.mdp.values import occupancies
from optac.models import LowRankModel
from optac.oracles import Bill, plan


@dataclass(frozen=True)
class Covered:
    """The policies in the order they were found, how many planner's steps that took, and whether the cap ended it."""

    policies: Policies
    steps: int
    capped: bool
    bill: Bill


def elliptical_planner(
    model: LowRankModel,
    h: int,
    initial: StateDistribution,
    *,
    beta: float,
    cap: int,
    rng: np.random.Generator,
) -> Covered:
    """Repeat: π maximises E_{π,θ̂}[φ_hᵀ Σ⁻¹ φ_h]; stop once that is at most β, else Σ += E_{π,θ̂}[φ_h φ_hᵀ].

    Everything happens in the model; no episode is played. A planner that stops at once returns the uniform
    policy, which is what an empty mixture stands for.
    """
    horizon, states, actions, rank = model.phi.shape
    phi = model.phi[h]
    sigma = np.eye(rank)
    found: list[np.ndarray] = []
    bill = Bill()
    capped = False
    while True:
        rewards = np.zeros((horizon, states, actions))
        rewards[h] = np.einsum("sad,de,sae->sa", phi, np.linalg.inv(sigma), phi)
        planned, cost = plan(model, rewards, rng=rng)
        bill = bill + cost
        if float(initial @ planned.q_values[0].max(axis=-1)) <= beta:
            break
        if len(found) == cap:
            capped = True
            break
        found.append(planned.policy)
        flow = occupancies(model.kernel, planned.policy, initial)[h][:, None] * planned.policy[h]
        sigma = sigma + np.einsum("sa,sad,sae->de", flow, phi, phi)
    policies = np.stack(found) if found else uniform_policy(horizon, states, actions)[None]
    return Covered(policies, len(found), capped, bill)
