"""`optac solve`: one algorithm on one problem, in a run's folder."""

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from optac import registry
from optac.algorithms import Result
from optac.algorithms.loop.learnt import Learnt, PlanInModel, PlanOnData
from optac.algorithms.loop.run import PreparedRun, prepare
from optac.errors import InvalidInput, RunFailed
from optac.mdp import Problem, RichProblem, TabularPolicy, described
from optac.mdp.grid import Grid, GridPolicy
from optac.models import DecodedPolicy, LowRankModel, RichModel
from optac.models.rich.decoders import Decoders, StepDecoder
from optac.oracles import Bill
from optac.plain_files import write_plain
from optac.runs.command_lines import resume_command
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row, read_json_object, write_json
from optac.runs.lease import Claim
from optac.runs.running import at_work
from optac.runs.solve_snapshots import FolderSnapshots, as_npz
from optac.settings import canonical, run_id
from optac.signals import noted

ELSEWHERE: Mapping[str, str] = {
    "iterations": "--iterations",
    "episodes": "--episodes",
    "seed": "--seed",
    "preset": "--preset",
    "algorithm": "--algorithm",
    "problem": "the first argument",
    "progress": "--quiet",
    "rho": "the Python keyword: it is an array",
}
"""Options of a solve that are no settings, and how each is given."""


RESULT: Final = "result.npz"
KEPT: Final = (
    "problem",
    "algorithm",
    "seed",
    "value",
    "optimal_value",
    "last_value",
    "last_policy",
    "episodes",
    "iterations",
    "bill",
    "coverage",
    "certificate",
    "certificate_bill",
    "model",
    "learnt",
)
"""what of a result is kept there; the rest is in the other files"""
KEPT_CLASSES: Final = (
    *(Bill, DecodedPolicy, Decoders, Grid, GridPolicy, Learnt, LowRankModel, PlanInModel, PlanOnData),
    *(StepDecoder, TabularPolicy),
)


@dataclass(frozen=True)
class SolveConfig:
    """Everything that determines a run of `optac solve`, however it was written."""

    problem: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "opt-ac"
    iterations: int | None = None
    episodes: int | None = None
    seed: int = 0
    preset: str = "practical"
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "SolveConfig":
        """The one that a config.json holds."""
        return cls(**{one.name: config[one.name] for one in fields(cls) if one.name in config})


@dataclass(frozen=True)
class PreparedSolve:
    """A solve with all its input checked: the run, its problem in words, its id, and what config.json will hold."""

    run: PreparedRun
    target: str
    id: str
    config: Mapping[str, Any]


def prepared_solve(config: SolveConfig, problem: Problem | None = None) -> PreparedSolve:
    """The run, before anything is written; `problem` saves making it again. Bad input is refused."""
    for name in config.settings.keys() & ELSEWHERE.keys():
        raise InvalidInput(f"set {name} with {ELSEWHERE[name]}, not with --set")
    choice = described(config.problem, config.parameters)
    run = prepare(
        choice.make() if problem is None else problem,
        config.algorithm,
        iterations=config.iterations,
        episodes=config.episodes,
        seed=config.seed,
        preset=config.preset,
        **config.settings,
    )
    source = Path(config.problem)
    digest = hashlib.sha256(source.read_bytes()).hexdigest() if source.suffix == ".npz" else None
    determining = dict(run.choices) if digest is None else {**run.choices, "problem_sha256": digest}
    chosen = [f"{name}{value}" for name, value in canonical(choice.chosen).items()]
    target = "-".join([source.stem if digest else choice.name, *chosen])
    settings = {name: value for name, value in run.choices.items() if name not in ELSEWHERE}
    return PreparedSolve(
        run,
        target,
        run_id(run.algorithm, target, determining, run.seed),
        {
            "kind": "solve",
            "problem": choice.name,
            "parameters": dict(choice.parameters),
            "algorithm": run.algorithm,
            "iterations": run.choices.get("iterations"),
            "episodes": run.choices.get("episodes"),
            "rounds": run.rounds,
            "seed": run.seed,
            "preset": config.preset,
            "settings": settings if run.keep_members else {**settings, "keep_members": False},
            "constants": asdict(run.settings),
            "problem_sha256": digest,
            "path": registry.paths(),
        },
    )


