"""The agents' demands on an environment, checked before anything is trained."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space
from gymnasium.spaces import Tuple as TupleSpace
from gymnasium.wrappers import NormalizeObservation, NormalizeReward

from optac.errors import InvalidInput

_FINITE_ACTIONS = (Discrete, MultiDiscrete, MultiBinary)


def check_environment(env: Any) -> tuple[Box, Box]:
    """The observation and action boxes of an environment the agents can learn in; else `InvalidInput`.

    Observations: a Box of floats or integers with one axis. Actions: a Box of float32 or float64 with one axis,
    bounded on both sides.
    """
    if not isinstance(env, gymnasium.Env):
        raise InvalidInput(
            f"an environment is a gymnasium.Env or the id of one, not {type(env).__name__}; "
            "of a vector environment, pass a single one."
        )
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    _refuse_running_statistics(env, name)
    observations = _observation_box(env.observation_space, name)
    actions = _action_box(env.action_space, name)
    return observations, actions


def _refuse_running_statistics(env: Any, name: str) -> None:
    """Evaluations, checkpoints and exported policies would not share what such a wrapper has seen."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, (NormalizeObservation, NormalizeReward)):
            raise InvalidInput(
                f"{name} is wrapped in {type(env).__name__}, whose running statistics no evaluation and no exported "
                "policy would share. Leave it out, or scale by fixed numbers: gymnasium.wrappers.TransformObservation "
                "or TransformReward."
            )
        env = env.env


def _observation_box(space: Space[Any], name: str) -> Box:
    if isinstance(space, (Dict, TupleSpace)):
        raise InvalidInput(
            f"{name} has {type(space).__name__} observations; the agents take a flat Box. "
            "Wrap it: gymnasium.wrappers.FlattenObservation(env)."
        )
    if not isinstance(space, Box):
        raise InvalidInput(
            f"{name} has {space} observations; the agents take a Box of numbers. Wrap it with "
            "gymnasium.wrappers.FlattenObservation(env), or use `optac solve` if its states are finite."
        )
    if len(space.shape) != 1 or space.shape[0] == 0:
        raise InvalidInput(
            f"{name} has observations of shape {space.shape}; the agents take one axis, not empty. "
            "Wrap it: gymnasium.wrappers.FlattenObservation(env)."
        )
    return space


def _action_box(space: Space[Any], name: str) -> Box:
    if isinstance(space, _FINITE_ACTIONS):
        raise InvalidInput(
            f"{name} has {space} actions; the agents take a bounded Box (continuous actions). Choose an "
            "environment with continuous actions, or `optac solve` if its states are finite too."
        )
    if not isinstance(space, Box) or space.dtype not in (np.float32, np.float64):
        raise InvalidInput(
            f"{name} has {space} actions; the agents take a bounded Box of float32 or float64. "
            "Choose an environment with continuous actions, or wrap it to offer some."
        )
    if len(space.shape) != 1 or space.shape[0] == 0:
        raise InvalidInput(
            f"{name} has actions of shape {space.shape}; the agents take one axis, not empty. "
            "Wrap it with gymnasium.wrappers.TransformAction to flatten them."
        )
    if not (np.all(np.isfinite(space.low)) and np.all(np.isfinite(space.high))):
        raise InvalidInput(
            f"{name} has unbounded actions, {space}; the agents need finite bounds on every entry. Leave out "
            "gymnasium.wrappers.ClipAction where it has it, or say within which bounds actions are to be: "
            "gymnasium.wrappers.TransformAction(env, lambda a: a, gymnasium.spaces.Box(low, high))."
        )
    if np.any(space.low >= space.high):
        raise InvalidInput(
            f"{name} has an action entry whose bounds leave no choice, {space}; remove the entry, "
            "or widen its bounds with gymnasium.wrappers.TransformAction."
        )
    return space
