"""A preset's constants with the caller's on top, each name and type checked."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from optac.algorithms.loop.handle import Sizes
from optac.algorithms.protocol import Algorithm
from optac.errors import unknown_name
from optac.settings import changed, read_fields

COMMON_SETTINGS = ("model_class", "rank", "candidates", "rho", "keep_members")
"""Settings every algorithm has; `solve` takes them by name."""


def resolved_settings(
    algorithm: Algorithm, preset: str, sizes: Sizes, overrides: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The algorithm's Settings for these sizes, and those of them that are not the preset's. None is negative."""
    if preset not in algorithm.PRESETS:
        raise unknown_name("preset", preset, algorithm.PRESETS)
    usual = algorithm.PRESETS[preset](sizes)
    chosen = dataclasses.replace(
        usual, **read_fields(algorithm.Settings, overrides, least=0, also=COMMON_SETTINGS)
    )
    return chosen, changed(dataclasses.asdict(chosen), dataclasses.asdict(usual), algorithm.Settings)
