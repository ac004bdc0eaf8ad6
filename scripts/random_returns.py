"""The return of uniformly random actions on the six tasks, beside the Random row the benchmark publishes.

`make random-returns` writes results/environments/random_returns.json; without `--out FILE` it prints the table
alone. The published row is of MuJoCo 1.x bodies, so agreement is in distribution, not to the digit.
"""

import argparse
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from jaxtyping import Float

from optac.environments import TASKS, make
from optac.report.tables import Row, markdown_table

# Wang et al. 2019, the results table of github.com/WilsonWangTHU/mbbl: mean and standard deviation.
PUBLISHED = {
    "optac/Ant-v0": (473.8, 40.8),
    "optac/HalfCheetah-v0": (-288.3, 65.8),
    "optac/Hopper-v0": (-2572.7, 631.3),
    "optac/Reacher-v0": (-45.7, 4.8),
    "optac/InvertedPendulum-v0": (-205.1, 13.6),
    "optac/Pendulum-v0": (-202.6, 249.3),
}


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


def compare(name: str, episodes: int, seed: int) -> Row:
    """Our random returns on one task, and the published mean and standard deviation."""
    returns = episode_returns(name, episodes, seed)
    published = dict(zip(("published_mean", "published_deviation"), PUBLISHED[name], strict=True))
    ours = {"mean": float(returns.mean()), "deviation": float(returns.std(ddof=1))}
    return {"environment": name, **ours, **published}


def markdown(rows: list[Row]) -> str:
    """The comparison as a table; a distance is that of the means, in published standard deviations."""
    lines = []
    for row in rows:
        mean, spread = row["published_mean"], row["published_deviation"]
        ours, theirs = f"{row['mean']:.1f} ± {row['deviation']:.1f}", f"{mean:.1f} ± {spread:.1f}"
        lines.append([f"`{row['environment']}`", ours, theirs, f"{abs(row['mean'] - mean) / spread:.2f}"])
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
        versions = {name: version(name) for name in ("gymnasium", "mujoco", "numpy")}
        record = {"episodes": options.episodes, "seed": options.seed, "versions": versions, "rows": rows}
        options.out.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
