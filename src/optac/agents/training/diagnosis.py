"""What a row of metrics tells of an agent's health: values against what followed, features, clipped inputs.

It reads the learner and changes nothing of it: no random number is drawn, and the rows looked at are the newest.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from optac.agents.parts.programs import program
from optac.agents.training.learner import Learner
from optac.numpy_policy import OBSERVATION_BOUND

ROWS, AHEAD = 256, 200
"""how many transitions are looked at, and how many steps of what followed them count"""


def diagnosis(learner: Learner) -> dict[str, float]:
    """Its part of a row, as far as the record's `examine` tells; nothing before the first update."""
    settings, record = learner.chosen.settings, learner.chosen.record
    end = len(learner.replay) - AHEAD
    if learner.step < settings.first_update or end < ROWS:
        return {}
    slots = (
        np.arange(learner.replay.added - AHEAD - ROWS, learner.replay.added - AHEAD) % learner.replay.capacity
    )
    rows = learner.replay.at(slots)
    found = {} if record.examine is None else _examined(learner, rows.obs, rows.action)
    numbers = {}
    if "value" in found:
        reward, later, discount = learner.replay.ahead(slots, AHEAD, settings.discount)
        value_later = _examined(learner, later, learner.policy.mode(later))["value"]
        numbers["value_error"] = float(np.mean(found["value"] - reward - discount * value_later))
    if settings.normalise:
        numbers["clipped"] = float(np.mean(np.abs(_seen(learner, rows.obs)) >= OBSERVATION_BOUND))
    if "features" in found:
        numbers["feature_size"] = float(np.mean(np.linalg.norm(found["features"], axis=-1)))
        numbers["feature_rank"] = effective_rank(found["features"])
    return {f"train/{name}": number for name, number in numbers.items()}


def effective_rank(features: Float[np.ndarray, "rows features"]) -> float:
    """(Σσ²)²/Σσ⁴ over the singular values, as many as there are directions if all weigh the same; 0 of nothing."""
    second = np.asarray(features, np.float64).T @ np.asarray(features, np.float64)
    size = float(np.sum(second**2))
    return float(np.trace(second) ** 2 / size) if size > 0 else 0.0


def _seen(learner: Learner, obs: Float[np.ndarray, "rows obs"]) -> Float[np.ndarray, "rows obs"]:
    if not learner.chosen.settings.normalise:
        return obs
    return np.asarray(learner.statistics().standardised(jnp.asarray(obs)))


def _examined(
    learner: Learner, obs: Float[np.ndarray, "rows obs"], action: Float[np.ndarray, "rows act"]
) -> dict[str, Any]:
    assert learner.chosen.record.examine is not None
    examine = program(learner.chosen.record.examine, learner.chosen.settings.determining())
    found: dict[str, Any] = jax.device_get(examine(learner.state, _seen(learner, obs), action))
    return found
