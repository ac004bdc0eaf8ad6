"""Opt-AC where only observations are seen: episodes until a lock is open for good, and what others need for it.

The seed draws the instance and the learner both. Settings are the preset's throughout, but for the one that a cell
is about. "Solved for good" means that the last policy's gap is at most 0.05 from that episode to the end of the budget.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from optac.algorithms.loop.result import Result
from optac.algorithms.loop.run import prepare
from optac.algorithms.opt_ac import init, step
from optac.mdp import RichProblem, make_problem
from optac.models import RichModel
from optac.runs.json_files import Row
from optac.studies.rich_lock.floor import measure_floor
from optac.sweeps.cells import Cell, cell

TARGET = 0.05
SEEDS, SEEDS_OF_RATIOS = 5, 10
"""seeds of a run, and of those that the ratios over dimensions are read from"""
BUDGETS: Mapping[int, int] = {6: 2_000, 12: 4_000, 25: 10_000, 50: 30_000, 100: 80_000}
"""horizon → episodes"""
SEA, SEA_SIZE = 6_000, 16
"""episodes and size of the sea: at 14, chance finds the treasure once in 16,384 episodes, within five of our medians"""
FLOOR: Mapping[str, int] = {"rich-lock": 25_000, "rich-sea": 40_000}
"""episodes of the floor, at least ten times our own median"""
EARLY, LATE, WINDOW = 200, 2_000, 100
"""iterations around which the cost of one is measured, and how many of them"""

Settings = Mapping[str, Any]


def cells() -> list[Cell]:
    """Every run, the quickest first; those that need another's library last."""
    return [
        *_locks(6),
        *_locks(12),
        *_sweeps(),
        *_sea(),
        cell(measure_cost, "cost of an iteration H=12"),
        *_long(),
    ]


def _runs(
    group: str, parameters: Settings, budget: int, problem: str = "rich-lock", seeds: int = SEEDS, **how: Any
) -> Iterator[Cell]:
    """A cell a seed; `how` may name the algorithm and its settings."""
    told = [f"{name}={value}" for name, value in parameters.items()]
    told += [f"{name}={value}" for name, value in how.get("settings", {}).items()]
    words = " ".join([group, how.get("algorithm", "opt-ac"), problem, *told])
    for seed in range(seeds):
        arguments = {"problem": problem, "parameters": dict(parameters), "budget": budget, "seed": seed}
        yield cell(measure, f"{words} s{seed}", group=group, **arguments, **how)


def _locks(horizon: int) -> Iterator[Cell]:
    """One horizon: the lock, with distractors, by clustering, by planning, and on the true latents."""
    lock, budget = {"horizon": horizon}, BUDGETS[horizon]
    loud = {**lock, "distractors": 4}
    yield from _runs("horizon", lock, budget, seeds=SEEDS_OF_RATIOS if horizon == 6 else SEEDS)
    yield from _runs("distractors", loud, budget)
    yield from _runs("rep-ucb", lock, budget, algorithm="rep-ucb")
    yield from _runs("gaussian", lock, budget, settings={"model_class": "gaussian"})
    yield from _runs("gaussian, distractors", loud, budget, settings={"model_class": "gaussian"})
    yield from _runs("true features", lock, 2 * budget, algorithm="lsvi-ucb")


def _sweeps() -> Iterator[Cell]:
    """One thing changed at a time, at H = 6; twice the budget, so that a ratio can be read."""
    lock, budget = {"horizon": 6}, 2 * BUDGETS[6]
    for dim in (32, 128):
        yield from _runs("dimension", {**lock, "dim": dim}, budget, seeds=SEEDS_OF_RATIOS)
    for rank in (3, 6, 12):
        yield from _runs("rank", lock, budget, settings={"rank": rank})
    yield from _runs("shared", {**lock, "shared": True}, budget)
    for distractors in (1, 2):
        yield from _runs("persistent", {**lock, "distractors": distractors, "persistent": True}, budget)
    yield from _runs("no bonus", lock, 3 * BUDGETS[6], settings={"alpha": 0.0})


def _sea() -> Iterator[Cell]:
    sea = {"size": SEA_SIZE}
    yield from _runs("sea", sea, SEA, "rich-sea")
    yield from _runs("sea, true features", sea, 2 * SEA, "rich-sea", algorithm="lsvi-ucb")


