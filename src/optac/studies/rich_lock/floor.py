"""The floor: a deep learner of Stable-Baselines3 through `as_gymnasium()`, in a process of its own.

It needs the extra `bench`, whose libraries the package itself never imports.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from optac.errors import RunFailed, installing
from optac.runs.json_files import Row


def measure_floor(learner: str, problem: str, parameters: Mapping[str, Any], budget: int, seed: int) -> Row:
    """A learner of the library, such as DQN, with its own settings for `budget` episodes: its greedy policy's gaps."""
    if find_spec("stable_baselines3") is None:
        raise RunFailed(
            f"this cell runs Stable-Baselines3, which is not installed; {installing('bench')}, then run it again"
        )
    script = Path(__file__).parents[1] / "bench" / "peers" / "sb3_rich.py"
    asked = {
        "learner": learner,
        "problem": problem,
        "parameters": parameters,
        "episodes": budget,
        "seed": seed,
    }
    done = subprocess.run([sys.executable, str(script), json.dumps(asked)], capture_output=True, text=True)
    if done.returncode:
        raise RunFailed(f"{learner} on {problem} failed: {done.stderr.strip().splitlines()[-1]}")
    told = json.loads(done.stdout.strip().splitlines()[-1])
    about = {
        "problem": problem,
        "parameters": dict(parameters),
        "algorithm": learner,
        "settings": {},
        "seed": seed,
    }
    return {"group": "floor", **about, "budget": budget, **told}
