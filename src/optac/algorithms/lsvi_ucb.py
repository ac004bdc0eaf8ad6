"""LSVI-UCB (Jin, Yang, Wang and Jordan, "Provably efficient RL with linear function approximation", COLT 2020,
arXiv:1907.05388), a reference that is given the true features φ and learns no representation.

Each round plays H episodes, then runs one backward pass of ridge regressions with an elliptical bonus: H
supervised-learning calls, which is one PP by regression.

Differs from the paper:

- Rewards are known: the regression's target is V_{h+1}(s') alone. Values are cut off at the largest reward
  still to come, where the paper has H.
- The regressions are made anew after H episodes, not after each, and from counts, so that a round's cost
  does not grow with their number.
- The preset `theory` has β = dH√log(2dT/δ) with δ = 0.1 and λ = 1, `practical` β = 0.3.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.states import TableState as State
from optac.algorithms.loop.states import default_iterations as default_iterations
from optac.algorithms.parts.elliptical import checked_ridge, elliptical_norms
from optac.algorithms.protocol import Traits
from optac.algorithms.ucbvi import Info
from optac.array_types import Phi, QValues, Rewards
from optac.errors import InvalidInput
from optac.mdp.values import still_to_come
from optac.models.data import second_moments
from optac.models.transition_counts import TransitionCounts
from optac.oracles import Bill
from optac.oracles.planning import greedy


@dataclass(frozen=True)
class Settings:
    """The constants of LSVI-UCB."""

    beta: float
    """β, multiplies the elliptical norm of a feature"""
    lam: float
    """λ, the ridge"""

    def __post_init__(self) -> None:
        checked_ridge(self.lam)


def practical(sizes: Sizes) -> Settings:
    """β = 0.3, λ = 1."""
    return Settings(beta=0.3, lam=1.0)


def theory(sizes: Sizes) -> Settings:
    """β = dH√log(2dT/δ) with T = K·H² steps and δ = 0.1; λ = 1."""
    steps = sizes.iterations * sizes.horizon**2
    return Settings(beta=sizes.rank * sizes.horizon * sqrt(log(2 * sizes.rank * steps / 0.1)), lam=1.0)


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(knows_features=True, without_class=True)


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Play, regress backwards with the bonus."""
    if handle.features is None:
        raise InvalidInput("lsvi-ucb needs the features; this handle carries none")
    counts = state.counts.add_trajectories(handle.play_one(state.policy, handle.horizon))
    bonus, q_values = optimistic_regressions(settings, handle.features, counts, handle.rewards)
    bill = state.bill + Bill(SL=handle.horizon, PP=1, accuracy=0.0)
    info = Info(float(bonus.mean()), float(handle.initial @ q_values[0].max(axis=-1)))
    return State(policy=greedy(q_values, rng), counts=counts, bill=bill), info


def optimistic_regressions(
    settings: Settings, phi: Phi, counts: TransitionCounts, rewards: Rewards
) -> tuple[QValues, QValues]:
    """β‖φ_h‖_{Λ_h⁻¹}, 0 in the last step, and Q_h = min(r_h + φ_hᵀw_h + bonus, B_h), w_h = Λ_h⁻¹ Σ φ_h V_{h+1}(s')."""
    gram = settings.lam * np.eye(phi.shape[-1]) + second_moments(phi, counts.visits)
    bonus = settings.beta * elliptical_norms(phi, gram)
    bonus[-1] = 0.0
    ceilings = still_to_come(rewards)
    q_values = np.empty_like(rewards)
    value = np.zeros(rewards.shape[1])
    for h in reversed(range(len(rewards))):
        sums = counts.visits[h] * counts.mean_following(h, value)
        weights = np.linalg.solve(gram[h], np.einsum("sad,sa->d", phi[h], sums))
        q_values[h] = np.minimum(rewards[h] + phi[h] @ weights + bonus[h], ceilings[h])
        value = q_values[h].max(axis=-1)
    return bonus, q_values
