"""What each part of Opt-AC does: one thing changed at a time, on five problems, ten seeds of the learner each.

Solved means what it means in the study of rank; runs go on until the mixture is there too, or to their cap.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from optac.runs.json_files import Row
from optac.studies.rank.cells import DECODER, TIES, solved_row
from optac.sweeps.cells import Cell

SEEDS = 10

# Problem and class, and the episodes they are given.
ABLATED: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any], int]] = {
    "lock 6 × 10": ("combination-lock", {"horizon": 6, "actions": 10}, {}, 3_000),
    "lock through 30 ids, decoder": (
        "observed-lock",
        {"horizon": 5, "actions": 4, "observations": 10},
        DECODER,
        3_000,
    ),
    "deep-sea 10": ("deep-sea", {"size": 10}, {}, 2_000),
    "river-swim": ("river-swim", {}, {}, 4_000),
    "random-simplex": (
        "random-simplex",
        {"states": 30, "actions": 4, "horizon": 5, "rank": 3},
        {},
        4_000,
    ),
}
ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "α = 0": {"alpha": 0.0},
    "ties": TIES,
    "rank = S": {"rank": "S"},
    "one transition a roll-in": {"whole_trajectories": False},
}


@dataclass(frozen=True)
class AblationRun:
    """One run with one thing changed."""

    on: str
    ablation: str
    problem: str
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    cap: int

    @property
    def id(self) -> str:
        """A readable id that no other run has."""
        return f"{self.on}, {self.ablation} s{self.seed}"


def cells() -> list[Cell]:
    """One cell a run, the seeds outermost: a part of the cells is a smaller study, not a torn one."""
    return [
        Cell(run.id, f"{__name__}:measure", asdict(run)) for seed in range(SEEDS) for run in _ablations(seed)
    ]


def _ablations(seed: int) -> Iterator[AblationRun]:
    for name, (problem, parameters, settings, cap) in ABLATED.items():
        for ablation, changes in ABLATIONS.items():
            chosen = {**settings, **changes}
            if chosen.get("rank") == "S":
                if "observations" not in parameters and "rank" not in parameters:
                    continue  # a table has rank S as it is
                chosen["rank"] = 3 * parameters["observations"] if settings else parameters["states"]
            yield AblationRun(name, ablation, problem, parameters, chosen, seed, cap)


def measure(**arguments: Any) -> Row:
    """One run until its last policy and its mixture are within the target for good, or to its cap."""
    run = AblationRun(**arguments)
    row = solved_row(run.problem, run.parameters, "opt-ac", run.seed, run.cap, "both", run.settings)
    return {**asdict(run), **row}
