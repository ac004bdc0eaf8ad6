"""`optac bench theory`: what an iteration of Opt-AC costs as k grows, and a lock opened beside a tabular learner.

Every figure that matters is a ratio of two measured in the same run.
"""

import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import optac
from optac.errors import RunFailed
from optac.mdp import LowRankMDP
from optac.provenance import provenance
from optac.terminal import show_table

GROWTH_PROBLEM = "combination-lock horizon=6 actions=10"
EARLY, LATE, WINDOW = 100, 5000, 50
MEASURED_ITERATIONS = (1000, 3000)
PEER_PROBLEM = {"horizon": 6, "actions": 10}
TARGET_GAP, MAX_EPISODES, SEEDS = 0.05, 50_000, (0, 1, 2, 3, 4)


def measure(*, peer_python: str | None = None, quiet: bool = True) -> dict[str, Any]:
    """All of it; the peer only with an interpreter that has rlberry-scool."""
    parts: dict[str, tuple[str, Callable[[], Any]]] = {
        "iteration": ("cost of an iteration as k grows", iteration_growth),
        "memory": ("memory as k grows", memory_growth),
        "lock": ("seconds to open a lock", lambda: lock_race(peer_python)),
    }
    measured = {"bench": "theory", **provenance("optac bench theory")}
    for name, (said, part) in parts.items():
        if not quiet:
            print(f"{said} …", file=sys.stderr, flush=True)
        measured[name] = part()
    return measured


def iteration_growth() -> dict[str, Any]:
    """Median seconds of the hundred iterations around 5,000 over those around 100, on one lock in one run."""
    problem = optac.make_problem("combination-lock", **PEER_PROBLEM)
    steps = _timed_steps(problem, iterations=LATE + WINDOW)
    each = [seconds for _, _, seconds in islice(steps, LATE + WINDOW)]
    early, late = (median(each[k - WINDOW : k + WINDOW]) for k in (EARLY, LATE))
    return {
        "problem": GROWTH_PROBLEM,
        "seconds_at_100": early,
        "seconds_at_5000": late,
        "ratio": late / early,
    }


def _timed_steps(problem: LowRankMDP, **how: Any) -> Iterator[tuple[Any, Any, float]]:
    """Opt-AC's run, its state and the seconds of its step, step after step."""
    from optac.algorithms.loop.run import prepare
    from optac.algorithms.opt_ac import init, step

    run = prepare(problem, "opt-ac", **how)
    state = init(run.settings, run.handle)
    while True:
        started = time.perf_counter()
        state, _ = step(run.settings, state, run.handle, run.rng)
        yield run, state, time.perf_counter() - started


def memory_growth() -> dict[str, Any]:
    """Bytes that `solve` holds when it returns after 1,000 and after 3,000 iterations, members dropped."""
    problem = optac.make_problem("combination-lock", **PEER_PROBLEM)
    early, late = (_held(problem, iterations) for iterations in MEASURED_ITERATIONS)
    return {
        "iterations": list(MEASURED_ITERATIONS),
        "bytes_early": early,
        "bytes_late": late,
        "ratio": late / early,
        "bytes_a_member": 8 * problem.horizon * problem.states * problem.actions,
    }


def _held(problem: LowRankMDP, iterations: int) -> int:
    tracemalloc.start()
    try:
        result = optac.solve(problem, iterations=iterations, keep_members=False)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del result
    return held


def lock_race(peer_python: str | None) -> dict[str, Any]:
    """Episodes and seconds until the last policy's gap is at most 0.05, ours and the peer's in turn."""
    ours, theirs = [], []
    for seed in SEEDS:
        problem = optac.make_problem("combination-lock", **PEER_PROBLEM, seed=seed)
        ours.append(_ours(problem, seed))
        if peer_python is not None:
            theirs.append(_peer(peer_python, problem, seed))
    race: dict[str, Any] = {
        "problem": GROWTH_PROBLEM,
        "target_gap": TARGET_GAP,
        "seeds": len(SEEDS),
        "opt-ac": ours,
    }
    if theirs:
        race["rlberry-scool UCBVI"] = theirs
        for unit in ("seconds", "episodes"):
            peer, own = (median(run[unit] for run in runs) for runs in (theirs, ours))
            race[f"{unit}_ratio"] = peer / own
    return race


def _ours(problem: LowRankMDP, seed: int) -> dict[str, Any]:
    """Run on until the gap is small; the seconds are the learner's own, as the peer's are."""
    seconds = 0.0
    for run, state, took in _timed_steps(problem, iterations=MAX_EPISODES // problem.horizon, seed=seed):
        seconds, gap = seconds + took, problem.optimal_value - problem.value(state.policy)
        if gap <= TARGET_GAP or run.handle.episodes_played >= MAX_EPISODES:
            break
    return {"episodes": run.handle.episodes_played, "seconds": seconds, "gap": gap}


def _peer(python: str, problem: LowRankMDP, seed: int) -> dict[str, Any]:
    script = Path(__file__).parent / "peers" / "rlberry_ucbvi.py"
    with tempfile.TemporaryDirectory() as folder:
        arrays = Path(folder) / "problem.npz"
        np.savez(
            arrays,
            transitions=problem.transitions,
            rewards=problem.rewards,
            initial=problem.initial,
            optimal_value=problem.optimal_value,
        )
        command = [python, str(script), str(arrays), str(TARGET_GAP), str(MAX_EPISODES), str(seed)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", None) or str(error)
            raise RunFailed(f"the peer did not run under {python}: {why.strip().splitlines()[-1]}") from None
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def show(measured: dict[str, Any]) -> None:
    """Print the results of `bench theory`."""
    iteration, memory, lock = measured["iteration"], measured["memory"], measured["lock"]
    took = [f"{1e3 * iteration[f'seconds_at_{k}']:.3f}" for k in (EARLY, LATE)]
    held = [f"{memory[f'bytes_{when}'] / 1e3:.0f}" for when in ("early", "late")]
    rows = [
        ["milliseconds an iteration (k = 5000)", *took, f"{iteration['ratio']:.2f}"],
        ["kilobytes held, members dropped (K = 1000, 3000)", *held, f"{memory['ratio']:.2f}"],
    ]
    title = f"Opt-AC on {iteration['problem']}: what grows with k"
    show_table(title, ["", "early (k = 100)", "later", "ratio"], rows)
    rows = []
    for name, runs in lock.items():
        if name not in ("opt-ac", "rlberry-scool UCBVI"):
            continue
        episodes, seconds = (median(run[key] for run in runs) for key in ("episodes", "seconds"))
        worst = max(run["gap"] for run in runs)
        rows.append([name, f"{episodes:.0f}", f"{seconds:.3f}", f"{worst:.3f}"])
    print()
    until = f"until the last policy's gap ≤ {lock['target_gap']}, median of {lock['seeds']} seeds"
    show_table(f"{lock['problem']}: {until}", ["", "episodes", "seconds", "largest gap at the end"], rows)
    if "seconds_ratio" in lock:
        print(
            f"UCBVI over Opt-AC: {lock['seconds_ratio']:.1f} times the seconds, "
            f"{lock['episodes_ratio']:.1f} times the episodes"
        )
    else:
        print(
            "the peer was left out: give --peer-python an interpreter that has rlberry-scool (`make bench` does)"
        )
