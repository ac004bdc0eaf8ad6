"""MuJoCo's data as arrays: the full integration state with its warm start, and the derived quantities.

The integration state determines the trajectory. The derived quantities (places of bodies, forces, …) do
not, but environments read them between steps, and after a step they belong to the last substep's start: they
cannot be recomputed from the state and are kept too. MuJoCo is looked at only where it is loaded already.
"""

import hashlib
import sys
from typing import Any

import numpy as np

from optac.errors import InvalidInput

_DERIVED = (
    *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis"),
    *("geom_xpos", "geom_xmat", "site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir"),
    *("subtree_com", "subtree_linvel", "subtree_angmom", "cinert", "crb", "cdof", "cdof_dot", "cvel", "cacc"),
    *("cfrc_int", "cfrc_ext", "ten_length", "ten_velocity", "actuator_length", "actuator_velocity"),
    *("actuator_force", "act_dot", "qacc", "qacc_smooth", "qfrc_bias", "qfrc_passive", "qfrc_actuator"),
    *("qfrc_smooth", "qfrc_constraint", "qfrc_inverse", "sensordata", "energy"),
)


def is_mujoco_data(value: Any) -> bool:
    """Whether `value` is MuJoCo's data."""
    mujoco = sys.modules.get("mujoco")
    return mujoco is not None and isinstance(value, mujoco.MjData)


def is_mujoco_model(value: Any) -> bool:
    """Whether `value` is a MuJoCo model."""
    mujoco = sys.modules.get("mujoco")
    return mujoco is not None and isinstance(value, mujoco.MjModel)


def model_sha256(model: Any) -> str:
    """A hash of every number of a model."""
    import mujoco

    content = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, content)
    return hashlib.sha256(content.tobytes()).hexdigest()


def is_mujoco_constant(value: Any) -> bool:
    """Whether `value` is a model or a renderer, which stepping does not change."""
    rendering = sys.modules.get("gymnasium.envs.mujoco.mujoco_rendering")
    is_renderer = rendering is not None and isinstance(value, rendering.MujocoRenderer)
    return is_renderer or is_mujoco_model(value)


def read_physics(data: Any) -> dict[str, np.ndarray]:
    """The integration state and the derived quantities of `data`, each as one vector."""
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(data.model, kind))
    mujoco.mj_getState(data.model, data, state, kind)
    derived = np.concatenate([getattr(data, name).ravel() for name in _DERIVED])
    return {"integration": state, "derived": derived}


def write_physics(data: Any, saved: dict[str, np.ndarray]) -> None:
    """Put what `read_physics` gave into `data`."""
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    fields = [getattr(data, name) for name in _DERIVED]
    sizes = mujoco.mj_stateSize(data.model, kind), sum(field.size for field in fields)
    given = saved["integration"].size, saved["derived"].size
    if given != sizes:
        raise InvalidInput(
            f"the saved MuJoCo state has {given} numbers (state, derived), this model has {sizes}; "
            "restore it into the same model, under the MuJoCo version that saved it."
        )
    mujoco.mj_setState(data.model, data, saved["integration"], kind)
    ends = np.cumsum([field.size for field in fields])
    for field, part in zip(fields, np.split(saved["derived"], ends[:-1]), strict=True):
        field[...] = part.reshape(field.shape)
