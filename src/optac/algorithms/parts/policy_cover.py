"""Sets of policies that together reach what can be reached, and episodes that roll in with them."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from optac.algorithms.loop.handle import Handle
from optac.mdp.sampling import Trajectories

Policies: TypeAlias = Float[np.ndarray, "member horizon state action"]
Cover: TypeAlias = tuple[Float[np.ndarray, "_ horizon state action"], ...]
"""several sets of policies; a draw takes a set uniformly, then a policy of it uniformly"""


def uniform_after(policies: Policies, h: int) -> Policies:
    """The policies up to and with step h, uniform actions afterwards."""
    cut = policies.copy()
    cut[:, h + 1 :] = 1.0 / policies.shape[-1]
    return cut


def play_cover(
    handle: Handle,
    cover: Cover,
    episodes: int,
    *,
    uniform_steps: Iterable[int],
    rng: np.random.Generator,
) -> Trajectories:
    """Episodes each of a policy drawn from the cover, with uniform actions at the steps given."""
    sizes = np.array([len(policies) for policies in cover])
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    which = rng.integers(len(cover), size=episodes)
    member = offsets[which] + rng.integers(sizes[which])
    uniform = np.zeros((handle.horizon, episodes), dtype=bool)
    uniform[list(uniform_steps)] = True
    return handle.play(np.concatenate(cover), member, uniform)
