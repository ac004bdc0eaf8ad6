"""SL: maximum likelihood over a model class, from what its data keep. One call, whatever the number of episodes."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from optac.models.low_rank import LowRankModel
from optac.oracles.bill import Bill


@runtime_checkable
class ModelClass(Protocol):
    """A set Θ of factorisations that can be fitted to what its data keep: counts, or a log-likelihood a candidate."""

    @property
    def rank(self) -> int: ...

    def check(self, states: int, actions: int) -> None:
        """Raise InvalidInput unless the class fits a problem of these sizes."""
        ...

    def empty_data(self, horizon: int, states: int, actions: int) -> Any:
        """Where a learner's memory starts: TransitionData, or its like, whose `evidence` is what `fit` is given."""
        ...

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """log |Θ|."""
        ...

    def fit(
        self, evidence: Any, previous: LowRankModel | None, /, *, slack: float, rng: np.random.Generator
    ) -> LowRankModel:
        """A model whose log-likelihood is within `slack` of the class's largest."""
        ...


def maximum_likelihood(
    model_class: ModelClass,
    evidence: Any,
    previous: LowRankModel | None,
    *,
    slack: float,
    rng: np.random.Generator,
) -> tuple[LowRankModel, Bill]:
    """θ̂ with L(θ̂) ≤ min_θ L(θ) + β, L the negative log-likelihood (Eq. 2) and β the slack.

    Exact for a finite class, at every step apart. The simplex class is not convex: EM's local maximum stands for
    the minimum, and it stops once a sweep gains at most β, which bounds the sweep and not the distance. The bill
    records the accuracy asked; every start of a fit is a call, and the model says how many there were.
    """
    model = model_class.fit(evidence, previous, slack=slack, rng=rng)
    return model, Bill(SL=model.starts, accuracy=slack)
