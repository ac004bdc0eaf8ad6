"""Whether an agent fits an environment and this machine, asked before anything is made."""

import math

import jax
from gymnasium.spaces import Box

from optac.agents.training.compiled import CompiledAgent
from optac.agents.training.environment_calls import Env
from optac.environments import check_environment
from optac.settings import LARGEST, require_memory


def check_fits(chosen: CompiledAgent, env: Env) -> tuple[Box, int, int]:
    """The box of an environment's observations, their size and that of its actions, where the agent can learn there.

    InvalidInput also where its arrays alone would not fit into the machine's memory; nothing is allocated.
    """
    observations, actions = check_environment(env)
    obs, act = observations.shape[0], actions.shape[0]
    try:
        shapes = jax.eval_shape(lambda: chosen.init(obs, act, key=jax.random.key(0)))
        needed = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))
    except OverflowError:  # more than JAX can count
        needed = LARGEST
    require_memory(needed, "the agent's networks", "width, feature_width or critics")
    later = obs + 1 if chosen.settings.n_step > 1 else 0
    drawn = 4 * (2 * obs + act + 2 + later) * math.prod(chosen.batches)
    require_memory(drawn, "the batches of one call", "batch_size, updates_per_dispatch or actor_every")
    held = 4 * (2 * obs + act + 2) * chosen.settings.replay_capacity
    require_memory(held, "a full replay", "replay_capacity")
    return observations, obs, act
