"""`optac bench sweep`: the throughput of a sweep with two jobs on two cores over that with one.

The same sweep is run with one job and with two, in turn, each time in a new folder: processes started, programs
compiled, rows and checkpoints written, as a user has it. Throughput is steps of all runs over seconds of the sweep.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from optac.errors import InvalidInput
from optac.provenance import provenance
from optac.studies.bench import spread
from optac.sweeps.launcher import run_sweep
from optac.sweeps.local_executor import LocalExecutor
from optac.sweeps.plan import Sweep, sweep_of
from optac.terminal import show_table

TASK, RUNS, STEPS, ROUNDS = "optac/HalfCheetah-v0", 4, 3000, 3
SETTINGS = {"learning_starts": 1000, "eval_every": 3000, "eval_episodes": 1, "checkpoint_every": 1000}
AIM = 1.8


def measure(
    *,
    task: str = TASK,
    runs: int = RUNS,
    steps: int = STEPS,
    rounds: int = ROUNDS,
    settings: dict[str, Any] | None = None,
    peer_python: str | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """Steps per second with one job and with two in each round, and the median of their ratios."""
    if len(os.sched_getaffinity(0)) < 2:
        raise InvalidInput("bench sweep needs two cores and this process may use one; run it without taskset")
    axes = {"environments": [task], "agents": ["sac"], "seeds": runs, "steps": steps}
    sweep = sweep_of("bench", {"sweep": axes, "settings": SETTINGS if settings is None else settings})
    measured: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(rounds):
        for jobs in (1, 2) if turn % 2 == 0 else (2, 1):
            measured[jobs].append(_throughput(sweep, jobs, runs * steps))
            if not quiet:
                now = f"{measured[jobs][-1]:.1f} steps per second"
                print(f"round {turn + 1} of {rounds}, {jobs} job(s): {now}", file=sys.stderr, flush=True)
    return {
        "bench": "sweep",
        "task": {"environment": task, "agent": "sac", "runs": runs, "steps": steps},
        **provenance("optac bench sweep"),
        "steps_per_second": {"one job": measured[1], "two jobs": measured[2]},
        "ratio": median(two / one for one, two in zip(measured[1], measured[2], strict=True)),
    }


def _throughput(sweep: Sweep, jobs: int, steps: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        standing = run_sweep(sweep, Path(folder) / "sweep", LocalExecutor(jobs))
        seconds = time.perf_counter() - started
        assert standing.count("finished") == len(sweep.runs), standing
        return steps / seconds


def show(measured: dict[str, Any]) -> None:
    """Print the results of `bench sweep`."""
    task = measured["task"]
    title = f"{task['runs']} runs of {task['agent']} in {task['environment']}, {task['steps']} steps each, in turn"
    rows = [[name, spread(speeds, digits=1)] for name, speeds in measured["steps_per_second"].items()]
    one, two = measured["steps_per_second"]["one job"], measured["steps_per_second"]["two jobs"]
    ratios = [b / a for a, b in zip(one, two, strict=True)]
    rows.append(["two jobs over one, within a round", f"{spread(ratios, digits=2)}; aim ≥ {AIM}"])
    show_table(title, ["", "steps per second (median, least–most)"], rows)
