"""A run's readable id: who runs, on what, a hash of the settings, the seed.

The hash covers what determines the result and differs from the preset, in one canonical form (`optac.settings`). The
number of steps is not in it: a run that is continued is the same run.
"""

import re
from collections.abc import Mapping
from typing import Any

from optac.settings import canonical, digest


def run_id(who: str, target: str, determining: Mapping[str, Any], seed: int) -> str:
    """As in `sac-Hopper-v5-1a2b3c4d-s0`: an agent or algorithm, its environment or problem."""
    return f"{_words(who)}-{_words(target)}-{digest(determining)}-s{seed}"


def target_of(problem: str, parameters: Mapping[str, Any]) -> str:
    """A problem with the parameters that are not its family's defaults, in the order of their names."""
    parts = [f"{name}{value}" for name, value in canonical(parameters).items()]
    return "-".join([problem, *parts])


def _words(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")
