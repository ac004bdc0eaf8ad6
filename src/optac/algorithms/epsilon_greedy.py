"""ε-greedy on a fitted model: the control that does not explore with a purpose.

Each round plays H episodes of the greedy policy, every action uniform with probability ε, refits the table
of frequencies and plans in it. What was never seen leads nowhere: its continuation is worth 0, so nothing
is explored but by chance. The last policy is the greedy one, which one would deploy.
"""

from dataclasses import dataclass

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.states import TableState as State
from optac.models import LowRankModel, SimplexClass
from optac.models.data import add_transitions
from optac.oracles import maximum_likelihood, plan


@dataclass(frozen=True)
class Settings:
    """The one constant of ε-greedy."""

    epsilon: float
    """ε, the probability of a uniform action"""


def constant(sizes: Sizes) -> Settings:
    """ε = 0.1 throughout."""
    return Settings(epsilon=0.1)


def default_iterations(horizon: int) -> int:
    """Rounds where neither iterations nor episodes are given."""
    return 500


PRESETS = {"practical": constant, "theory": constant}


@dataclass(frozen=True)
class Info:
    """Numbers of a round for a row of the history."""

    planned_value: float


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Play, fit, plan."""
    counts = state.counts.copy()
    add_transitions(counts, handle.play_one(state.policy, handle.horizon))
    frequencies = SimplexClass(rank=handle.states)
    model, sl_bill = maximum_likelihood(frequencies, counts, None, slack=0.0, rng=rng)
    seen = LowRankModel(
        np.where(model.free[..., None], 0.0, model.phi), model.mu, model.log_likelihood, model.free
    )
    planned, pp_bill = plan(seen, handle.rewards, rng=rng)
    policy = (1 - settings.epsilon) * planned.policy + settings.epsilon / handle.actions
    value = float(handle.initial @ planned.q_values[0].max(axis=-1))
    bill = state.bill + sl_bill + pp_bill
    return State(policy=policy, deployed=planned.policy, counts=counts, bill=bill), Info(planned_value=value)
