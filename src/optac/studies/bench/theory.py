"""`optac bench theory`: what an iteration of Opt-AC costs as k grows, and a lock opened beside a tabular learner.

Every figure that matters is a ratio of two measured in the same run.
"""

import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
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

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    say("cost of an iteration as k grows …")
    growth = iteration_growth()
    say("memory as k grows …")
    memory = memory_growth()
    say("seconds to open a lock …")
    race = lock_race(peer_python)
    return {
        "bench": "theory",
        **provenance("optac bench theory"),
        "iteration": growth,
        "memory": memory,
        "lock": race,
    }


def iteration_growth() -> dict[str, Any]:
    """Median seconds of the hundred iterations around 5,000 over those around 100, on one lock in one run."""
    from optac.algorithms.loop.run import prepare
    from optac.algorithms.opt_ac import init, step

    problem = optac.make_problem("combination-lock", **PEER_PROBLEM)
    run = prepare(problem, "opt-ac", iterations=LATE + WINDOW)
    state = init(run.settings, run.handle)
    each = []
    for _ in range(LATE + WINDOW):
        started = time.perf_counter()
        state, _ = step(run.settings, state, run.handle, run.rng)
        each.append(time.perf_counter() - started)
    early, late = (median(each[k - WINDOW : k + WINDOW]) for k in (EARLY, LATE))
    return {
        "problem": GROWTH_PROBLEM,
        "seconds_at_100": early,
        "seconds_at_5000": late,
        "ratio": late / early,
    }


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
    from optac.algorithms.loop.run import prepare
    from optac.algorithms.opt_ac import init, step

    run = prepare(problem, "opt-ac", iterations=MAX_EPISODES // problem.horizon, seed=seed)
    state = init(run.settings, run.handle)
    seconds, gap = 0.0, problem.optimal_value
    while gap > TARGET_GAP and run.handle.episodes_played < MAX_EPISODES:
        started = time.perf_counter()
        state, _ = step(run.settings, state, run.handle, run.rng)
        seconds += time.perf_counter() - started
        gap = problem.optimal_value - problem.value(state.policy)
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
    show_table(
        f"Opt-AC on {iteration['problem']}: what grows with k",
        ["", "early (k = 100)", "later", "ratio"],
        [
            [
                "milliseconds an iteration (k = 5000)",
                f"{1e3 * iteration['seconds_at_100']:.3f}",
                f"{1e3 * iteration['seconds_at_5000']:.3f}",
                f"{iteration['ratio']:.2f}",
            ],
            [
                "kilobytes held, members dropped (K = 1000, 3000)",
                f"{memory['bytes_early'] / 1e3:.0f}",
                f"{memory['bytes_late'] / 1e3:.0f}",
                f"{memory['ratio']:.2f}",
            ],
        ],
    )
    learners = [name for name in ("opt-ac", "rlberry-scool UCBVI") if name in lock]
    rows = []
    for name in learners:
        runs = lock[name]
        episodes, seconds = (median(run[key] for run in runs) for key in ("episodes", "seconds"))
        worst = max(run["gap"] for run in runs)
        rows.append([name, f"{episodes:.0f}", f"{seconds:.3f}", f"{worst:.3f}"])
    print()
    show_table(
        f"{lock['problem']}: until the last policy's gap ≤ {lock['target_gap']}, median of {lock['seeds']} seeds",
        ["", "episodes", "seconds", "largest gap at the end"],
        rows,
    )
    if "seconds_ratio" in lock:
        print(
            f"UCBVI over Opt-AC: {lock['seconds_ratio']:.1f} times the seconds, "
            f"{lock['episodes_ratio']:.1f} times the episodes"
        )
    else:
        print(
            "the peer was left out: give --peer-python an interpreter that has rlberry-scool (`make bench` does)"
        )
