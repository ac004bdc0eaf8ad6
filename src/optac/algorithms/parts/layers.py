"""MOFFLE's and SpanRL's common loop: step after step, data from a cover of the step and a feature learnt from them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.algorithms.loop.handle import Handle
from optac.algorithms.loop.learnt import Learnt, PlanOnData
from optac.algorithms.loop.states import AlgorithmState, no_counts
from optac.algorithms.parts.min_max_features import LearntFeature, explained_forms, learn_feature
from optac.algorithms.parts.policy_cover import Cover
from optac.array_types import Counts, Phi
from optac.errors import InvalidInput
from optac.mdp.sampling import Trajectories
from optac.models import FiniteClass
from optac.models.data import add_transitions


@dataclass(frozen=True, kw_only=True)
class LayerState(AlgorithmState):
    """The state that the next step's round needs; `finished` after the last step whose transitions enter a value."""

    layer: int
    counts: Counts
    """D_h of the steps explored so far"""
    features: Phi
    """φ̂_h of the steps explored so far"""
    cover: Cover
    candidates: Float[np.ndarray, "candidate horizon state action rank"]
    """Φ"""

    @classmethod
    def first(cls, algorithm: str, handle: Handle, cover: Cover, *, fewest_episodes: int) -> "LayerState":
        """Before the first step; refuses a class that is no list, and a budget that leaves a stage no episode."""
        if not isinstance(handle.model_class, FiniteClass):
            raise InvalidInput(
                f"{algorithm} works on a list of candidate features; give it model_class=finite or a list"
            )
        if fewest_episodes < 1:
            raise InvalidInput(
                f"the cap on episodes leaves {algorithm} less than one episode per stage; raise it"
            )
        candidates = handle.model_class.features
        features = candidates[0].copy()
        return cls(layer=0, counts=no_counts(handle), features=features, cover=cover, candidates=candidates)

    def learn(
        self, played: Trajectories, *, tolerance: float, max_rounds: int
    ) -> tuple["LayerState", LearntFeature]:
        """The next step's state with D_h, the step h transitions of `played`, and with φ̂_h, found on them.

        φ̂_h is the feature of the min-max regression.
        """
        h, horizon = self.layer, len(self.counts)
        collected = np.zeros_like(self.counts)
        add_transitions(collected, played)
        counts, features = self.counts.copy(), self.features.copy()
        counts[h] = collected[h]
        next_step = min(h + 1, horizon - 1)
        forms = explained_forms(self.candidates[:, h], self.candidates[:, next_step], counts[h])
        chosen = learn_feature(forms, tolerance=tolerance, max_rounds=max_rounds)
        features[h] = self.candidates[chosen.candidate, h]
        finished = h + 1 >= horizon - 1  # no later step's transitions enter a value
        return replace(self, layer=h + 1, finished=finished, counts=counts, features=features), chosen


@dataclass(frozen=True)
class LayerInfo:
    """Numbers of a step's round for a row of the history, to which each algorithm adds its own."""

    layer: int
    feature_gap: float
    adversarial_rounds: int
    rounds_capped: bool


def default_iterations(horizon: int) -> int:
    """A round a step whose transitions enter a value."""
    return max(1, horizon - 1)


def learnt(settings: Any, state: LayerState) -> Learnt:
    """Features, covers, and for any reward fitted Q-iteration on the covers' data, over the list Φ."""
    return Learnt(PlanOnData(state.candidates, state.counts), features=state.features, cover=state.cover)
