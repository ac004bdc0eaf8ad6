"""`optac bench start`: what starting costs, as CPU seconds of a process of its own from its first line to its last.

The same short training from an empty cache of compiled code, again from the cache, with another `log_every`, and
`optac eval` of what it left. All but the first start read the cache; each ends a few updates after its random start.
Beside them stands how many processes wanted a core on average when it began: CPU seconds grow a little on a shared one.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from optac.agents.training.compilation_cache import VARIABLE
from optac.errors import RunFailed
from optac.provenance import provenance
from optac.runs.json_files import read_json_object
from optac.studies.bench import spread
from optac.terminal import show_table

TASK, STEPS, ROUNDS = "optac/HalfCheetah-v0", 120, 3
SETTINGS: Final = {"learning_starts": 100, "eval_every": 0}
AGENTS: Final = ("sac", "crffsac")
AIMS: Final = {"first start": None, "second start": 4.0, "another log_every": 4.0, "eval": 3.0}
_COMMAND: Final = [
    sys.executable,
    "-c",
    "import sys; from optac.cli import main; sys.exit(main(sys.argv[1:]))",
]


def measure(
    *,
    task: str = TASK,
    agents: Sequence[str] = AGENTS,
    steps: int = STEPS,
    rounds: int = ROUNDS,
    settings: Mapping[str, Any] = SETTINGS,
    peer_python: str | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """CPU seconds of each start in each round, and whether all ended with the same parameters."""
    load = os.getloadavg()[0]
    seconds: dict[str, dict[str, list[float]]] = {agent: {name: [] for name in AIMS} for agent in agents}
    hashes: dict[str, set[str]] = {agent: set() for agent in agents}
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    for turn in range(rounds):
        for agent in agents:
            with tempfile.TemporaryDirectory() as folder:
                runs = {name: Path(folder) / name.replace(" ", "-") for name in AIMS}
                starts: dict[str, list[str]] = {name: [] for name in ("first start", "second start")}
                starts["another log_every"] = ["--set", "log_every=7"]
                train = ["train", task, "--agent", agent, "--steps", str(steps), *words]
                for name, more in starts.items():
                    used = _cpu_seconds([*train, *more, "--out", str(runs[name])], Path(folder) / "cache")
                    seconds[agent][name].append(used)
                    hashes[agent].add(read_json_object(runs[name] / "result.json")["parameters_sha256"])
                evaluate = ["eval", str(runs["second start"]), "--episodes", "1"]
                seconds[agent]["eval"].append(_cpu_seconds(evaluate, Path(folder) / "cache"))
            if not quiet:
                now = ", ".join(f"{name} {used[-1]:.1f}" for name, used in seconds[agent].items())
                print(
                    f"round {turn + 1} of {rounds}, {agent}, CPU seconds: {now}", file=sys.stderr, flush=True
                )
    return {
        "bench": "start",
        "task": {"environment": task, "steps": steps, "settings": dict(settings)},
        **provenance("optac bench start"),
        "load_average": load,
        "cpu_seconds": seconds,
        "same_parameters": {agent: len(found) == 1 for agent, found in hashes.items()},
    }


def _cpu_seconds(words: Sequence[str], cache: Path) -> float:
    """The CPU seconds of a command in a process of its own, with this folder as its cache of compiled code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*_COMMAND, *words, "--quiet"],
        env={**environment, VARIABLE: str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RunFailed(f"optac {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-800:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(measured: dict[str, Any]) -> None:
    """Print the results of `bench start`."""
    task = measured["task"]
    for agent, seconds in measured["cpu_seconds"].items():
        rows = [
            [name, spread(used, digits=1) + ("" if AIMS[name] is None else f"; aim ≤ {AIMS[name]:g}")]
            for name, used in seconds.items()
        ]
        rows.append(["same parameters", "yes" if measured["same_parameters"][agent] else "no"])
        load = f"{measured['load_average']:.1f} processes at work beside it"
        title = f"{agent} in {task['environment']}, {task['steps']} steps; {load}"
        show_table(title, ["", "CPU seconds (median, least–most)"], rows)
