"""Small training runs on disk, written as `optac train` writes them."""

from pathlib import Path
from typing import Any

from optac.runs.folder import RunFolder
from optac.runs.training_config import training_config


def write_run(
    path: Path,
    agent: str = "sac",
    seed: int = 0,
    returns: tuple[float, ...] = (0.0, 100.0, 200.0),
    *,
    environment: str = "optac/HalfCheetah-v0",
    steps: int | None = None,
    **settings: Any,
) -> RunFolder:
    """A run with an evaluation every 5,000 steps; it is complete unless `steps` says that it was to go further."""
    every = 5_000
    until = every * len(returns) if steps is None else steps
    config = training_config(environment, agent, steps=until, seed=seed, settings=settings)
    run = RunFolder.create(path, config)
    for i, value in enumerate(returns, start=1):
        run.append({"time/total_timesteps": every * i, "time/fps": 90.0, "eval/mean_reward": value})
    run.set_status("finished" if steps is None else "interrupted")
    return run
