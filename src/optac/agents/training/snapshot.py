"""A learner as arrays and JSON values, and back: everything that determines the rest of its run."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import jax
import numpy as np

from optac.agents.parts.replay import Replay
from optac.agents.parts.statistics import Returns, RunningMoments
from optac.agents.training.compiled import CompiledAgent, State
from optac.agents.training.environment_calls import Env, checked_observation, restarted
from optac.agents.training.learner import Episodes, Learner, stream_seed
from optac.agents.training.retracing import Mark, Steps
from optac.agents.training.sealed_files import Arrays
from optac.agents.training.versions import numeric_versions
from optac.environments import (
    UnsavableState,
    changed_surroundings,
    check_environment,
    class_names,
    code_hashes,
    made_as,
    model_hashes,
    restore_state,
    save_state,
)
from optac.errors import RunFailed

_MOMENTS = ("next_obs_moments", "reward_moments")
_RETURNS = "return_moments"


def take(learner: Learner) -> tuple[Arrays, dict[str, Any]]:
    """All of `learner` but its replay rows. An environment that can't be written down, or is adrift, is left out."""
    arrays = {f"agent/{name}": array for name, array in state_arrays(learner.state).items()}
    arrays["observation"] = learner.observation
    arrays |= _moment_arrays(learner, (*_MOMENTS, _RETURNS))
    if learner.replay.priorities is not None:
        arrays["priorities"] = learner.replay.priorities[: len(learner.replay)]
    returns = learner.returns
    meta = {
        "agent": learner.chosen.record.name,
        "settings": asdict(learner.chosen.settings),
        "seed": learner.seed,
        "step": learner.step,
        "replay_added": learner.replay.added,
        "generator": learner.generator.bit_generator.state,
        "moments_count": learner.next_obs_moments.count,
        "returns": {"total": returns.total, "length": returns.length, "best": returns.best},
        "episodes": asdict(learner.episodes),
        "info_sums": learner.info_sums,
        "info_count": learner.info_count,
        "environment": None,
        "made": made_as(learner.env),
        "sizes": [learner.observation.size, learner.policy.action_low.size],
        "mark": None,
        "models": model_hashes(learner.env),
        "code": code_hashes(learner.env),
        "changed_surroundings": changed_surroundings(learner.surroundings, learner.env),
        "versions": numeric_versions(),
        "exact": learner.exact,
        "adrift": learner.adrift,
    }
    if learner.adrift:
        return arrays, meta
    try:
        saved = save_state(learner.env)
    except UnsavableState:
        return arrays, meta
    meta["environment"] = saved.pop("layers")
    mark = learner.trail.mark_since(learner.replay.oldest())
    if mark is not None:
        meta["mark"] = {"row": mark.row, "layers": mark.state["layers"]}
        arrays |= {f"mark/{name}": array for name, array in mark.state.items() if name != "layers"}
    return arrays | {f"environment/{name}": array for name, array in saved.items()}, meta


def restore(
    chosen: CompiledAgent, env: Env, arrays: Arrays, meta: Mapping[str, Any], replay: Replay
) -> Learner:
    """The learner that was taken; in an environment that was not, or was made otherwise, a new episode begins."""
    observations, actions = check_environment(env)
    obs, act = observations.shape[0], actions.shape[0]
    seed, step = int(meta["seed"]), int(meta["step"])
    template = jax.eval_shape(lambda: chosen.init(obs, act, key=jax.random.key(seed)))
    generator = np.random.default_rng(0)
    generator.bit_generator.state = meta["generator"]
    episodes = Episodes(**meta["episodes"])
    count = int(meta["moments_count"])
    moments = [
        RunningMoments(count, arrays[f"{n}/mean"], arrays[f"{n}/squares"]) for n in (*_MOMENTS, _RETURNS)
    ]
    returns = Returns(chosen.settings.discount, moments[2], **meta["returns"])
    timeout = chosen.settings.step_timeout
    first = restarted(env, step, timeout, seed=stream_seed(seed, "environment", step))
    fresh_observation = checked_observation(first, observations.shape, step)
    if meta["environment"] is None or is_other(meta, env):
        observation = fresh_observation
        episodes.total_return, episodes.length = 0.0, 0
        returns.total, returns.length = 0.0, 0
    else:
        observation = arrays["observation"]
        restore_state(env, _environment(arrays, meta))
    return Learner(
        chosen=chosen,
        env=env,
        seed=seed,
        state=restored_state(template, _under("agent/", arrays)),
        replay=replay,
        generator=generator,
        next_obs_moments=moments[0],
        reward_moments=moments[1],
        returns=returns,
        observation=observation,
        step=step,
        episodes=episodes,
        info_sums=dict(meta["info_sums"]),
        info_count=int(meta["info_count"]),
        exact=bool(meta["exact"]),
    )


