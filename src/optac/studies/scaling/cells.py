"""How the episodes to ε grow with d, H, |A| and 1/ε, one factor at a time, the settings held.

Also the mixture's gap against K, and N·ε²/(Hd|A|) on the instance of the lower bound.

Horizon and actions are varied on the combination lock, rank and ε on random simplex problems with the number
of states held, so that S is not the driver. The seed draws the instance and the learner both.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

from optac.errors import InvalidInput
from optac.mdp import make_problem
from optac.runs.json_files import Row
from optac.sweeps.cells import Cell, cell
from optac.sweeps.measuring import at_budgets, measured

SEEDS = 10
LEARNERS = ("opt-ac", "rep-ucb", "raffle")
HARD_LEARNERS = (*LEARNERS, "flambe", "moffle", "spanrl", "lsvi-ucb", "ucbvi", "epsilon-greedy")
EPSILON = 0.1
BUDGET = 20_000
RUNGS = 11
MIXTURE_EPISODES = 8_192

SIMPLEX: Mapping[str, Any] = {"states": 20, "actions": 3, "horizon": 4, "rank": 3}

# factor → value → (problem, its parameters, ε)
SWEEPS: Mapping[str, Mapping[float, tuple[str, Mapping[str, Any], float]]] = {
    "H": {H: ("combination-lock", {"horizon": H, "actions": 3}, EPSILON) for H in (3, 5, 8, 12)},
    "A": {A: ("combination-lock", {"horizon": 4, "actions": A}, EPSILON) for A in (2, 4, 8, 16)},
    "d": {d: ("random-simplex", {**SIMPLEX, "rank": d}, EPSILON) for d in (2, 3, 5, 8)},
    "1/ε": {round(1 / e, 1): ("random-simplex", SIMPLEX, e) for e in (0.2, 0.1, 0.05, 0.025)},
}

# The hard instance at a base point and with one factor doubled or tripled, or ε halved.
HARD_BASE: Mapping[str, Any] = {"horizon": 2, "rank": 6, "actions": 3, "epsilon": 0.2}
HARD_POINTS: Mapping[str, Mapping[str, Any]] = {
    "base": HARD_BASE,
    "d×2": {**HARD_BASE, "rank": 12},
    "A×2": {**HARD_BASE, "actions": 6},
    "ε/2": {**HARD_BASE, "epsilon": 0.1},
    "H×3": {**HARD_BASE, "horizon": 6},
}
HARD_LADDER = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""N·ε²/(Hd|A|) of every rung"""


def cells() -> list[Cell]:
    """The seeds outermost: a part of the cells is a smaller study, not a torn one."""
    values = [(factor, value) for factor, points in SWEEPS.items() for value in points]
    listed: list[Cell] = []
    for seed in range(SEEDS):
        for (factor, value), name in product(values, LEARNERS):
            about = {"factor": factor, "value": value, "algorithm": name, "seed": seed}
            listed.append(cell(measure_point, f"{factor}={value:g} {name} s{seed}", **about))
        for name in ("opt-ac", "rep-ucb"):
            listed.append(cell(measure_mixture, f"mixture {name} s{seed}", algorithm=name, seed=seed))
        for point, name in product(HARD_POINTS, HARD_LEARNERS):
            about = {"point": point, "algorithm": name, "seed": seed}
            listed.append(cell(measure_hard, f"lower-bound {point} {name} s{seed}", **about))
    return listed


def measure_point(factor: str, value: int | float, algorithm: str, seed: int) -> Row:
    """Episodes to ε at one value of one factor."""
    problem, parameters, epsilon = SWEEPS[factor][value]
    row = measured(
        make_problem(problem, **parameters, seed=seed),
        algorithm,
        seed=seed,
        episodes=BUDGET,
        epsilon=epsilon,
        rungs=RUNGS,
        stop_at="both",
    )
    del row["curve"]
    return {"kind": "sweep", "factor": factor, "value": value, "algorithm": algorithm, "seed": seed, **row}


def measure_mixture(algorithm: str, seed: int) -> Row:
    """The mixture's gap over a long run on a small lock."""
    lock = make_problem("combination-lock", horizon=4, actions=3, seed=seed)
    row = measured(lock, algorithm, seed=seed, episodes=MIXTURE_EPISODES, epsilon=EPSILON)
    return {"kind": "mixture", "algorithm": algorithm, "seed": seed, **row}


def measure_hard(point: str, algorithm: str, seed: int) -> Row:
    """The gap after N = c·Hd|A|/ε² episodes for every c of the ladder; an algorithm may refuse the instance.

    The seed draws the secret. N is read at fixed budgets, not when the gap is first small: a policy that wanders
    over so few secrets soon hits the right one by chance, without knowing it.
    """
    parameters = HARD_POINTS[point]
    about = {"kind": "hard", "point": point, "algorithm": algorithm, "seed": seed}
    budgets = {round(c * hard_size(parameters)): c for c in HARD_LADDER}
    problem = make_problem("lower-bound", **parameters, seed=seed)
    try:
        rungs = at_budgets(problem, algorithm, list(budgets), seed=seed)
    except InvalidInput as refusal:
        return {**about, "refused": str(refusal)}
    within = parameters["epsilon"] / 2
    return {**about, "within": within, "rungs": [{"c": budgets[rung["budget"]], **rung} for rung in rungs]}


def hard_size(parameters: Mapping[str, Any]) -> float:
    """Hd|A|/ε², the order of the lower bound."""
    horizon, rank, actions = parameters["horizon"], parameters["rank"], parameters["actions"]
    return float(horizon * rank * actions / parameters["epsilon"] ** 2)
