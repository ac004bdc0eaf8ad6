"""UCBVI for tables (Azar, Osband and Munos, "Minimax regret bounds for RL", ICML 2017, arXiv:1703.05449), a
reference that takes the states for the features: optimistic value iteration on counts, one table per step.

Each round plays H episodes of the optimistic policy, fits the table of frequencies (SL) and plans in it
with a bonus for rare pairs (PP).

Differs from the paper:

- Rewards are known. Values are cut off at the largest reward still to come, which the rewards give, where
  the paper has H − h; what was never seen is worth its reward and the largest that may follow, where the paper has H.
- The policy is planned anew after H episodes, not after each, so that a round costs what it costs elsewhere.
- Steps have tables of their own; the bonus is the Hoeffding one, c · B_{h+1} / √N_h(s,a). The preset
  `theory` has c = 7 log(5|S||A|T/δ), `practical` c = 0.3.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.states import TableState as State
from optac.algorithms.loop.states import default_iterations as default_iterations
from optac.algorithms.protocol import Traits
from optac.array_types import QValues
from optac.mdp.values import still_to_come
from optac.models.transition_counts import TransitionCounts
from optac.oracles import Bill
from optac.oracles.planning import greedy


@dataclass(frozen=True)
class Settings:
    """The one constant of UCBVI."""

    bonus_scale: float
    """c, multiplies B/√N"""


def practical(sizes: Sizes) -> Settings:
    """c = 0.3."""
    return Settings(bonus_scale=0.3)


def theory(sizes: Sizes) -> Settings:
    """c = 7 log(5|S||A|T/δ) with T = K·H² steps and δ = 0.1."""
    steps = sizes.iterations * sizes.horizon**2
    return Settings(bonus_scale=7.0 * log(5 * sizes.states * sizes.actions * steps / 0.1))


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(without_class=True)


@dataclass(frozen=True)
class Info:
    """Numbers of a round for a row of the history."""

    mean_bonus: float
    optimistic_value: float


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Play, count, plan with the bonus."""
    counts = state.counts.add_trajectories(handle.play_one(state.policy, handle.horizon))
    ceilings = still_to_come(handle.rewards)
    shrunk = settings.bonus_scale / np.sqrt(np.maximum(counts.visits, 1))
    bonus = np.where(counts.visits == 0, 1.0, shrunk) * ceilings[1:, None, None]
    q_values = values_by_frequencies(counts, handle.rewards + bonus, ceilings)
    bill = state.bill + Bill(SL=1 + handle.horizon, PP=1, accuracy=0.0)
    info = Info(float(bonus.mean()), float(handle.initial @ q_values[0].max(axis=-1)))
    return State(policy=greedy(q_values, rng), counts=counts, bill=bill), info


def values_by_frequencies(counts: TransitionCounts, rewards: QValues, ceilings: np.ndarray) -> QValues:
    """Q_h = min(r_h + T̂_h V_{h+1}, B_h), V_h = max_a Q_h, T̂ the frequencies; what was never seen leads nowhere."""
    q_values = np.empty_like(rewards)
    value = np.zeros(rewards.shape[1])
    for h in reversed(range(len(rewards))):
        q_values[h] = np.minimum(rewards[h] + counts.mean_following(h, value), ceilings[h])
        value = q_values[h].max(axis=-1)
    return q_values
