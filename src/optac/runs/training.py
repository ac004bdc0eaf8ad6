"""Training an agent in a run's folder: start, resume, evaluate."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from optac.agents.record import record_of
from optac.agents.training import checkpoint, snapshot
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.compiled import CompiledAgent, compiled
from optac.agents.training.evaluation import evaluate as play
from optac.agents.training.learner import Learner
from optac.agents.training.loop import Row
from optac.agents.training.store import ResumeWarning, learner_of
from optac.environments import check_environment, make
from optac.errors import InvalidInput, RunFailed
from optac.runs.folder import RunFolder
from optac.runs.kinds import TRAIN, kind_of
from optac.runs.lease import Claim
from optac.runs.running import Interrupted
from optac.runs.training_config import training_config, training_id
from optac.runs.training_result import TrainingResult
from optac.runs.training_run import result_of, run

__all__ = ["Interrupted", "evaluate", "open_learner", "resume", "train"]

Notice = Callable[[str], None]


def train(
    environment: str,
    agent: str = "crffsac",
    *,
    steps: int,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    out: Path | str | None = None,
    on_row: Callable[[Row], None] = lambda row: None,
    show_progress: bool = False,
    tensorboard: bool = False,
) -> TrainingResult:
    """The result of a new run in `out` (default runs/<id>); bad input is refused before it starts."""
    config = training_config(environment, agent, steps=steps, seed=seed, settings=settings or {})
    env = make(environment)
    check_environment(env)
    folder = RunFolder.create(Path("runs") / training_id(config) if out is None else out, config)
    with folder:
        return run(
            folder,
            config,
            _chosen(config),
            env,
            None,
            on_row=on_row,
            show_progress=show_progress,
            tensorboard=tensorboard,
        )


def resume(
    path: Path | str,
    *,
    on_row: Callable[[Row], None] = lambda row: None,
    on_notice: Notice = lambda text: None,
    show_progress: bool = False,
    tensorboard: bool = False,
    claim: Claim | None = None,
) -> TrainingResult:
    """Go on from the newest sound checkpoint; a finished run is left alone and its result returned.

    In a sweep, `claim` is the attempt that the launcher asks for.
    """
    folder = RunFolder.open(path, claim)
    config = _config(folder)
    with folder:
        found = _newest(folder, on_notice)
        ended = folder.is_finished
        if ended and found is None:
            again = config.get("command", "optac train makes it again")
            raise InvalidInput(
                f"{folder.path} is the record of a finished run, without its checkpoints: {again}"
            )
        _refuse_another(folder, config, found)
        if ended and found is not None and found.meta.get("step") == config["steps"]:
            return _finished(folder, config, found)
        env = make(config["environment"])
        return run(
            folder,
            config,
            _chosen(config),
            env,
            found,
            on_row=on_row,
            show_progress=show_progress,
            tensorboard=tensorboard,
        )


def evaluate(
    path: Path | str, *, episodes: int = 10, seed: int = 0, on_notice: Notice = lambda text: None
) -> TrainingResult:
    """The saved policy on fresh seeds, none that training or its evaluations used; `seed` chooses among them."""
    if episodes < 1:
        raise InvalidInput(f"episodes={episodes} must be at least 1")
    if seed < 0:
        raise InvalidInput(f"seed={seed} must be at least 0")
    folder, config, learner = open_learner(path, on_notice)
    # Training evaluates at places 1 … steps, so the ones after these are fresh.
    played = play(
        learner.policy,
        lambda: make(config["environment"]),
        episodes=episodes,
        seed=config["seed"],
        place=config["steps"] + 1 + seed,
    )
    return TrainingResult(
        agent=config["agent"],
        environment=config["environment"],
        seed=config["seed"],
        steps=learner.step,
        mean_reward=played.mean,
        std_reward=played.std,
        episodes=episodes,
        parameters_sha256=snapshot.parameters_sha256(learner),
        steps_per_second=None,
        exact=True,
        folder=str(folder.path),
    )


def open_learner(path: Path | str, on_notice: Notice) -> tuple[RunFolder, dict[str, Any], Learner]:
    """A run's learner at its newest sound checkpoint, to look at; nothing in the folder is touched."""
    folder = RunFolder.open(path)
    config = _config(folder)
    found = _newest(folder, on_notice)
    if found is None:
        raise RunFailed(
            f"{folder.path} has not saved a checkpoint yet; let it train to its first, or `optac resume` it where it "
            "was stopped"
        )
    return folder, config, _learner(config, found)


def _refuse_another(folder: RunFolder, config: Mapping[str, Any], found: Checkpoint | None) -> None:
    """Refuse to go on with another agent, seed or setting than the checkpoint was made with."""
    if found is None:
        return
    with checkpoint.read_as_ours(found):
        then = {"agent": found.meta["agent"], "seed": found.meta["seed"], **found.meta["settings"]}
    now = {"agent": record_of(config["agent"]).name, "seed": config["seed"], **config["settings"]}
    for name in then.keys() & now.keys():
        if then[name] != now[name]:
            raise RunFailed(
                f"{folder.config_path} says {name}={now[name]!r}, but the run was saved with {then[name]!r}; "
                "put it back, or start another run with `optac train`"
            )


def _chosen(config: Mapping[str, Any]) -> CompiledAgent:
    record = record_of(config["agent"])
    return compiled(record, record.choose(config["settings"]))


def _learner(config: Mapping[str, Any], found: Checkpoint) -> Learner:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)
        return learner_of(found, _chosen(config), make(config["environment"]))


def _newest(folder: RunFolder, on_notice: Notice) -> Checkpoint | None:
    """The newest sound checkpoint, with a notice for each damaged one; None where none was ever saved."""
    found, damage = checkpoint.newest_sound(folder.checkpoints)
    if found is None and damage:
        raise RunFailed(
            f"no sound checkpoint is left in {folder.checkpoints}; start the run anew. {damage[0]}"
        )
    for error in damage:
        on_notice(f"{error}; using the one before it")
    return found


def _finished(folder: RunFolder, config: Mapping[str, Any], found: Checkpoint) -> TrainingResult:
    sha256 = snapshot.parameters_sha256(_learner(config, found))
    exact = bool(found.meta.get("exact", True))
    return result_of(folder, config, int(found.meta["step"]), sha256, speed=None, exact=exact)


def _config(folder: RunFolder) -> dict[str, Any]:
    """The run's configuration; a RunFailed where it is not that of a training run."""
    config = folder.config
    kinds = {"agent": str, "environment": str, "steps": int, "seed": int, "settings": dict}
    if kind_of(config) is not TRAIN:
        raise InvalidInput(f"{folder.path} is not a training run")
    for name, kind in kinds.items():
        if not isinstance(config.get(name), kind):
            raise RunFailed(f"{folder.config_path} is damaged: its {name} is {config.get(name)!r}")
    return config
