"""`optac compare`: several algorithms, several seeds, one problem, in a study's folder."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from optac.algorithms.loop.run import prepare
from optac.algorithms.protocol import load_algorithm
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, described
from optac.registry import ours
from optac.runs.identity import run_id
from optac.runs.solving import SolveConfig, own_settings, problem_of
from optac.sweeps.cells import Cell, run_study
from optac.sweeps.measuring import Row, measured

EPISODES_A_STEP = 1000


@dataclass(frozen=True)
class CompareConfig:
    """Everything that determines a comparison. A setting named `algorithm.name` is for that algorithm alone."""

    problem: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithms: Sequence[str] = tuple(ours("algorithm"))
    seeds: int = 5
    episodes: int | None = None
    epsilon: float = 0.1
    preset: str = "practical"
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The comparison's readable name: the same command has the same, and so goes on where it stopped."""
        target = "-".join(
            [Path(self.problem).stem, *(f"{key}{value}" for key, value in self.parameters.items())]
        )
        determining = {name: value for name, value in asdict(self).items() if name != "seeds"}
        return run_id("compare", target, {**determining, "file": self.file_digest}, self.seeds)

    @property
    def file_digest(self) -> str | None:
        """What the problem's file holds, where it is one: another file is another comparison."""
        path = Path(self.problem)
        if path.suffix != ".npz" or not path.is_file():
            return None
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def settings_of(self, algorithm: str) -> dict[str, Any]:
        """The settings for every algorithm, and on top of them this one's own."""
        shared = {name: value for name, value in self.settings.items() if "." not in name}
        own = {
            name.removeprefix(f"{algorithm}."): value
            for name, value in self.settings.items()
            if name.startswith(f"{algorithm}.")
        }
        return {**shared, **own}

    def solve_config(self) -> SolveConfig:
        return SolveConfig(problem=self.problem, parameters=self.parameters)


@dataclass(frozen=True)
class Comparison:
    """What a comparison will run, all of it checked, and who was left out and why."""

    config: CompareConfig
    problem: LowRankMDP
    episodes: int
    algorithms: tuple[str, ...]
    left_out: Mapping[str, str]

    def cells(self) -> list[Cell]:
        """One a pair of algorithm and seed, the seeds outermost, so that all algorithms advance together."""
        return [
            Cell(
                f"{algorithm} s{seed}",
                "optac.sweeps.comparing:compare_cell",
                {
                    "config": asdict(self.config),
                    "algorithm": algorithm,
                    "seed": seed,
                    "episodes": self.episodes,
                },
            )
            for seed in range(self.config.seeds)
            for algorithm in self.algorithms
        ]


def prepared_comparison(config: CompareConfig, *, leave_out: bool) -> Comparison:
    """The comparison with its input checked; with `leave_out` an algorithm that refuses the problem is left out."""
    if config.seeds < 1:
        raise InvalidInput(f"seeds={config.seeds} is not valid; seeds must be at least 1")
    if config.epsilon <= 0:
        raise InvalidInput(f"epsilon={config.epsilon} is not valid; epsilon must be above 0")
    for name in config.settings:
        if "." in name:
            load_algorithm(name.split(".")[0])
    choice = described(config.problem, config.parameters)
    config = replace(config, problem=choice.name, parameters=dict(choice.parameters))
    problem = choice.make()
    episodes = EPISODES_A_STEP * problem.horizon if config.episodes is None else config.episodes
    left_out: dict[str, str] = {}
    for algorithm in config.algorithms:
        load_algorithm(algorithm)
        try:
            settings = own_settings(config.settings_of(algorithm))
            prepare(problem, algorithm, episodes=episodes, preset=config.preset, **settings)
        except InvalidInput as error:
            if not leave_out:
                raise
            left_out[algorithm] = str(error)
    kept = tuple(name for name in dict.fromkeys(config.algorithms) if name not in left_out)
    if not kept:
        raise InvalidInput("; ".join(left_out.values()))
    return Comparison(config, problem, episodes, kept, left_out)


def run_compare(
    comparison: Comparison,
    out: Path | None,
    *,
    jobs: int,
    progress: Callable[[int, str], None] | None = None,
) -> tuple[list[Row], Path]:
    """The rows, and the folder they lie in."""
    config = comparison.config
    path = out or Path("runs") / config.id
    determining = {
        "kind": "compare",
        **asdict(config),
        "algorithms": list(comparison.algorithms),
        "episodes": comparison.episodes,
        "file": config.file_digest,
    }
    return run_study(path, determining, comparison.cells(), jobs=jobs, progress=progress), path


def compare_cell(config: Mapping[str, Any], algorithm: str, seed: int, episodes: int) -> Row:
    """One algorithm and seed of a comparison."""
    rebuilt = CompareConfig(**config)
    row = measured(
        problem_of(rebuilt.solve_config()),
        algorithm,
        seed=seed,
        episodes=episodes,
        epsilon=rebuilt.epsilon,
        preset=rebuilt.preset,
        **own_settings(rebuilt.settings_of(algorithm)),
    )
    return {"algorithm": algorithm, "seed": seed, **row}
