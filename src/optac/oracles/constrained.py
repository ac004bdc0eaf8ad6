"""CP: the optimistic plan over every model that explains the data, as the paper builds it.

Cover the parameter space by a net, keep the models whose log-likelihood is at least c, plan in each that
passes, return the best. A call costs one SL a model filtered and H a model that passes, the price of the PP
inside it, which is not counted again. With g points a parameter the net has gᵈ models: that is the price of
this solver, not a bound on every other.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from optac.array_types import Counts, Rewards, StateDistribution
from optac.errors import InvalidInput
from optac.models.low_rank import LowRankModel
from optac.oracles.bill import Bill
from optac.oracles.planning import Plan, plan

FLOOR = 1e-300


@dataclass(frozen=True)
class ConstrainedPlan:
    """The plan of the best model, its value V* at the initial state, which model it is, and how many passed."""

    plan: Plan
    value: float
    choice: int
    filtered: int
    passed: int


def parameter_net(
    parameters: int, points: Sequence[float], model_of: Callable[[Sequence[float]], LowRankModel]
) -> Iterator[LowRankModel]:
    """The net over d parameters: the model at every combination of g points, gᵈ in all, one at a time."""
    return (model_of(values) for values in itertools.product(points, repeat=parameters))


def constrained_plan(
    net: Iterable[LowRankModel],
    counts: Counts,
    rewards: Rewards,
    initial: StateDistribution,
    *,
    threshold: float,
) -> tuple[ConstrainedPlan, Bill]:
    """max over θ in the net with Σ_h Σ log T_θ(s'|s,a) ≥ c of V*_θ."""
    best: ConstrainedPlan | None = None
    filtered = passed = 0
    for index, model in enumerate(net):
        filtered += 1
        if float((counts * np.log(np.maximum(model.transitions, FLOOR))).sum()) < threshold:
            continue
        passed += 1
        planned, _ = plan(model, rewards)
        value = float(initial @ planned.q_values[0].max(axis=-1))
        if best is None or value > best.value:
            best = ConstrainedPlan(planned, value, index, filtered, passed)
    if best is None:
        raise InvalidInput(
            f"none of the {filtered} models of the net has a log-likelihood of at least {threshold:g}; "
            "lower the threshold or refine the net"
        )
    found = ConstrainedPlan(best.plan, best.value, best.choice, filtered, passed)
    return found, Bill(SL=filtered + len(rewards) * passed, CP=1, accuracy=0.0)
