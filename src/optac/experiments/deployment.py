"""A trained run's policy put to use: written as plain arrays, or filmed."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from optac import numpy_policy
from optac.environments.video import record
from optac.errors import InvalidInput
from optac.experiments.training import open_learner

Notice = Callable[[str], None]


def export_policy(run: Path, file: Path, *, on_notice: Notice = print) -> dict[str, Any]:
    """Write the deterministic policy of a run's newest sound checkpoint to `file`, an .npz for numpy alone."""
    if file.suffix != ".npz":
        raise InvalidInput(f"a policy is exported to a file that ends in .npz, not {str(file)!r}.")
    if not file.parent.is_dir():
        raise InvalidInput(f"the folder {str(file.parent)!r} for the policy does not exist; make it first.")
    _, config, learner = open_learner(run, on_notice)
    *hidden, (weight, bias) = learner.policy.layers
    act = bias.size // 2  # the other half is the deviation's
    numpy_policy.save(
        file,
        layers=[*hidden, (weight[:, :act], bias[:act])],
        activation="elu",
        action_low=learner.actions.low,
        action_high=learner.actions.high,
    )
    return _about(config, learner) | {"policy": str(file)}


def film(run: Path, file: Path, *, seed: int = 0, on_notice: Notice = print) -> dict[str, Any]:
    """Play one episode with a run's deterministic policy and write it to `file`, an mp4."""
    _, config, learner = open_learner(run, on_notice)

    def act(observation: Any) -> Any:
        return learner.actions.to_env(learner.policy.mode(np.asarray(observation, np.float32)))

    made = record(config["environment"], act, file, seed=seed)
    return _about(config, learner) | asdict(made) | {"file": str(made.file)}


def _about(config: dict[str, Any], learner: Any) -> dict[str, Any]:
    return {
        "agent": config["agent"],
        "environment": config["environment"],
        "seed": config["seed"],
        "trained_steps": learner.step,
    }
