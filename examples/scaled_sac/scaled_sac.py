"""Soft actor-critic with one change: rewards are multiplied by a scale, as in its first version.

Haarnoja et al., arXiv 1801.01290: the temperature was fixed there, and the scale of the reward was the one setting
to be tuned. Here the temperature is tuned, and the scale is the size of the values that the critics learn.

    optac train Pendulum-v1 --agent scaled-sac --set reward_scale=0.1          after pip install examples/scaled_sac
    optac train Pendulum-v1 --agent scaled_sac --path examples/scaled_sac                without
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax

from optac.agents import sac
from optac.extend import (
    AgentRecord,
    AgentSettings,
    SoftInfo,
    SoftState,
    Statistics,
    Transitions,
    Views,
    setting,
    soft_update,
)


@dataclass(frozen=True)
class Settings(AgentSettings):
    """Soft actor-critic's settings and the scale; the preset "unscaled" is soft actor-critic itself."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **AgentSettings.PRESETS,
        "unscaled": {"reward_scale": 1.0},
    }

    reward_scale: float = setting(5.0, "what rewards are multiplied by", above=0.0)


def update(
    settings: Settings, state: SoftState, batches: Transitions, statistics: Statistics, *, actor: bool = True
) -> tuple[SoftState, SoftInfo]:
    """Soft actor-critic's update on scaled rewards; `batches` has one batch along its first axis."""
    batch = jax.tree.map(lambda x: x[-1], batches)
    views, scale = Views(sac.joined, sac.q_values), settings.reward_scale
    scaled = statistics._replace(
        return_std=scale * statistics.return_std, best_return=scale * statistics.best_return
    )
    return soft_update(settings, state, batch, scaled, views, actor=actor, reward=scale * batch.reward)


AGENT = AgentRecord(
    name="scaled-sac",
    summary="soft actor-critic on scaled rewards",
    settings=Settings,
    init=sac.init,
    update=update,
)
