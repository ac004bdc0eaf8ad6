"""`optac.load`: an agent or a result from its folder, as it was when it was written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_training import ENV, TINY, rows_of, started

import optac
from optac.agents.training import checkpoints
from optac.agents.training.store import ResumeWarning
from optac.cli import main
from optac.errors import InvalidInput, OptacError
from optac.runs.solve_snapshots import as_npz, of_npz
from optac.runs.solving import KEPT_CLASSES, SolveConfig, prepared_solve, run_solve
from optac.runs.training import evaluate, train

RESULTS = Path(__file__).parents[2] / "results"
LOCK = {"horizon": 3, "actions": 2}
SOLVES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("combination-lock", LOCK, "opt-ac", {}),
    ("combination-lock", LOCK, "opt-ac", {"keep_members": False}),
    ("combination-lock", LOCK, "rep-ucb", {"model_class": "finite", "candidates": 4}),
    ("combination-lock", LOCK, "raffle", {}),
    ("combination-lock", LOCK, "flambe", {}),
    ("combination-lock", LOCK, "moffle", {"candidates": 4}),
    ("combination-lock", LOCK, "spanrl", {"candidates": 4}),
    ("combination-lock", LOCK, "ucbvi", {}),
    ("observed-lock", {**LOCK, "observations": 2}, "opt-ac", {"model_class": "decoder"}),
    ("smooth-walk", {"horizon": 2}, "opt-ac", {}),
    ("rich-lock", {"horizon": 2, "actions": 2}, "opt-ac", {}),
]


def same(one: Any, other: Any) -> bool:
    """Whether two trees hold the same values, arrays to the bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize(("problem", "parameters", "algorithm", "settings"), SOLVES)
def test_a_solve_is_loaded_as_it_was_returned(
    problem: str, parameters: dict[str, Any], algorithm: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    config = SolveConfig(problem, parameters, algorithm, iterations=4, settings=settings)
    result, folder = run_solve(prepared_solve(config), tmp_path / "run")
    loaded = optac.load(folder.path)
    plain = ("gap", "last_gap", "value", "bill", "coverage", "certificate", "certificate_bill", "episodes")
    for name in (*plain, "iterations", "seconds", "settings", "capped", "history"):
        assert getattr(loaded, name) == getattr(result, name), name
    assert loaded.summary() == result.summary()
    assert type(loaded.last_policy) is type(result.last_policy)
    assert same(list(loaded.last_policy.arrays().values()), list(result.last_policy.arrays().values()))
    assert len(loaded.policy) == len(result.policy)
    if settings.get("keep_members") is False:
        with pytest.raises(InvalidInput, match="keep_members"):
            loaded.policy.sample(np.random.default_rng(0))
        return
    truth = optac.make_problem(problem, **parameters)
    assert truth.value(loaded.policy) == truth.value(result.policy)
    for one, other in zip(loaded.policy, result.policy, strict=True):
        assert type(one) is type(other) and same([*one.arrays().values()], [*other.arrays().values()])
    if result.learnt is not None:
        for rewards in np.random.default_rng(0).random((3, *truth.rewards.shape)):
            assert same(loaded.plan(rewards).probabilities, result.plan(rewards).probabilities)
        assert same(loaded.learnt.cover, result.learnt.cover)


def test_a_solve_written_twice_has_the_same_bytes_and_a_damaged_one_says_so(tmp_path: Path) -> None:
    config = SolveConfig("combination-lock", LOCK, iterations=3)
    for name in ("a", "b"):
        run_solve(prepared_solve(config), tmp_path / name)
    file = tmp_path / "a" / "result.npz"
    content = file.read_bytes()
    assert content == (tmp_path / "b" / "result.npz").read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"x" * 100):
        file.write_bytes(damaged)
        with pytest.raises(OptacError, match=r"result\.npz is damaged"):
            optac.load(tmp_path / "a")
    file.unlink()
    with pytest.raises(InvalidInput, match=r"no result\.npz; run it \(again\): optac solve"):
        optac.load(tmp_path / "a")


def test_a_file_of_a_result_makes_no_class_but_ours_and_unpickles_nothing(tmp_path: Path) -> None:
    tree = {"mine": Path.cwd, "kept": (1, [np.arange(3), np.arange(3)], np.float64(0.5))}
    back = of_npz(as_npz(tree, KEPT_CLASSES))
    assert same(back["kept"], (1, [np.arange(3), np.arange(3)], 0.5))
    with pytest.raises(InvalidInput, match="not in the run's files"):
        back["mine"]()
    config = SolveConfig("combination-lock", {"horizon": 2, "actions": 2}, iterations=1)
    run_solve(prepared_solve(config), tmp_path / "run")
    file = tmp_path / "run" / "result.npz"
    outline = json.dumps(["object", "subprocess:Popen", {"args": "true"}]).encode()
    np.savez(file, outline=np.frombuffer(outline, dtype=np.uint8))
    with pytest.raises(OptacError, match="damaged"):
        optac.load(tmp_path / "run")
    np.savez(file, outline=np.array([object()]), allow_pickle=True)
    with pytest.raises(OptacError, match="damaged"):
        optac.load(tmp_path / "run")