def is_other(meta: Mapping[str, Any], env: Env) -> bool:
    """Whether `env` was made or wrapped otherwise than the saved one, whose state is not for it then."""
    saved, given = meta.get("made"), made_as(env)
    wrapped_otherwise = [layer["class"] for layer in meta["environment"]] != class_names(env)
    return wrapped_otherwise or (saved is not None and given is not None and saved != given)


def retrace(
    learner: Learner, arrays: Arrays, meta: Mapping[str, Any], heed: Callable[[], None]
) -> str | None:
    """Take the steps before the checkpoint again; why they lead elsewhere, None where they lead to where it is.

    Where they do, the environment stays as they left it: what no state holds is then as it was, too.
    """
    env, replay, timeout = learner.env, learner.replay, learner.chosen.settings.step_timeout
    kept = meta.get("mark")
    if kept is None and replay.added == 0:
        return None  # it was saved before its first step
    if kept is None:
        return "no steps before the checkpoint are kept by which its environment could be checked"
    if not replay.oldest() <= kept["row"] <= replay.added:
        raise ValueError(f"a mark at row {kept['row']}")
    mark = Mark(kept["row"], {"layers": kept["layers"], **_under("mark/", arrays)})
    saved = _environment(arrays, meta)
    steps = Steps(mark, replay.between(mark.row, replay.added), arrays["observation"], saved)
    why = steps.difference(env, learner.policy.to_env, timeout, heed)
    if why is None:
        learner.trail.marks = [mark]
    else:
        restarted(env, learner.step, timeout, seed=stream_seed(learner.seed, "environment", learner.step))
        restore_state(env, saved)
    return why


def _environment(arrays: Arrays, meta: Mapping[str, Any]) -> dict[str, Any]:
    return {"layers": meta["environment"], **_under("environment/", arrays)}


def state_arrays(state: State) -> Arrays:
    """Every array of an agent's state under the name of its place."""
    leaves = jax.tree_util.tree_flatten_with_path(state)[0]
    return {jax.tree_util.keystr(path): np.asarray(_plain(leaf)) for path, leaf in leaves}


def restored_state(template: State, arrays: Mapping[str, np.ndarray]) -> State:
    """A state of the template's structure, shapes alone, with these arrays; another shape or type is refused."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    found = []
    for path, leaf in leaves:
        name, plain = jax.tree_util.keystr(path), jax.eval_shape(_plain, leaf)
        array = arrays.get(name)
        if array is None or (array.shape, array.dtype) != (plain.shape, plain.dtype):
            given = "nothing" if array is None else f"{array.dtype}{array.shape}"
            raise RunFailed(
                f"the checkpoint has {given} for {name}, the agent needs {plain.dtype}{plain.shape}"
            )
        value = jax.numpy.asarray(array)
        found.append(jax.random.wrap_key_data(value) if _is_key(leaf) else value)
    state: State = jax.tree_util.tree_unflatten(structure, found)
    return state


def parameters_sha256(learner: Learner) -> str:
    """A hash of every trained array: networks, targets, φ, M, temperature, optimisers, Λ and normalisers."""
    settings = learner.chosen.settings
    in_use = settings.value_scale or settings.return_bound
    names = (*_MOMENTS, _RETURNS) if in_use else _MOMENTS
    arrays = state_arrays(learner.state) | _moment_arrays(learner, names)
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _moment_arrays(learner: Learner, names: Sequence[str]) -> Arrays:
    moments: dict[str, RunningMoments] = {name: getattr(learner, name) for name in _MOMENTS}
    moments[_RETURNS] = learner.returns.moments
    return {f"{name}/{part}": getattr(moments[name], part) for name in names for part in ("mean", "squares")}


def _plain(leaf: jax.Array) -> jax.Array:
    """A key as the numbers it stands for; any other array as it is."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _is_key(leaf: jax.Array | jax.ShapeDtypeStruct) -> bool:
    return bool(jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _under(prefix: str, arrays: Arrays) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
