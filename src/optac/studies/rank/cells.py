"""What low rank buys: episodes until solved for good against S, d and |A|; how α was chosen.

Solved means that the last policy's exact gap is at most 0.05 on locks, 5 % of V* − V(uniform) elsewhere, from there to
the end of the run; a run ends at its cap, or once that has held for twice the episodes it took. The seed draws
the instance and the learner both, but for the choice of α, whose instances are fixed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from optac.mdp import make_problem
from optac.runs.json_files import Row
from optac.sweeps.cells import Cell
from optac.sweeps.measuring import Stop, measured

CAP = 20_000
SEEDS = {"S": 10, "own": 3, "d": 5, "A": 5, "alpha": 3}
OBSERVATIONS = (5, 20, 50, 200, 1000)
ALPHAS = (0.02, 0.1, 0.3)
OWN_PROBLEM = "optac.studies.rank.own_problems:own_problem"
DECODER, LINEAR = {"model_class": "decoder"}, {"model_class": "linear"}
TIES = {"optimistic_ties": True, "untried": "uniform"}


@dataclass(frozen=True)
class Learner:
    """An algorithm with a class, and the largest number of ids a latent that it is run with."""

    algorithm: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    largest: int = 1000
    dear: int = 1000
    """with more ids a latent only the first seed is run"""
    table: bool = False
    """rank = S: nothing is taken together"""


LEARNERS: Mapping[str, Learner] = {
    "opt-ac, linear": Learner("opt-ac", LINEAR),
    "opt-ac, decoder": Learner("opt-ac", DECODER, largest=200),
    "opt-ac, simplex": Learner("opt-ac", largest=50, dear=5),
    "opt-ac, table": Learner("opt-ac", largest=50, table=True),
    "opt-ac, table, ties": Learner("opt-ac", TIES, largest=50, table=True),
    "rep-ucb, linear": Learner("rep-ucb", LINEAR),
    "rep-ucb, decoder": Learner("rep-ucb", DECODER, largest=200),
    "rep-ucb, simplex": Learner("rep-ucb", largest=50, dear=5),
    "rep-ucb, table": Learner("rep-ucb", largest=50, table=True),
    "ucbvi": Learner("ucbvi"),
    "lsvi-ucb, features known": Learner("lsvi-ucb"),
}
FEW = ("opt-ac, linear", "opt-ac, decoder", "ucbvi")
OWN: Mapping[str, Mapping[str, int]] = {
    "own S=50 d=2": {"states": 50, "rank": 2},
    "own S=100 d=3": {"states": 100, "rank": 3},
    "own S=150 d=3": {"states": 150, "rank": 3},
    "own S=200 d=4": {"states": 200, "rank": 4},
    "own S=300 d=5": {"states": 300, "rank": 5},
}

# Instances on which α was chosen: in no table.
CHOICE: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any], int]] = {
    "lock 8 × 6": ("combination-lock", {"horizon": 8, "actions": 6, "seed": 101}, {}, 4_000),
    "deep-sea 7": ("deep-sea", {"size": 7, "seed": 105}, {}, 2_000),
    "FrozenLake, 12 steps": ("FrozenLake-v1", {"horizon": 12}, {}, 24_000),
    "lock through 36 ids": (
        "observed-lock",
        {"horizon": 4, "actions": 5, "observations": 12, "seed": 102},
        DECODER,
        4_000,
    ),
    "lock through 90 ids": (
        "observed-lock",
        {"horizon": 5, "actions": 3, "observations": 30, "seed": 103},
        DECODER,
        4_000,
    ),
    "own S=60 d=3": (
        OWN_PROBLEM,
        {"states": 60, "actions": 4, "horizon": 6, "rank": 3, "seed": 106},
        DECODER,
        4_000,
    ),
    "own S=120 d=4": (
        OWN_PROBLEM,
        {"states": 120, "actions": 3, "horizon": 5, "rank": 4, "seed": 107},
        LINEAR,
        4_000,
    ),
}


@dataclass(frozen=True)
class RankRun:
    """One run of a part of the study; `at` is its place in the part's table."""

    part: str
    at: int | float | str
    learner: str
    problem: str
    parameters: Mapping[str, Any]
    algorithm: str
    settings: Mapping[str, Any]
    seed: int
    cap: int = CAP

    @property
    def id(self) -> str:
        """A readable id that no other run has."""
        return f"{self.part}: {self.at}, {self.learner} s{self.seed}"


