"""A run is the one that config.json described when it was saved; more steps, asked for openly, change nothing."""

import json
import shutil
from pathlib import Path
from typing import Any

import probe_environments
import pytest

from optac import Callback
from optac.cli import main
from optac.errors import InvalidInput, OptacError, RunFailed
from optac.provenance import made_by
from optac.runs.folder import RunFolder
from optac.runs.training import evaluate, resume, train

SETTINGS = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "actor_every": 1,
    "eval_every": 40,
    "eval_episodes": 1,
    "log_every": 20,
    "checkpoint_every": 30,
}
ABSENT = "absent"


def trained(out: Path, steps: int) -> Any:
    return train("probe/Drifting-v0", "sac", steps=steps, seed=1, settings=SETTINGS, out=out)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "time/fps"} for row in RunFolder.open(path).rows()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("configuration") / "run"
    trained(path, 80)
    return path


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    path = tmp_path_factory.mktemp("at once") / "run"
    return path, trained(path, 160)


CHANGES: dict[str, tuple[str, Any, str]] = {
    "a setting removed": (
        "settings.batch_size",
        ABSENT,
        "says no settings.batch_size.*saved with batch_size=8",
    ),
    "a setting added": ("settings.new", 3, "says new=3.*saved with no settings.new"),
    "a setting changed": ("settings.batch_size", 9, "says batch_size=9.*saved with batch_size=8"),
    "how often it logs": ("settings.log_every", 10, "says log_every=10.*saved with log_every=20"),
    "the agent": ("agent", "crffsac", "says agent='crffsac'.*saved with agent='sac'"),
    "the environment": ("environment", "Pendulum-v1", "says environment='Pendulum-v1'.*probe/Drifting-v0"),
    "the seed": ("seed", 2, "says seed=2.*saved with seed=1"),
    "the steps": ("steps", 120, "says steps=120.*saved with steps=80.*resume DIR --steps N"),
    "the steps, as if fewer had been asked for": (
        "steps_asked",
        [80, 60],
        "steps_asked is .80, 60., no list of more",
    ),
    "the steps asked for, as text": ("steps_asked", ["80"], "steps_asked is .'80'., no list"),
    "where it stops, as text": ("stop_on_reward", "x", "stop_on_reward is 'x', no number"),
    "where it stops, as no number": ("stop_on_reward", float("nan"), "stop_on_reward is nan, no number"),
    "a key added": ("extra", True, "says extra=True.*saved with no extra"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_changed_configuration_is_refused_with_both_values(
    case: str, finished: Path, tmp_path: Path
) -> None:
    place, value, said = CHANGES[case]
    shutil.copytree(finished, tmp_path / "run")
    file = tmp_path / "run" / "config.json"
    config = json.loads(file.read_text())
    *inside, name = place.split(".")
    table = config[inside[0]] if inside else config
    table.pop(name, None)
    if value != ABSENT:
        table[name] = value
    file.write_text(json.dumps(config))
    before = {path: path.read_bytes() for path in (tmp_path / "run" / "checkpoints").rglob("*.json")}
    for use in (resume, evaluate):
        with pytest.raises(RunFailed, match=said):
            use(tmp_path / "run")
    assert before == {path: path.read_bytes() for path in (tmp_path / "run" / "checkpoints").rglob("*.json")}


@pytest.mark.parametrize(
    ("first", "then"),
    [(80, 160), (47, 160), (100, 160), (25, 160)],
    ids=["on the way", "a block cut short", "no evaluation due", "before the first checkpoint"],
)
def test_more_steps_end_as_a_run_that_was_asked_for_them_at_once(
    first: int, then: int, long: tuple[Path, Any], tmp_path: Path
) -> None:
    path, at_once = long
    assert at_once.steps == then
    trained(tmp_path / "run", first)
    longer = resume(tmp_path / "run", steps=then)
    assert longer.exact and longer.parameters_sha256 == at_once.parameters_sha256
    assert rows_of(tmp_path / "run") == rows_of(path)
    config = RunFolder.open(tmp_path / "run").config
    assert (config["steps"], config["steps_asked"]) == (then, [first, then])
    again = resume(tmp_path / "run")
    assert again.exact and again.steps == then and again.parameters_sha256 == at_once.parameters_sha256


def _killed(*given: Any, **more: Any) -> None:
    """Stands for a kill before the first step."""
    raise KeyboardInterrupt


class _Killed(Callback):
    """Stands for a kill at the first row."""

    def on_row(self, training: Any, row: dict[str, Any]) -> None:
        raise KeyboardInterrupt


def test_a_run_whose_environment_cannot_be_made_now_is_left_as_it_was(
    long: tuple[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """25 steps have one checkpoint alone, at an end that a longer run has not."""
    run = tmp_path / "run"
    trained(run, 25)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with monkeypatch.context() as patched:
        patched.setattr(probe_environments.Drifting, "__init__", lambda self: 1 / 0)
        with pytest.raises(OptacError, match="ZeroDivisionError"):
            resume(run, steps=160)
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("optac.runs.training.run", _killed)
        resume(run, steps=160)
    with pytest.raises(KeyboardInterrupt):
        resume(run, callback=_Killed())
    again = resume(run)
    assert again.exact and again.parameters_sha256 == long[1].parameters_sha256
    assert rows_of(run) == rows_of(long[0])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"settings": SETTINGS | {"width": 300_000}}, "width, feature_width or critics"),
        ({"settings": SETTINGS | {"eval_every": 0}, "stop_on_reward": 5.0}, "needs evaluations"),
    ],
)
def test_what_cannot_begin_is_refused_before_there_is_a_folder(
    asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=said):
        train("probe/Drifting-v0", "sac", steps=80, out=tmp_path / "run", **asked)
    assert not (tmp_path / "run").exists()


def test_a_reward_to_stop_at_is_refused_before_a_run_without_evaluations_is_touched(tmp_path: Path) -> None:
    train("probe/Drifting-v0", "sac", steps=20, settings=SETTINGS | {"eval_every": 0}, out=tmp_path / "run")
    before = (tmp_path / "run" / "config.json").read_text()
    with pytest.raises(InvalidInput, match="needs evaluations"):
        resume(tmp_path / "run", steps=40, stop_on_reward=1.0)
    assert (tmp_path / "run" / "config.json").read_text() == before


def test_fewer_steps_and_the_same_steps_leave_a_finished_run_alone(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    before = (tmp_path / "run" / "config.json").read_text()
    assert resume(tmp_path / "run", steps=80).steps == 80
    with pytest.raises(InvalidInput, match="asked for 80 steps; give a number above"):
        resume(tmp_path / "run", steps=70)
    assert (tmp_path / "run" / "config.json").read_text() == before


def test_a_solve_has_no_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunFolder.create(tmp_path / "run", {"kind": "solve"})
    assert main(["resume", str(tmp_path / "run"), "--steps", "7"]) == 2
    assert "is a solve, which has no steps" in capsys.readouterr().err


def test_a_finished_run_says_what_it_came_to_and_with_what_it_was_made(finished: Path) -> None:
    result = json.loads((finished / "result.json").read_text())
    assert {name: result[name] for name in ("commit", "versions")} == made_by()
    assert result["parameters_sha256"] == evaluate(finished, episodes=1).parameters_sha256
