"""`optac bench size`: an iteration of Opt-AC with ten thousand states, and problems with three thousand solved.

CPU seconds of one core: what else runs on the machine does not enter.
"""

import resource
import sys
import time
from dataclasses import replace
from typing import Any

from optac.mdp import make_problem
from optac.provenance import provenance
from optac.studies.bench import spread
from optac.studies.rank.own_problems import own_problem
from optac.terminal import show_table

SIZES = {"states": 10_000, "actions": 5, "horizon": 10, "rank": 5}
EPISODES, ITERATIONS = 2_000, 8
CLASSES = ("linear", "decoder")
# Problem, its parameters, the algorithm, its settings.
SOLVED: tuple[tuple[str, dict[str, Any], str, dict[str, Any]], ...] = (
    (
        "observed-lock",
        {"horizon": 5, "actions": 4, "observations": 1_000},
        "opt-ac",
        {"model_class": "linear"},
    ),
    ("random-simplex", {"states": 3_000}, "lsvi-ucb", {}),
)


def measure(*, peer_python: str | None = None, quiet: bool = True) -> dict[str, Any]:
    """All of it, and the most memory that the process held."""
    found: dict[str, Any] = {"bench": "size", **provenance("optac bench size"), "sizes": SIZES}
    found["iterations"] = {}
    for name in CLASSES:
        if not quiet:
            print(f"iterations with {name} …", file=sys.stderr, flush=True)
        found["iterations"][name] = iterations(name)
    found["solved"] = [solved(*one) for one in SOLVED]
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def iterations(model_class: str) -> list[float]:
    """CPU seconds of iterations once 2,000 episodes of uniform play are in; the first one fits from fresh starts."""
    from optac.algorithms.loop.run import prepare
    from optac.algorithms.opt_ac import init, step

    run = prepare(own_problem(**SIZES), "opt-ac", iterations=400, model_class=model_class, keep_members=False)
    state = init(run.settings, run.handle)
    data = state.data
    for _ in range(EPISODES // SIZES["horizon"]):
        data = data.add_roll_ins(run.handle.roll_in(state.policy), whole_trajectories=True)
    state = replace(state, data=data)
    seconds = []
    for _ in range(ITERATIONS):
        started = time.process_time()
        state, _ = step(run.settings, state, run.handle, run.rng)
        seconds.append(time.process_time() - started)
    return seconds


def solved(name: str, parameters: dict[str, Any], algorithm: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Episodes and CPU seconds until the last policy's gap is first within 5 % of V* − V(uniform)."""
    from optac.algorithms.loop.run import prepare

    started = time.process_time()
    problem = make_problem(name, **parameters)
    target = 0.05 * (problem.optimal_value - problem.uniform_value)
    run = prepare(problem, algorithm, episodes=20_000, keep_members=False, **settings)
    result = run(until=lambda row: bool(row["last_gap"] <= target))
    return {
        "problem": repr(problem)[1:-1],
        "algorithm": algorithm,
        "settings": settings,
        "episodes": result.episodes,
        "last_gap": result.last_gap,
        "target_gap": target,
        "seconds": time.process_time() - started,
    }


def show(measured: dict[str, Any]) -> None:
    """Print the results of `bench size`."""
    sizes = ", ".join(f"{name} {value:,}" for name, value in measured["sizes"].items())
    rows = [
        [name, f"{seconds[0]:.1f}", spread(seconds[1:], 2)]
        for name, seconds in measured["iterations"].items()
    ]
    columns = ["", "fresh starts compete", "else: median (least–most)"]
    show_table(
        f"CPU seconds an iteration of Opt-AC once {EPISODES:,} episodes are in: {sizes}", columns, rows
    )
    print()
    show_table(
        "Within 5 % of V* − V(uniform)",
        ["problem", "learner", "episodes", "last gap", "CPU seconds"],
        [
            [
                run["problem"],
                " ".join([run["algorithm"], *run["settings"].values()]),
                f"{run['episodes']:,}",
                f"{run['last_gap']:.3f}",
                f"{run['seconds']:.1f}",
            ]
            for run in measured["solved"]
        ],
    )
    print(f"the most memory that the process held: {measured['megabytes']:,.0f} MB")
