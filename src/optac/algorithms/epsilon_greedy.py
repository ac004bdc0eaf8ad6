"""ε-greedy on a fitted model: the control that does not explore with a purpose.

Each round plays H episodes of the greedy policy, every action uniform with probability ε, refits the table
of frequencies and plans in it. What was never seen leads nowhere: its continuation is worth 0, so nothing
is explored but by chance. The last policy is the greedy one, which one would deploy.
"""

from dataclasses import dataclass

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.states import TableState as State
from optac.algorithms.loop.states import default_iterations as default_iterations
from optac.algorithms.protocol import Traits
from optac.algorithms.ucbvi import values_by_frequencies
from optac.oracles import Bill
from optac.oracles.planning import greedy
from optac.settings import within


@dataclass(frozen=True)
class Settings:
    """The one constant of ε-greedy."""

    epsilon: float = within(least=0.0, most=1.0)
    """ε, the probability of a uniform action"""


def constant(sizes: Sizes) -> Settings:
    """ε = 0.1 throughout."""
    return Settings(epsilon=0.1)


PRESETS = {"practical": constant, "theory": constant}
TRAITS = Traits(without_class=True)


@dataclass(frozen=True)
class Info:
    """Numbers of a round for a row of the history."""

    planned_value: float


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Play, fit, plan."""
    counts = state.counts.add_trajectories(handle.play_one(state.policy, handle.horizon))
    q_values = values_by_frequencies(counts, handle.rewards, np.full(handle.horizon, np.inf))
    planned = greedy(q_values, rng)
    policy = (1 - settings.epsilon) * planned + settings.epsilon / handle.actions
    value = float(handle.initial @ q_values[0].max(axis=-1))
    bill = state.bill + Bill(SL=1 + handle.horizon, PP=1, accuracy=0.0)
    return State(policy=policy, deployed=planned, counts=counts, bill=bill), Info(planned_value=value)
