"""A sweep as data: its runs, their ids, and how a file that is wrong is refused."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from optac import registry
from optac.cli import main
from optac.errors import InvalidInput
from optac.runs.folder import RunFolder
from optac.runs.solving import SolveConfig, prepared_solve
from optac.runs.training_config import training_config, training_id
from optac.sweeps.launcher import run_sweep
from optac.sweeps.local_executor import LocalExecutor
from optac.sweeps.plan import read_sweep, sweep_of

CHEETAH = """
[sweep]
agents = ["sac", "crffsac-bonus"]
environments = ["optac/Pendulum-v0", "Pendulum-v1"]
seeds = [0, 3]
steps = 1000
[settings]
batch_size = 64
[settings.crffsac-bonus]
feature_width = [8, 16]
"""
LOCKS = """
[sweep]
algorithms = ["opt-ac", "ucbvi"]
problems = ["combination-lock horizon=3 actions=2", "river-swim horizon=4"]
seeds = 2
iterations = 5
[settings]
preset = "theory"
"""


def sweep(text: str):
    return sweep_of("file", tomllib.loads(text))


def test_runs_are_the_product_of_the_axes_and_a_listed_setting_is_one() -> None:
    runs = sweep(CHEETAH).runs
    assert len(runs) == 2 * 2 * (1 + 2) == len({run.id for run in runs})
    widths = [run.config["settings"].get("feature_width") for run in runs[:3]]
    assert widths == [None, 8, 16]
    assert {run.config["settings"]["batch_size"] for run in runs} == {64}
    # Seed by seed, so that it is balanced wherever it stops.
    assert [run.config["seed"] for run in runs] == [runs[0].config["seed"]] * 6 + [runs[6].config["seed"]] * 6
    assert [run.config["environment"] for run in runs[:6]] == ["optac/Pendulum-v0"] * 3 + ["Pendulum-v1"] * 3


def test_a_swept_run_is_the_run_that_train_would_make() -> None:
    config = training_config("optac/Pendulum-v0", "sac", steps=1000, seed=3, settings={"batch_size": 64})
    assert training_id(config) in {run.id for run in sweep(CHEETAH).runs}
    runs = {run.id: run for run in sweep(LOCKS).runs}
    assert len(runs) == 8
    same = prepared_solve(
        SolveConfig("river-swim", {"horizon": "4"}, "ucbvi", iterations=5, seed=1, preset="theory")
    )
    assert runs[same.id].config == same.config and runs[same.id].total == 5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"sac",', '"sca",', "unknown agent 'sca'; known, nearest first: sac"),
        ('"optac/Pendulum-v0"', '"optac/Pendulun-v0"', "'optac/Pendulun-v0'; known, nearest first: optac/Pend"),
        ("steps", "step", "unknown key of [sweep] 'step'; known, nearest first: steps"),
        ("[settings]", "[setting]", "unknown part of a sweep 'setting'; known, nearest first: settings"),
        ("batch_size", "batchsize", "unknown setting 'batchsize'; known, nearest first: batch_size"),
        ("[settings.crffsac-bonus]", "[settings.crffsac]", "is for crffsac, which the sweep does not run"),
        ("[settings.crffsac-bonus]", "[settings.bonus]", "unknown table of [settings] 'bonus'"),
        ('["sac", "crffsac-bonus"]', "[]", "agents is empty, so the sweep has no run"),
        ("[0, 3]", "[]", "seeds is empty, so the sweep has no run"),
        ("[0, 3]", "[0, -1]", "seeds = [0, -1] is not valid"),
        ("[0, 3]", "[0, 0]", "comes twice"),
        ("[8, 16]", "[]", "feature_width = [] leaves no run"),
        ("steps = 1000", "", "steps is missing from [sweep]"),
        ("steps = 1000", "steps = 0", "steps=0 is not valid; steps must be a whole number, at least 1"),
        ("steps = 1000", "iterations = 5", "iterations does not go with agents"),
        ("batch_size = 64", 'batch_size = "many"', "batch_size=many is not valid; batch_size must be a whole number"),
        ("[sweep]", "[sweep", "is not TOML"),
        ('environments = ["optac/Pendulum-v0", "Pendulum-v1"]', "", "environments is missing from [sweep]"),
        ('"Pendulum-v1"', '"CartPole-v1"', "CartPole-v1 has Discrete(2) actions"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_in_one_line_before_anything_is_written(
    old: str, new: str, message: str, tmp_path: Path, capsys
) -> None:
    assert old in CHEETAH
    (tmp_path / "file.toml").write_text(CHEETAH.replace(old, new, 1))
    assert main(["sweep", str(tmp_path / "file.toml"), "--out", str(tmp_path / "out")]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("optac: error: ") and message in last
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ucbvi"', '"ucb"', "unknown algorithm 'ucb'; known, nearest first: ucbvi"),
        ("river-swim", "river-swin", "unknown problem 'river-swin'; known, nearest first: river-swim"),
        ("horizon=4", "horizn=4", "unknown parameter of river-swim 'horizn'"),
        ('preset = "theory"', "alfa = 1", "unknown setting 'alfa'; known, nearest first: alpha"),
        ('"opt-ac", "ucbvi"', "", "algorithms is empty"),
    ],
)
def test_a_wrong_file_of_algorithms_is_refused(old: str, new: str, message: str) -> None:
    assert old in LOCKS
    with pytest.raises(InvalidInput) as caught:
        sweep(LOCKS.replace(old, new, 1))
    assert message in str(caught.value)


@pytest.mark.parametrize("empty", ["", "[sweep]", "[sweep]\nseeds = 3"])
def test_a_file_that_names_nothing_says_what_to_name(empty: str) -> None:
    with pytest.raises(InvalidInput, match="agents with environments, or algorithms with problems"):
        sweep(empty)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read .*none\.toml: No such file"):
        read_sweep(tmp_path / "none.toml")


def test_dry_run_lists_the_runs_and_writes_nothing(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("locks.toml").write_text(LOCKS)
    assert main(["sweep", "locks.toml", "--dry-run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["waiting"] == 8 and said["out"] == "runs/locks"
    assert [run["id"] for run in said["runs"]] == [run.id for run in sweep(LOCKS).runs]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["locks.toml"]


@pytest.mark.parametrize("there", ["a file", "a run", "something else in a run's folder"])
def test_dry_run_refuses_a_folder_as_the_sweep_would(tmp_path: Path, monkeypatch, capsys, there: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("locks.toml").write_text(LOCKS)
    first = sweep(LOCKS).runs[0]
    if there == "a file":
        Path("out").write_text("")
    elif there == "a run":
        RunFolder.create(tmp_path / "out", first.config)
    else:
        (tmp_path / "out" / first.id).mkdir(parents=True)
        (tmp_path / "out" / first.id / "notes.txt").write_text("")
    asked = ["sweep", "locks.toml", "--out", str(tmp_path / "out"), "--jobs", "1", "--quiet"]
    assert main([*asked, "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert main(asked) == 2 and capsys.readouterr().err == said


def test_parts_of_ones_own_come_from_the_folders_that_the_file_names(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(registry, "_paths", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "plan_parts.py").write_text(
        "from optac.algorithms.epsilon_greedy import *\n"
        "from optac.algorithms.epsilon_greedy import PRESETS, Settings, default_iterations, init, step\n"
        "from optac.mdp.families.locks import combination_lock as lock\n"
    )
    file = tmp_path / "own.toml"
    text = '[sweep]\nalgorithms = ["plan_parts"]\nproblems = ["plan_parts:lock horizon=2 actions=2"]\niterations = 2\n'
    file.write_text(text)
    monkeypatch.chdir(parts)  # from where nothing is imported
    with pytest.raises(InvalidInput, match="plan_parts"):
        read_sweep(file)
    file.write_text(text + 'path = ["parts"]\n')
    monkeypatch.chdir(tmp_path)
    (run,) = read_sweep(file).runs
    assert run.config["algorithm"] == "plan_parts" and run.config["path"] == [str(parts)]
    standing = run_sweep(read_sweep(file), tmp_path / "out", LocalExecutor(1), retries=0)
    assert [(one.state, one.why) for one in standing.runs] == [("finished", None)]
