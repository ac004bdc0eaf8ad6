"""`optac reproduce`: the catalogue of experiments as data, each a study whose rows lie under results/.

An experiment's folder has `cells.py`, what it runs, and `report.py`, which turns the rows into tables and figures.
The same command goes on where it stopped.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from optac.errors import unknown_name
from optac.runs.json_files import Row
from optac.sweeps.cells import Cell, run_study


@dataclass(frozen=True)
class Experiment:
    """Where an experiment's cells and its report are, and one line about it."""

    cells: str
    report: str
    summary: str


EXPERIMENTS: Mapping[str, Experiment] = {
    "table1": Experiment(
        "optac.studies.table1.cells",
        "optac.studies.table1.report",
        "the paper's Table 1 with measured columns: oracle calls, episodes to ε, seconds",
    ),
    "scaling": Experiment(
        "optac.studies.scaling.cells",
        "optac.studies.scaling.report",
        "episodes to ε against d, H, |A| and 1/ε beside the theorems' exponents, and the lower-bound instance",
    ),
    "oracles": Experiment(
        "optac.studies.oracles.cells",
        "optac.studies.oracles.report",
        "the hierarchy of oracles measured: PE convex, PP not, CP exponential, how errors grow",
    ),
    "opt-ac": Experiment(
        "optac.studies.opt_ac.cells",
        "optac.studies.opt_ac.report",
        "Opt-AC on every family: episodes until solved, the gap's slope in K, what the certificate is worth",
    ),
    "crff-rates": Experiment(
        "optac.studies.crff_rates.cells",
        "optac.studies.crff_rates.report",
        "the error of conditional Fourier features against W, d and N, each term apart, then together",
    ),
    "misspecified": Experiment(
        "optac.studies.misspecified.cells",
        "optac.studies.misspecified.report",
        "Opt-AC on smooth-walk: the gap against ζ, the effective dimension, episodes to ε with ζ tied to it",
    ),
}


@dataclass(frozen=True)
class SweptExperiment:
    """An experiment made of training runs: a sweep whose finished runs are published, and one line about it."""

    title: str
    summary: str


SWEPT: Mapping[str, SweptExperiment] = {
    "table2": SweptExperiment(
        "Table 2", "the paper's Table 2: six tasks, three agents, four seeds, ours beside the paper's"
    ),
    "training-curves": SweptExperiment(
        "Training curves", "the paper's training curves, from the runs of table2"
    ),
}


@dataclass(frozen=True)
class Reproduction:
    """The rows there are, how many there will be, and where they lie."""

    rows: list[Row]
    total: int
    path: Path


def experiment(name: str) -> Experiment:
    """The experiment of a name."""
    if name not in EXPERIMENTS:
        raise unknown_name("experiment", name, [*EXPERIMENTS, *SWEPT])
    return EXPERIMENTS[name]


def cells_of(name: str) -> list[Cell]:
    """The cells of an experiment, those that matter most first."""
    return list(import_module(experiment(name).cells).cells())


def reproduce(
    name: str,
    out: Path | None = None,
    *,
    jobs: int = 1,
    minutes: int | float | None = None,
    progress: Callable[[int, str], None] | None = None,
) -> Reproduction:
    """Run what is missing of an experiment, for at most so many minutes."""
    cells = cells_of(name)
    path = out or Path("results") / name
    config = {"kind": "reproduce", "experiment": name, "command": f"optac reproduce {name}"}
    rows = run_study(path, config, cells, jobs=jobs, progress=progress, minutes=minutes)
    return Reproduction(rows, len(cells), path)
