"""Calls into an environment, which is not our code: none takes forever, and what it answers is checked."""

import copy
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import gymnasium
import numpy as np
from jaxtyping import Float

from optac.agents.training.deadline import deadline
from optac.environments import check_environment, made_difference, make, standing, state_difference
from optac.environments.guarded import guarded
from optac.errors import InvalidInput, OptacWarning, RunFailed

Env = gymnasium.Env[Any, Any]

SECONDS_TO_CLOSE: Final = 30.0
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def stepped(
    env: Env,
    action: Float[np.ndarray, " act"],
    shape: tuple[int, ...],
    step: int,
    *,
    timeout: float,
    what: str,
) -> tuple[Float[np.ndarray, " obs"], float, bool, bool]:
    """The return of a step: the observation, the reward, whether it terminated, whether it was cut off."""
    with deadline(timeout, f"{what} {step}"):
        outcome = guarded(env.step, step, action)
    if not isinstance(outcome, tuple) or len(outcome) != 5:
        raise RunFailed(
            f"the environment's step {step} returned {_described(outcome)}; Gymnasium's steps return "
            "(observation, reward, terminated, truncated, info): fix the environment"
        )
    given, paid, terminated, truncated, _ = outcome
    obs = checked_observation(given, shape, step)
    try:
        return obs, _checked_reward(paid, step), bool(terminated), bool(truncated)
    except (TypeError, ValueError) as error:
        raise RunFailed(
            f"the reward {paid!r}, terminated {terminated!r} or truncated {truncated!r} of step {step} is no "
            f"single number or truth value ({error}); fix the environment"
        ) from error


def restarted(env: Env, step: int, timeout: float, seed: int | None = None) -> Any:
    """The first observation of a new episode, unchecked; refused when it takes too long."""
    with deadline(timeout, "the environment's reset"):
        outcome = guarded(env.reset, step, **({} if seed is None else {"seed": seed}))
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise RunFailed(
            f"the environment's reset at step {step} returned {_described(outcome)}; Gymnasium's resets "
            "return (observation, info): fix the environment"
        )
    return outcome[0]


def checked_observation(given: Any, shape: tuple[int, ...], step: int) -> Float[np.ndarray, " obs"]:
    """The observation as float32, a copy: an environment may write the next one into the same array.

    Refused when its shape has changed or a number in it is not finite.
    """
    try:
        obs = np.array(given, np.float32)
    except (TypeError, ValueError) as error:
        raise RunFailed(
            f"the observation at step {step} is a {type(given).__name__} that holds no numbers ({error}); "
            "fix the environment"
        ) from error
    if obs.shape != shape:
        raise RunFailed(
            f"the observation at step {step} has shape {obs.shape}, the ones before had {shape}; "
            "make the environment return one shape"
        )
    if not np.isfinite(obs).all():
        entry = int(np.flatnonzero(~np.isfinite(obs))[0])
        raise RunFailed(
            f"the observation's entry {entry} is {obs[entry]} at step {step}; fix the environment"
        )
    return obs


def _checked_reward(given: Any, step: int) -> float:
    """The reward as a float; refused when it is not finite, or is not in float32, which replay keeps."""
    reward = float(given)
    if not abs(reward) <= _LARGEST_FLOAT32:
        raise RunFailed(f"the reward is {reward} at step {step}; fix the environment")
    return reward


def _described(outcome: Any) -> str:
    return f"a tuple of {len(outcome)}" if isinstance(outcome, tuple) else f"a {type(outcome).__name__}"


def opened(env: Env | str, instead: Env | str | None = None) -> Env:
    """An environment as it was given, or the one of this name; refused where `instead` can't stand for it."""
    if not isinstance(env, str):
        _check_instead(instead, env)
        return env
    fresh = make(env)
    try:
        _check_instead(instead, fresh)
    except BaseException:
        fresh.close()
        raise
    return fresh


def another(env: Env | str, instead: Env | str | None = None) -> Env:
    """An environment for evaluations: `instead`, or one more like `env`, made as Gymnasium made it, else a copy."""
    if instead is not None:
        return make(instead) if isinstance(instead, str) else Lent(instead)
    if isinstance(env, str):
        return make(env)
    fresh = _made_anew(env)
    if fresh is not None:
        return fresh
    try:
        return Lent(copy.deepcopy(env))  # what it shares with `env` must stay open
    except Exception as error:
        raise InvalidInput(
            f"evaluations need a second environment, and {type(env).__name__} can't be copied ({error}); "
            "register it with Gymnasium and pass its id, pass another one as eval_env=, or set eval_every=0"
        ) from error


