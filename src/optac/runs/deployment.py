"""A trained run's policy put to use: written as plain arrays, or filmed."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optac.environments.video import record
from optac.runs.training import open_learner

Notice = Callable[[str], None]


def export_policy(run: Path, file: Path, *, on_notice: Notice = print, trust: bool = False) -> dict[str, Any]:
    """Write the deterministic policy of a run's newest sound checkpoint to `file`, an .npz for numpy alone."""
    _, config, learner = open_learner(run, on_notice, trust=trust)
    learner.policy.save(file)
    return _about(config, learner) | {"policy": str(file)}


def film(
    run: Path, file: Path, *, seed: int = 0, on_notice: Notice = print, trust: bool = False
) -> dict[str, Any]:
    """Play one episode with a run's deterministic policy and write it to `file`, an mp4."""
    _, config, learner = open_learner(run, on_notice, trust=trust)

    def act(observation: Any) -> Any:
        return learner.policy(observation)

    made = record(config["environment"], act, file, seed=seed)
    return _about(config, learner) | asdict(made) | {"file": str(made.file)}


def _about(config: dict[str, Any], learner: Any) -> dict[str, Any]:
    return {
        "agent": config["agent"],
        "environment": config["environment"],
        "seed": config["seed"],
        "trained_steps": learner.step,
    }