@pytest.mark.parametrize(("agent", "kind"), [("sac", optac.SAC), ("crffsac-bonus", optac.CRFFSAC)])
def test_a_training_of_the_command_line_is_trained_further_in_python(
    agent: str, kind: type[optac.Agent], tmp_path: Path
) -> None:
    started(agent, tmp_path / "short", steps=60)
    whole = started(agent, tmp_path / "whole", steps=120)
    loaded = optac.load(tmp_path / "short")
    assert type(loaded) is kind and loaded.steps == 60
    before = {path: path.read_bytes() for path in (tmp_path / "short").rglob("*") if path.is_file()}
    loaded.learn(60)
    assert loaded.parameters_sha256 == whole.parameters_sha256
    assert before == {path: path.read_bytes() for path in (tmp_path / "short").rglob("*") if path.is_file()}
    rows = [{k: v for k, v in row.items() if k != "time/fps"} for row in loaded.rows]
    assert rows == rows_of(tmp_path / "whole")
    played = loaded.evaluate(episodes=2, seed=1)
    said = evaluate(tmp_path / "whole", episodes=2, seed=1)
    assert (played.mean, played.std, len(played.returns)) == (said.mean_reward, said.std_reward, 2)
    assert loaded.evaluate(2).mean != played.mean and loaded.parameters_sha256 == whole.parameters_sha256
    with pytest.raises(InvalidInput, match="episodes must be a whole number, at least 1"):
        loaded.evaluate(0)
    loaded.save(tmp_path / "a.ckpt")
    assert optac.load(tmp_path / "a.ckpt").parameters_sha256 == whole.parameters_sha256


def test_a_checkpoint_is_loaded_and_another_agents_refused_by_its_name(tmp_path: Path) -> None:
    started("sac", tmp_path / "run", steps=120)
    (newest, *_, oldest) = checkpoints.listed(tmp_path / "run" / "checkpoints")
    assert [optac.load(path).steps for path in (oldest, newest)] == [50, 120]
    assert optac.load(oldest).rows[-1]["time/total_timesteps"] <= 50
    for path in (tmp_path / "run", newest):
        assert optac.SAC.load(path).steps == 120
        with pytest.raises(InvalidInput, match=r"holds a sac agent; load it with optac\.SAC\.load"):
            optac.CRFFSAC.load(path)
    (newest / "meta.json").write_text("{}")
    with pytest.warns(ResumeWarning, match="corrupt.*using the one before it"):
        assert optac.load(tmp_path / "run").steps == 100


def test_what_cannot_be_loaded_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed = "What can be loaded is a training's folder, one of its checkpoints, and what agent.save wrote"
    (tmp_path / "a.txt").write_text("no agent")
    (tmp_path / "empty").mkdir()
    for name, said in {"nowhere": "does not exist", "a.txt": "is a file", "empty": "holds no agent"}.items():
        for load in (optac.load, optac.SAC.load):
            with pytest.raises(InvalidInput, match=f"{name} {said}. {allowed}"):
                load(tmp_path / name)
    for path, said in {
        "agents": "holds 12 runs, none itself; name one, such as .*agents/crffsac-HalfCheetah-s0",
        "rank": "was made by `optac reproduce` and holds no agent",
        "lock-8-5/control": "was made by `optac compare` and holds no agent",
    }.items():
        with pytest.raises(InvalidInput, match=f"{said}. {allowed}"):
            optac.load(RESULTS / path)
    train(ENV, "sac", steps=10, settings={**TINY, "eval_every": 0}, out=tmp_path / "run")
    for path in (tmp_path / "run" / "checkpoints").glob("ckpt*"):
        path.rename(tmp_path / path.name)
    with pytest.raises(InvalidInput, match="has no checkpoint yet; let the training go to its first"):
        optac.load(tmp_path / "run")
    assert (
        main(["solve", "combination-lock", "--iterations", "1", "--out", str(tmp_path / "s"), "--quiet"]) == 0
    )
    with pytest.raises(InvalidInput, match="is a solve"):
        optac.load(tmp_path / "s", "Pendulum-v1")
    with pytest.raises(InvalidInput, match=r"optac\.load opens a solve"):
        optac.SAC.load(tmp_path / "s")
