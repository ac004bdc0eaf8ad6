"""Small training runs on disk, written as `optac train` writes them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from optac.agents.record import record_of
from optac.runs.folder import RunFolder


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
    config = {
        "kind": "train",
        "agent": agent,
        "environment": environment,
        "steps": every * len(returns) if steps is None else steps,
        "seed": seed,
        "settings": asdict(record_of(agent).choose(settings)),
    }
    run = RunFolder.create(path, config)
    for i, value in enumerate(returns, start=1):
        run.append({"time/total_timesteps": every * i, "time/fps": 90.0, "eval/mean_reward": value})
    run.set_status("finished" if steps is None else "interrupted")
    return run
