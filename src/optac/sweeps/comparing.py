"""`optac compare`: several algorithms and seeds on one problem. Each pair is a cell of a study, and a solve to ε.

A comparison is a study and not a sweep: it keeps one row per pair, not a folder, and of a reward-free algorithm a
ladder of runs. What a pair is, with its settings and its id, is a solve's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from optac.algorithms.protocol import algorithm_name, load_algorithm
from optac.errors import InvalidInput
from optac.mdp import Problem
from optac.registry import ours
from optac.runs.json_files import Row
from optac.runs.solving import PreparedSolve, SolveConfig, prepared_solve, problem_of
from optac.settings import read, run_id
from optac.sweeps.cells import Cell
from optac.sweeps.measuring import measured
from optac.sweeps.plan import MOST_RUNS

EPISODES_A_STEP = 1000


@dataclass(frozen=True)
class Comparison:
    """A comparison with its input checked: what each algorithm solves, and who was left out and why."""

    problem: Problem
    solves: Mapping[str, PreparedSolve]
    preset: str
    seeds: int
    epsilon: float
    episodes: int
    left_out: Mapping[str, str]

    @property
    def id(self) -> str:
        """Its readable name: the same comparison, however written, has the same, and so resumes where it stopped."""
        determining = {"solves": sorted(solve.id for solve in self.solves.values()), "epsilon": self.epsilon}
        return run_id("compare", next(iter(self.solves.values())).target, determining, self.seeds)

    @property
    def config(self) -> dict[str, Any]:
        """Everything that determines it, as config.json holds it."""
        one = next(iter(self.solves.values())).config
        settings = {
            f"{algorithm}.{name}": value
            for algorithm, solve in self.solves.items()
            for name, value in solve.config["settings"].items()
        }
        problem = {name: one[name] for name in ("problem", "parameters", "problem_sha256")}
        asked = {name: getattr(self, name) for name in ("seeds", "episodes", "epsilon", "preset")}
        return {
            "kind": "compare",
            **problem,
            "algorithms": sorted(self.solves),
            **asked,
            "settings": settings,
        }

    def cells(self) -> list[Cell]:
        """One for each pair of algorithm and seed, the seeds outermost, so that all algorithms advance together."""
        return [
            Cell(
                f"{algorithm} s{seed}",
                "optac.sweeps.comparing:compare_cell",
                {**asdict(SolveConfig.of(solve.config)), "seed": seed, "epsilon": self.epsilon},
            )
            for seed in range(self.seeds)
            for algorithm, solve in self.solves.items()
        ]


def prepared_comparison(
    problem: str,
    parameters: Mapping[str, Any] | None = None,
    algorithms: Sequence[str] | None = None,
    *,
    seeds: int = 5,
    episodes: int | None = None,
    epsilon: float = 0.1,
    preset: str = "practical",
    settings: Mapping[str, Any] | None = None,
) -> Comparison:
    """The comparison with its input checked. A setting named `algorithm.name` is for that algorithm alone.

    Without `algorithms` it is of all of ours, and who refuses the problem or a setting is left out.
    """
    read("seeds", seeds, int, least=1)
    read("epsilon", epsilon, float, above=0)
    given = {name: name.rpartition(".") for name in settings or {}}
    for owner, _, _ in given.values():
        if owner:
            load_algorithm(owner)
    base = SolveConfig(problem, parameters or {}, preset=preset)
    made = problem_of(base)
    cap = EPISODES_A_STEP * made.horizon if episodes is None else episodes
    solves: dict[str, PreparedSolve] = {}
    left_out: dict[str, str] = {}
    for algorithm in dict.fromkeys(map(algorithm_name, algorithms or ours("algorithm"))):
        own = {
            name: (settings or {})[whole]
            for who in ("", algorithm)
            for whole, (owner, _, name) in given.items()
            if owner == who
        }
        load_algorithm(algorithm)
        try:
            one = replace(base, algorithm=algorithm, episodes=cap, settings=own)
            solves[algorithm] = prepared_solve(one, made)
        except InvalidInput as error:
            if algorithms:
                raise
            left_out[algorithm] = str(error)
    if not solves:
        raise InvalidInput("; ".join(left_out.values()))
    if seeds * len(solves) > MOST_RUNS:
        raise InvalidInput(
            f"seeds={seeds} for each of the {len(solves)} algorithms named are more than the {MOST_RUNS:,} runs that a "
            "comparison may have"
        )
    return Comparison(made, solves, preset, seeds, epsilon, cap, left_out)


def compare_cell(*, epsilon: float, **config: Any) -> Row:
    """One algorithm and seed of a comparison."""
    solve = SolveConfig(**config)
    assert solve.episodes is not None
    row = measured(
        problem_of(solve),
        solve.algorithm,
        seed=solve.seed,
        episodes=solve.episodes,
        epsilon=epsilon,
        preset=solve.preset,
        **solve.settings,
    )
    return {"algorithm": solve.algorithm, "seed": solve.seed, **row}