def cells() -> list[Cell]:
    """One cell a run, the seeds outermost: a part of the cells is a smaller study, not a torn one."""
    return [Cell(run.id, f"{__name__}:measure", asdict(run)) for run in planned_runs()]


def planned_runs() -> Iterator[RankRun]:
    for seed in range(max(SEEDS.values())):
        runs = (_choices(seed), _against_states(seed), _own(seed), _against_rank_and_actions(seed))
        yield from (run for part in runs for run in part if seed < SEEDS[run.part])


def _choices(seed: int) -> Iterator[RankRun]:
    for name, (problem, parameters, settings, cap) in CHOICE.items():
        for alpha in ALPHAS:
            chosen = {**settings, "alpha": alpha, "lam": alpha**2}
            yield RankRun("alpha", name, f"α = {alpha:g}", problem, parameters, "opt-ac", chosen, seed, cap)


def _against_states(seed: int) -> Iterator[RankRun]:
    for m in OBSERVATIONS:
        lock = {"horizon": 5, "actions": 4, "observations": m, "seed": seed}
        for name, learner in LEARNERS.items():
            if m <= (learner.largest if seed == 0 else min(learner.largest, learner.dear)):
                settings = {**learner.settings, **({"rank": 3 * m} if learner.table else {})}
                yield RankRun("S", 3 * m, name, "observed-lock", lock, learner.algorithm, settings, seed)


def _own(seed: int) -> Iterator[RankRun]:
    for name, sizes in OWN.items():
        yield from _few("own", name, OWN_PROBLEM, {**sizes, "actions": 5, "horizon": 10, "seed": seed}, seed)


def _against_rank_and_actions(seed: int) -> Iterator[RankRun]:
    for d in (2, 4, 8):
        sizes = {"states": 60, "actions": 4, "horizon": 5, "rank": d, "seed": seed}
        yield from _few("d", d, OWN_PROBLEM, sizes, seed)
    for actions in (2, 4, 8):
        lock = {"horizon": 4, "actions": actions, "observations": 10, "seed": seed}
        yield from _few("A", actions, "observed-lock", lock, seed)


def _few(
    part: str, at: int | str, problem: str, parameters: Mapping[str, Any], seed: int
) -> Iterator[RankRun]:
    for name in FEW:
        learner = LEARNERS[name]
        yield RankRun(part, at, name, problem, parameters, learner.algorithm, learner.settings, seed)


def measure(**arguments: Any) -> Row:
    """One run until its last policy is within the target for good, or to its cap."""
    run = RankRun(**arguments)
    row = solved_row(run.problem, run.parameters, run.algorithm, run.seed, run.cap, "last", run.settings)
    return {**asdict(run), **row}


def solved_row(
    problem: str,
    parameters: Mapping[str, Any],
    algorithm: str,
    seed: int,
    cap: int,
    stop_at: Stop,
    settings: Mapping[str, Any],
) -> Row:
    """What a run needed to the target of its problem: 0.05 on locks, 5 % of V* − V(uniform) elsewhere."""
    made = make_problem(problem, **parameters)
    target = 0.05 if "lock" in problem else 0.05 * (made.optimal_value - made.uniform_value)
    row = measured(made, algorithm, seed=seed, episodes=cap, epsilon=target, stop_at=stop_at, **settings)
    del row["curve"]
    return {"target": target, **row}
