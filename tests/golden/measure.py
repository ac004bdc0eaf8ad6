"""Short runs of every agent and algorithm, as numbers that change when a result changes.

    python tests/golden/measure.py > tests/golden/values.json

rewrites what `test_golden.py` compares with; do so only in a commit of its own that says why a result changed. With
names of agents it is of these alone.
"""

import hashlib
import json
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import optac

AGENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "sac": ("SAC", {}),
    "crffsac": ("CRFFSAC", {}),
    "crffsac-bonus": ("CRFFSAC", {"bonus": True, "bonus_every": 60}),
    "sac plain": ("SAC", {"preset": "plain"}),
    "crffsac plain": ("CRFFSAC", {"preset": "plain"}),
    "crffsac-bonus plain": ("CRFFSAC", {"bonus": True, "preset": "plain", "bonus_every": 60}),
    "crffsac-bonus paper": ("CRFFSAC", {"bonus": True, "preset": "paper", "bonus_every": 60}),
}
SMALL = {"width": 32, "learning_starts": 100, "eval_every": 0, "replay_capacity": 1000}
ALGORITHMS = (
    *("opt-ac", "rep-ucb", "raffle", "flambe", "moffle", "spanrl"),
    *("lsvi-ucb", "ucbvi", "epsilon-greedy"),
)
LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "optax", "equinox", "gymnasium", "mujoco")


def platform_of_the_bits() -> dict[str, str]:
    """What the last bits of a result depend on: the libraries, and the instructions the processor has."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    flags = next((line.split(":")[1].split() for line in lines if line.startswith("flags")), [])
    vector = " ".join(flag for flag in flags if flag.startswith(("avx", "fma")))
    found = {"machine": platform.machine(), "vector": vector}
    return found | {name: metadata.version(name) for name in LIBRARIES}


def agents(names: Sequence[str]) -> dict[str, Any]:
    """The hash of every trained array after a short run, and an action of its policy."""
    found = {}
    for name in names:
        kind, settings = AGENTS[name]
        agent = getattr(optac, kind)("optac/Pendulum-v0", seed=3, **{**SMALL, **settings}).learn(250)
        action, _ = agent.predict(np.array([0.5, -0.5, 1.0], np.float32))
        found[name] = {"sha256": agent.parameters_sha256, "action": float(action[0])}
    return found


def algorithms() -> dict[str, Any]:
    """Gaps, bills and the hash of the last policy on small problems, both presets."""
    small = {
        "combination-lock": optac.make_problem("combination-lock", horizon=3, actions=3),
        "random-simplex": optac.make_problem("random-simplex", states=6, actions=3, horizon=3, rank=2),
    }
    found = {}
    for problem, made in small.items():
        for name in ALGORITHMS:
            for preset in ("practical", "theory"):
                episodes = 2000 if name in ("moffle", "spanrl") else 150
                result = optac.solve(made, name, episodes=episodes, seed=2, preset=preset)
                probabilities = np.ascontiguousarray(result.last_policy.probabilities)
                found[f"{name} {preset} {problem}"] = {
                    "gap": result.gap,
                    "last_gap": result.last_gap,
                    "episodes": result.episodes,
                    "bill": result.bill.asdict(),
                    "sha256": hashlib.sha256(probabilities.tobytes()).hexdigest(),
                }
    return found


if __name__ == "__main__":
    trained = agents(sys.argv[1:] or list(AGENTS))
    measured = {"platform": platform_of_the_bits(), "agents": trained, "algorithms": algorithms()}
    json.dump(measured, sys.stdout, indent=1)
    sys.stdout.write("\n")
