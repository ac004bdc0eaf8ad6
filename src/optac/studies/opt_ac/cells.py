"""Opt-AC's practical preset on every family: when it solves, how its gap falls with K, its certificate's worth."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from optac.algorithms.loop.run import prepare
from optac.mdp import make_problem
from optac.runs.json_files import Row
from optac.sweeps.cells import Cell

LOGGED_ITERATIONS = 40
CERTIFIED = 50


@dataclass(frozen=True)
class StudyRun:
    """One seed of one problem under one preset, and the gap of the last policy that counts as solved."""

    study: str
    problem: str
    parameters: dict[str, Any]
    seed: int
    episodes: int
    target: float | str
    preset: str = "practical"
    algorithm: str = "opt-ac"
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A readable id that no other run has."""
        changed = {**self.parameters, **self.settings}
        words = " ".join(f"{name}={value}" for name, value in changed.items())
        return f"{self.study} {self.preset} {self.algorithm} {self.problem} {words} s{self.seed}"


def cells() -> list[Cell]:
    """One cell per run."""
    return [Cell(run.id, f"{__name__}:measure", asdict(run)) for run in planned_runs()]


def planned_runs() -> Iterator[StudyRun]:
    """Every run of the study, the quickest first."""
    fraction = "5 % of V* − V(uniform)"
    lock = "combination-lock"
    short = {"horizon": 6, "actions": 10}
    yield from (StudyRun("solved", lock, short, s, 2_000, 0.05) for s in range(20))
    for s in range(3):
        yield StudyRun("solved", lock, short, s, 2_000, 0.05, algorithm="epsilon-greedy")
    yield from (StudyRun("solved", lock, {"horizon": 12, "actions": 10}, s, 15_000, 0.05) for s in range(5))
    observed = {"horizon": 6, "actions": 4, "observations": 10}
    yield from (StudyRun("solved", "observed-lock", observed, s, 6_000, 0.05) for s in range(5))
    yield from (StudyRun("solved", "river-swim", {}, s, 10_000, fraction) for s in range(3))
    yield from (StudyRun("solved", "deep-sea", {"size": 10}, s, 10_000, fraction) for s in range(3))
    for instance in range(3):
        simplex = {"states": 30, "actions": 4, "horizon": 5, "rank": 3, "seed": instance}
        yield from (StudyRun("solved", "random-simplex", simplex, s, 6_000, fraction) for s in range(3))
    yield from (StudyRun("solved", lock, {"horizon": 100, "actions": 10}, s, 100_000, 0.05) for s in range(3))
    yield from (StudyRun("solved", "FrozenLake-v1", {"horizon": 20}, s, 100_000, fraction) for s in range(3))
    for s in range(CERTIFIED):
        bandit = {"horizon": 2, "rank": 8, "actions": 4, "seed": s}
        yield StudyRun("certificate", "lower-bound", bandit, s, 2_000, 0.05)
        simplex = {"states": 10, "actions": 3, "horizon": 3, "rank": 3, "seed": s}
        yield StudyRun("certificate", "random-simplex", simplex, s, 1_500, 0.05)
    small = {"horizon": 3, "actions": 3}
    decoder = {"model_class": "decoder"}
    for s in range(CERTIFIED):
        here = {**small, "seed": s}
        yield StudyRun("certificate", lock, here, s, 3_000, 0.05)
        ids = {**small, "observations": 4, "seed": s}
        yield StudyRun("certificate", "observed-lock", ids, s, 1_500, 0.05, settings=decoder)
    for s in range(5):
        for clipped in ({}, {"critic_max": 0.0}):
            finite = {"model_class": "finite", "pe": "exact", **clipped}
            here = {**small, "seed": s}
            yield StudyRun("certificate", lock, here, s, 4_500, 0.05, preset="theory", settings=finite)


def measure(**arguments: Any) -> Row:
    """One run to the end of its budget: when it was solved, its gaps and its certificate."""
    run = StudyRun(**arguments)
    problem = make_problem(run.problem, **run.parameters)
    target = run.target
    if not isinstance(target, float):
        target = 0.05 * (problem.optimal_value - problem.uniform_value)
    solved: list[int] = []
    unsolved: list[int] = []

    def look(row: Row) -> bool:
        """Every iteration's row, of which the history holds a thousand and the last."""
        (solved if row["last_gap"] <= target else unsolved).append(row["episodes"])
        return False

    result = prepare(
        problem,
        run.algorithm,
        episodes=run.episodes,
        seed=run.seed,
        preset=run.preset,
        keep_members=run.study == "certificate",
        **run.settings,
    )(until=look)
    powers = (i / LOGGED_ITERATIONS for i in range(LOGGED_ITERATIONS + 1))
    spaced = sorted({round(len(result.history) ** power) for power in powers})
    return {
        **asdict(run),
        "target_gap": target,
        "uniform_gap": problem.optimal_value - problem.uniform_value,
        "first_solved": solved[0] if solved else None,
        "solved_for_good": problem.horizon + max(unsolved, default=0) if result.last_gap <= target else None,
        "last_gap": result.last_gap,
        "gap": result.gap,
        "certificate": result.certificate,
        "played": result.episodes,
        "time/seconds": result.seconds,
        "curve": {name: [result.history[k - 1][name] for k in spaced] for name in ("iteration", "gap")},
    }
