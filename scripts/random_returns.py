"""The return of uniformly random actions on the six tasks, beside the Random row the benchmark publishes.

`make random-returns` writes results/environments/random_returns.json; without `--out FILE` it prints the table
alone. The published row is of MuJoCo 1.x bodies, so agreement is in distribution, not to the digit.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.environments import TASKS, make
from optac.report.tables import markdown_table

# Wang et al. 2019, the results table of github.com/WilsonWangTHU/mbbl: mean and standard deviation.
PUBLISHED = {
    "optac/Ant-v0": (473.8, 40.8),
    "optac/HalfCheetah-v0": (-288.3, 65.8),
    "optac/Hopper-v0": (-2572.7, 631.3),
    "optac/Reacher-v0": (-45.7, 4.8),
    "optac/InvertedPendulum-v0": (-205.1, 13.6),
    "optac/Pendulum-v0": (-202.6, 249.3),
}


@dataclass(frozen=True)
class RandomReturns:
    """Returns of random episodes on one task: ours, and the published mean and standard deviation."""

    environment: str
    mean: float
    deviation: float
    published_mean: float
    published_deviation: float

    @property
    def distance(self) -> float:
        """|our mean − the published one| in published standard deviations."""
        return abs(self.mean - self.published_mean) / self.published_deviation


def episode_returns(name: str, episodes: int, seed: int) -> Float[np.ndarray, " episode"]:
    """Undiscounted returns of `episodes` episodes of uniformly random actions."""
    env = make(name)
    env.action_space.seed(seed)
    returns = np.zeros(episodes)
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        truncated = False
        while not truncated:
            _, reward, _, truncated, _ = env.step(env.action_space.sample())
            returns[episode] += float(reward)
    env.close()
    return returns


def compare(name: str, episodes: int, seed: int) -> RandomReturns:
    """Our random returns on one task beside the published ones."""
    returns = episode_returns(name, episodes, seed)
    return RandomReturns(name, float(returns.mean()), float(returns.std(ddof=1)), *PUBLISHED[name])


def markdown(rows: list[RandomReturns]) -> str:
    """The comparison as a table."""
    lines = [
        [
            f"`{row.environment}`",
            f"{row.mean:.1f} ± {row.deviation:.1f}",
            f"{row.published_mean:.1f} ± {row.published_deviation:.1f}",
            f"{row.distance:.2f}",
        ]
        for row in rows
    ]
    return markdown_table(["task", "optac", "published", "distance in published sd"], lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the comparison; write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="also write the rows to this JSON file")
    options = parser.parse_args(arguments)
    rows = [compare(name, options.episodes, options.seed) for name in TASKS]
    print(markdown(rows))
    if options.out is not None:
        options.out.write_text(json.dumps(_record(rows, options.episodes, options.seed), indent=2) + "\n")


def _record(rows: list[RandomReturns], episodes: int, seed: int) -> dict[str, Any]:
    versions = {name: version(name) for name in ("gymnasium", "mujoco", "numpy")}
    return {"episodes": episodes, "seed": seed, "versions": versions, "rows": [asdict(row) for row in rows]}


if __name__ == "__main__":
    main()
