"""States that algorithms carry from round to round: the part that the accounts read, and what kindred algorithms share.

An algorithm's own State is one of these, with what its pseudo-code adds.
"""

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from optac.algorithms.loop.handle import Handle
from optac.array_types import Counts, QValues
from optac.mdp.policies import uniform_policy
from optac.mdp.values import check_table
from optac.models import KernelData, LowRankModel, RichData, TransitionData
from optac.models.transition_counts import TransitionCounts
from optac.oracles import Bill

Rolling = TypeVar("Rolling", bound="RollInState")
Table = TypeVar("Table", bound="TableState")


@dataclass(frozen=True, kw_only=True)
class AlgorithmState:
    """Of any algorithm."""

    bill: Bill = field(default_factory=Bill)
    """what was paid so far"""
    finished: bool = False
    """there is nothing left to do"""
    model: LowRankModel | None = None
    """θ̂ of the round before, where the next fit starts; None where no model is kept"""


@dataclass(frozen=True, kw_only=True)
class PlayingState(AlgorithmState):
    """Of an algorithm that plays the policies it learns."""

    policy: Any
    """played next: a table, or where only observations are seen a policy that reads them"""
    deployed: Any = None
    """what one would deploy, where it is not the policy played next"""


@dataclass(frozen=True, kw_only=True)
class RollInState(PlayingState):
    """Of an algorithm that rolls in with its last policy, fits the model and adds an elliptical bonus."""

    data: TransitionData | KernelData | RichData
    bonus: QValues
    """b̃ under the model of the round before"""

    @classmethod
    def first(cls: type[Rolling], handle: Handle, **own: Any) -> Rolling:
        """Uniform play, and nothing seen yet; `own` is what the algorithm adds."""
        shape = handle.horizon, handle.states, handle.actions
        data = handle.model_class.empty_data(*shape)
        return cls(policy=handle.uniform_policy(), data=data, bonus=np.ones(shape), **own)


@dataclass(frozen=True, kw_only=True)
class TableState(PlayingState):
    """Of a reference that counts what its own policies see."""

    counts: TransitionCounts

    @classmethod
    def first(cls: type[Table], handle: Handle) -> Table:
        """Uniform play, and nothing seen yet."""
        shape = handle.horizon, handle.states, handle.actions
        return cls(policy=uniform_policy(*shape), counts=TransitionCounts.empty(*shape))


def default_iterations(horizon: int) -> int:
    """Rounds of most algorithms where neither iterations nor episodes are given."""
    return 500


def no_counts(handle: Handle) -> Counts:
    """N_h(s,a,s') before the first episode, as a table; refused where it would not fit."""
    check_table(handle.horizon, handle.states, handle.actions)
    return np.zeros((handle.horizon, handle.states, handle.actions, handle.states), dtype=np.int64)
