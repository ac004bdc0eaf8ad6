"""What is not finite, or of a size never heard of, ends a run before it can spoil what was learnt."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from jaxtyping import Array, Bool, Float

from optac.agents.parts.statistics import RunningMoments
from optac.errors import RunFailed

_OUTLIER: Final = 1e6
"""a number of an observation so far from its mean so far, and as many deviations from it, is a fault"""
_OUTLIER_OF_A_CONSTANT: Final = 1e9
"""how far, or how many times its size, a number may move that has always been the same: it has no deviation yet"""


def refuse_unsound(
    values: Mapping[str, Float[np.ndarray, " updates"]],
    finite: Mapping[str, Bool[Array, ""]],
    *,
    steps: Sequence[int],
) -> None:
    """RunFailed where an update's metrics or what it trained are not finite; `steps` are the updates'."""
    for name, column in values.items():
        for i in np.flatnonzero(~np.isfinite(column)):
            raise RunFailed(
                f"{name} is {column[i]} at step {steps[int(i)]}: the gradient is not finite. Lower learning_rate, "
                "or look for huge rewards or observations."
            )
    for name, sound in finite.items():
        if not sound:
            raise RunFailed(
                f"the gradient of {name} is not finite at step {steps[-1]}. Lower learning_rate, or look for huge "
                "rewards or observations."
            )


def refuse_outliers(rows: Float[np.ndarray, "rows obs"], moments: RunningMoments, *, first_step: int) -> None:
    """RunFailed where one observation would set the scale, and hide all others from the networks."""
    mean, deviation = moments.mean, moments.deviation()
    if moments.count == 0:
        mean = np.median(rows, axis=0)
        deviation = np.median(np.abs(rows - mean), axis=0)
    most = np.where(
        deviation > 1e-6,
        _OUTLIER * np.maximum(deviation, 1.0),
        _OUTLIER_OF_A_CONSTANT * np.maximum(np.abs(mean), 1.0),
    )
    beyond = np.abs(rows - mean) > most
    for row, i in np.argwhere(beyond)[:1]:
        usual = f"{mean[i]:.6g} ± {deviation[i]:.6g}"
        raise RunFailed(
            f"number {i} of the observation is {rows[row, i]:.6g} at step {first_step + row}, where {usual} is usual: "
            "standardising by that would hide all others. Fix the environment, or set normalise=false."
        )