class Lent(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment of the caller's, who closes it, or a copy that may share what closing would close."""

    def close(self) -> None:
        """Nothing."""


def check_another(env: Env, seed: int, timeout: float) -> None:
    """Say before the first step where no other environment can be had, or it is not as `env` is, reset under `seed`.

    One that Gymnasium makes has no changes that a user made by hand. A copy would, but might share the simulator.
    """
    fresh = _made_anew(env)
    if fresh is None:
        another(env)
        return
    with closed(fresh):
        restarted(fresh, 0, timeout, seed)
        difference = made_difference(env, fresh)
    if difference is not None:
        warnings.warn(
            f"evaluations are in an environment that Gymnasium makes anew, where {difference} is not as in the one "
            "that was given; to evaluate with it too, pass another one that has it as eval_env=",
            OptacWarning,
            stacklevel=3,
        )


def _check_instead(instead: Env | str | None, env: Env) -> None:
    """Refuse an environment for evaluations that is the training's own, or with other sizes or bounds of actions."""
    if instead is None:
        return
    if isinstance(instead, str):
        with made(instead) as fresh:
            _check_instead(fresh, env)
        return
    boxes = check_environment(env)
    if not isinstance(instead, gymnasium.Env):
        raise InvalidInput(f"eval_env={instead!r} is neither an environment nor the id of one")
    if instead.unwrapped is env.unwrapped:
        raise InvalidInput(
            "eval_env= is the environment that is trained in, whose episodes evaluations would break off; pass another"
        )
    for name, ours, theirs in zip(
        ("observations", "actions"), boxes, check_environment(instead), strict=True
    ):
        if ours.shape != theirs.shape:
            raise InvalidInput(
                f"{name} have shape {theirs.shape} in eval_env= and {ours.shape} where training is; pass one like it"
            )
    for name, mine, other in (("low", boxes[1].low, theirs.low), ("high", boxes[1].high, theirs.high)):
        if not np.array_equal(np.float32(mine), np.float32(other)):
            raise InvalidInput(
                f"actions have {name}={other} in eval_env= and {name}={mine} where training is, so that an action "
                "would mean another one there; pass one like it"
            )


def is_elsewhere(env: Env, left: Mapping[str, Any] | None) -> bool:
    """Whether `env` is not as it was `left`, which a warning says; never where its state can't be told."""
    now = standing(env)
    difference = None if left is None or now is None else state_difference(left, now)
    if difference is not None:
        warnings.warn(
            f"the environment is not as it was left ({difference} is another): a new episode begins",
            OptacWarning,
            stacklevel=4,
        )
    return difference is not None


def _made_anew(env: Env) -> Env | None:
    """An environment made as `env` was; None where Gymnasium does not know how: it did not, or not its wrappers."""
    spec = env.spec
    if spec is None or any(each.kwargs is None for each in spec.additional_wrappers):
        return None
    try:
        return gymnasium.make(spec)
    except Exception as error:
        try:  # a wrapper of one's own, made with other words than Gymnasium knows, is copied around a new one
            assert env.unwrapped.spec is not None
            inmost = gymnasium.make(env.unwrapped.spec).unwrapped
            return copy.deepcopy(env, {id(env.unwrapped): inmost})
        except Exception:
            raise InvalidInput(  # a copy might share what there can't be two of
                f"evaluations need a second environment, and {spec.id} can't be made again ({error}); "
                "pass another one as eval_env=, or set eval_every=0"
            ) from error


@contextmanager
def made(name: str) -> Iterator[Env]:
    """The environment of this name, closed after the block."""
    env = make(name)
    with closed(env):
        yield env


@contextmanager
def closed(env: Env) -> Iterator[None]:
    """Close the environment in the end. What goes wrong there, or takes too long, is said and changes no result."""
    try:
        yield
    finally:
        try:
            with deadline(SECONDS_TO_CLOSE, "closing the environment", ""):
                env.close()
        except (Exception, SystemExit) as error:
            said = (
                f"the environment raised {type(error).__name__} in close: {error}; what was written is whole"
            )
            warnings.warn(said, OptacWarning, stacklevel=2)