def _long() -> Iterator[Cell]:
    """Long horizons and runs, and the floor: the DQN of Stable-Baselines3 with ten times our episodes."""
    yield from _runs("horizon", {"horizon": 25}, BUDGETS[25])
    yield from _runs("distractors", {"horizon": 25, "distractors": 4}, BUDGETS[25])
    yield from _runs("gaussian", {"horizon": 25}, BUDGETS[25], settings={"model_class": "gaussian"})
    yield from _runs("horizon", {"horizon": 50}, BUDGETS[50])
    sea = {"size": SEA_SIZE}
    yield from _runs("sea, no bonus", sea, 20_000, "rich-sea", settings={"alpha": 0.0})
    yield from _runs("dimension", {"horizon": 6, "dim": 512}, 2 * BUDGETS[6], seeds=SEEDS_OF_RATIOS)
    yield from _runs("horizon", {"horizon": 100}, BUDGETS[100], seeds=3)
    for problem, parameters in (("rich-lock", {"horizon": 12}), ("rich-sea", sea)):
        words = " ".join(["floor DQN", problem, *(f"{name}={value}" for name, value in parameters.items())])
        how = {"learner": "DQN", "problem": problem, "parameters": parameters, "budget": FLOOR[problem]}
        yield cell(measure_floor, f"{words} s0", **how, seed=0)


def measure(
    group: str,
    problem: str,
    parameters: Settings,
    budget: int,
    seed: int,
    algorithm: str = "opt-ac",
    settings: Settings | None = None,
) -> Row:
    """One run to the end of its budget. LSVI-UCB is given the latents, which it takes as its features."""
    made = make_problem(problem, **parameters, seed=seed)
    assert isinstance(made, RichProblem)
    shown = made.latent_problem() if algorithm == "lsvi-ucb" else made
    made.held_out  # noqa: B018 (drawn before the clock starts)
    cpu, wall = time.process_time(), time.perf_counter()
    run = prepare(shown, algorithm, episodes=budget, seed=seed, keep_members=False, **(settings or {}))
    result = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "group": group,
        "problem": problem,
        "parameters": dict(parameters),
        "algorithm": algorithm,
        "settings": dict(settings or {}),
        "seed": seed,
        "budget": budget,
        "episodes": result.episodes,
        "solved": solved_for_good(result.history),
        "last_gap": result.last_gap,
        "bill": result.bill.asdict(),
        **_known(made, result),
        "time/cpu": cpu,
        "time/seconds": result.seconds,
        "time/evaluation": max(0.0, wall - result.seconds) / wall,
    }


def solved_for_good(history: Sequence[Row]) -> int | None:
    """The episodes after which the last policy's gap was at most 0.05 in every row; None if it is not at the end."""
    solved = None
    for row in reversed(history):
        if row["last_gap"] > TARGET:
            break
        solved = int(row["episodes"])
    return solved


def _known(problem: RichProblem, result: Result) -> Row:
    """What only a learner of latents has: how many it found a step, and the standard error of its policy's value."""
    if not isinstance(result.model, RichModel) or result.model.decoders is None:
        return {}
    return {
        "latents": result.model.decoders.used.tolist(),
        "standard_error": problem.standard_error(result.last_policy),
    }


def measure_cost() -> Row:
    """Mean seconds of the hundred iterations around 2,000 over those around 200 at H = 12, refits included.

    Beside them the relative residuals of the regressions that carry the summed critic over to new latents.
    """
    run = prepare(make_problem("rich-lock", horizon=12), "opt-ac", iterations=LATE + WINDOW // 2)
    state, each, residuals = init(run.settings, run.handle), [], []
    for _ in range(LATE + WINDOW // 2):
        started = time.process_time()
        state, _ = step(run.settings, state, run.handle, run.rng)
        each.append(time.process_time() - started)
        if isinstance(state.model, RichModel) and state.model.starts:
            residuals.append(state.model.carry_error)
    early, late = (each[k - WINDOW // 2 : k + WINDOW // 2] for k in (EARLY, LATE))
    held = sum(array.nbytes for array in vars(state.data).values() if hasattr(array, "nbytes"))
    return {
        "group": "cost",
        "time/early": sum(early) / WINDOW,
        "time/late": sum(late) / WINDOW,
        "time/medians": [median(early), median(late)],
        "time/ratio": sum(late) / sum(early),
        "buffer_bytes": held,
        "refits": len(residuals),
        "carry_error": {"median": median(residuals), "most": max(residuals)},
    }
