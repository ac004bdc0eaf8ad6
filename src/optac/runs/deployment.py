"""A trained run's policy put to use: written as plain arrays, or filmed."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from optac import registry
from optac.environments.video import check_recording, record
from optac.runs.training import Notice, OpenPolicy, open_policy
from optac.settings import whole


def export_policy(
    run: Path, file: Path, *, on_notice: Notice = print, trust: bool = False, best: bool = False
) -> dict[str, Any]:
    """Write a run's deterministic policy, the newest or the best, to `file`, an .npz for numpy alone."""
    opened = open_policy(run, on_notice, trust=trust, best=best)
    opened.policy.save(file)
    return _about(opened) | {"policy": str(file)}


def film(
    run: Path,
    file: Path,
    *,
    seed: int = 0,
    on_notice: Notice = print,
    trust: bool = False,
    best: bool = False,
) -> dict[str, Any]:
    """Play one episode with a run's deterministic policy and write it to `file`, an mp4."""
    whole("seed", seed, least=0)
    check_recording(file)
    opened = open_policy(run, on_notice, trust=trust, best=best)
    with registry.named_by(opened.folder.config_path, trust=trust):
        made = record(opened.config["environment"], opened.policy, file, seed=seed)
    return _about(opened) | asdict(made) | {"file": str(made.file)}


def _about(opened: OpenPolicy) -> dict[str, Any]:
    about = {name: opened.config[name] for name in ("agent", "environment", "seed")}
    return {**about, "trained_steps": opened.step}