def problem_of(config: SolveConfig) -> Any:
    """The problem a configuration names: a family, an .npz file, or a toy-text environment's id."""
    return described(config.problem, config.parameters).make()


def run_solve(
    prepared: PreparedSolve,
    out: Path | None = None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> tuple[Result, RunFolder]:
    """Solve, with the history, the result and the last policy written to a run's folder."""
    folder = RunFolder.create(out or fresh_path(Path("runs") / prepared.id), prepared.config)
    with folder:
        return _run(prepared.run, folder, on_row), folder


def resume(
    path: Path | str,
    *,
    on_row: Callable[[Row], None] = lambda row: None,
    on_notice: Callable[[str], None] = lambda text: None,
    claim: Claim | None = None,
    trust: bool = False,
) -> Row:
    """Go on with an unfinished solve from its snapshot, else from its first iteration. What its result.json holds.

    A finished one is left alone. In a sweep, `claim` is the attempt that the launcher asks for. Code that only
    config.json names is imported with `trust` alone.
    """
    from optac.runs.kinds import SOLVE

    folder = RunFolder.open(path, claim)
    if not folder.is_finished:  # one that is may lie where nothing can be written
        with folder, registry.named_by(folder.config_path, trust=trust):
            if not folder.is_finished:  # meanwhile
                config = SOLVE.config_of(folder)
                prepared = prepared_solve(SolveConfig.of(config))
                if prepared.config["problem_sha256"] != config.get("problem_sha256"):
                    raise RunFailed(
                        f"{config['problem']} is another file than {folder.path} began with; put that back, or solve "
                        "anew in another folder"
                    )
                _run(prepared.run, folder, on_row)
    return read_json_object(folder.path / "result.json")


def fresh_path(path: Path) -> Path:
    """The path, or the first of path-2, path-3, … that does not exist."""
    number, fresh = 1, path
    while fresh.exists():
        number += 1
        fresh = path.with_name(f"{path.name}-{number}")
    return fresh


def _run(run: PreparedRun, folder: RunFolder, on_row: Callable[[Row], None]) -> Result:
    def keep(row: Row) -> None:
        folder.append(recorded(row))
        on_row(row)

    with at_work(folder), noted() as caught:
        folder.note_beginning()
        snapshots = FolderSnapshots(folder, caught, lambda: resume_command(folder.path, folder.config))
        result = replace(run, progress=keep)(snapshots=snapshots)
        folder.check()
        summary = {**result.summary(), "settings": asdict(result.settings), **_latents(run.problem, result)}
        write_json(folder.path / "result.json", recorded(summary))
        write_plain(folder.path / RESULT, as_npz(_kept(result), KEPT_CLASSES))
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **result.last_policy.arrays())
        write_plain(folder.path / "policy.npz", content.getvalue())
        snapshots.remove()
    return result


def _kept(result: Result) -> Row:
    """All of a result that is not in the folder's other files; what a clock said is no part of it."""
    members = list(result.policy.members)
    tables = np.stack(members) if members and isinstance(members[0], np.ndarray) else members
    kept: Row = {name: getattr(result, name) for name in KEPT}
    return {**kept, "members": tables, "mixed": len(result.policy)}


def _latents(problem: Problem, result: Result) -> Row:
    """Where only observations are seen: the learnt latents beside the true ones, and the value's standard error."""
    if not isinstance(problem, RichProblem) or not isinstance(result.model, RichModel):
        return {}
    decoders = result.model.decoders
    assert decoders is not None
    steps = zip(problem.confusion(decoders), decoders.used, strict=True)
    return {
        "confusion": [np.round(shares[:, :count].astype(float), 3).tolist() for shares, count in steps],
        "standard_error": problem.standard_error(result.last_policy),
    }


def recorded(row: Mapping[str, Any]) -> Row:
    """A row of a history, or a result, as a file holds it: the seconds, which a clock said, under `time/`."""
    return {name if name != "seconds" else "time/seconds": value for name, value in row.items()}
