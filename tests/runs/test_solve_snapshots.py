"""A solve that is killed goes on from its snapshot to the same result, and starts again where it cannot."""

import hashlib
import io
import json
from dataclasses import dataclass

import numpy as np
import pytest

from optac import make_problem
from optac.cli import main
from optac.errors import RunFailed
from optac.registry import ours
from optac.runs import solve_snapshots
from optac.runs.folder import RunFolder
from optac.runs.solve_snapshots import NotPacked, packed, unpacked
from optac.runs.solving import SolveConfig, prepared_solve, resume, run_solve

LOCK = SolveConfig("combination-lock", {"horizon": 3, "actions": 3}, episodes=150)
RICH = SolveConfig("rich-lock", {"horizon": 2, "actions": 2}, episodes=120)


class Killed(BaseException):
    """What ends a process, not an error that anything handles."""


def files(path) -> tuple:
    """What must be the same: the rows and the result without their times, and the policy's bytes."""
    rows = [{k: v for k, v in row.items() if "time/" not in k} for row in RunFolder.open(path).rows()]
    result = json.loads((path / "result.json").read_text())
    arrays = np.load(path / "policy.npz")
    return (
        rows,
        {k: v for k, v in result.items() if "time/" not in k},
        {k: arrays[k].tobytes() for k in arrays},
    )


def killed(config, path, monkeypatch, after: int) -> None:
    """The solve, ended when its `after`-th snapshot has been kept."""
    keep, kept = solve_snapshots.FolderSnapshots.offer, []

    def offer(self, make) -> None:
        keep(self, make)
        kept.append(1)
        if len(kept) == after:
            raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(solve_snapshots, "SECONDS", 0.0)
        patched.setattr(solve_snapshots, "SHARE", 0.0)
        patched.setattr(solve_snapshots.FolderSnapshots, "offer", offer)
        run_solve(prepared_solve(config), path)


@pytest.fixture
def counted(monkeypatch) -> list:
    """The rounds that Opt-AC plays from here on."""
    from optac.algorithms import opt_ac

    played, step = [], opt_ac.step
    monkeypatch.setattr(opt_ac, "step", lambda *given: played.append(1) or step(*given))
    return played


@pytest.mark.parametrize(
    ("config", "after"),
    [(LOCK, 1), (LOCK, 21), (LOCK, 38), (RICH, 27)],
    ids=["1", "21", "38", "observations"],
)
def test_it_goes_on_to_the_same_result(config, after, tmp_path, monkeypatch, counted) -> None:
    run_solve(prepared_solve(config), tmp_path / "whole")
    rounds = len(counted)
    killed(config, tmp_path / "cut", monkeypatch, after)
    played = len(counted)
    assert main(["resume", str(tmp_path / "cut"), "--quiet"]) == 0
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert len(counted) - played == rounds - after
    assert not (tmp_path / "cut" / "checkpoints" / "solve.npz").exists()


@pytest.mark.parametrize("algorithm", [name for name in ours("algorithm") if name != "opt-ac"])
def test_so_does_every_algorithm(algorithm, tmp_path, monkeypatch) -> None:
    problem = {"states": 4, "actions": 2, "horizon": 2, "rank": 2}
    config = SolveConfig("random-simplex", problem, algorithm, episodes=2_000, iterations=4)
    run_solve(prepared_solve(config), tmp_path / "whole")
    try:
        killed(config, tmp_path / "cut", monkeypatch, 1)
    except pytest.fail.Exception:  # one round is all that it took
        pass
    else:
        assert (tmp_path / "cut" / "checkpoints" / "solve.npz").exists()
        resume(tmp_path / "cut")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


@pytest.mark.parametrize("spoil", ["damaged", "of another source", "without its rows"])
def test_a_snapshot_that_does_not_fit_is_not_used(spoil, tmp_path, monkeypatch, counted) -> None:
    run_solve(prepared_solve(LOCK), tmp_path / "whole")
    killed(LOCK, tmp_path / "cut", monkeypatch, 20)
    snapshot, played = tmp_path / "cut" / "checkpoints" / "solve.npz", len(counted)
    data = bytearray(snapshot.read_bytes())
    if spoil == "damaged":
        data[len(data) // 2] ^= 1
        snapshot.write_bytes(data)
    elif spoil == "of another source":
        snapshot.write_bytes(packed({**unpacked(bytes(data)), "source": "another"}))
    else:
        (tmp_path / "cut" / "metrics.jsonl").write_text("")
    resume(tmp_path / "cut")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert len(counted) - played == 50


def test_a_tree_comes_back_as_it_was() -> None:
    generator = np.random.default_rng(3)
    generator.random(5)
    array = np.arange(24.0).reshape(2, 3, 4)
    shared = [1, 2.5, None, "é"]
    tree = {
        "views": [array.transpose(2, 0, 1), np.broadcast_to(array[0], (5, 3, 4))],
        "twice": (shared, shared),
    }
    back = unpacked(packed({**tree, 7: np.float32(0.1), "generator": generator}))
    for one, two in zip(back["views"], tree["views"], strict=True):
        assert np.array_equal(one, two)
    assert back["views"][0].strides == tree["views"][0].strides
    assert back["views"][1][0].flags.c_contiguous
    assert back["twice"] == (shared, shared) and back["twice"][0] is back["twice"][1]
    assert back[7] == np.float32(0.1) and back[7].dtype == np.float32
    assert back["generator"].random() == generator.random()


@dataclass
class Own:
    """Of no room of ours."""

    number: int = 1


def test_objects_of_others_are_neither_packed_nor_made() -> None:
    with pytest.raises(NotPacked, match="Own"):
        packed({"state": Own()})


FORGED = {
    "another's class": '["object", "os:system", {}]',
    "no class": '["object", "optac.mdp.values:nothing", {}]',
    "no module": '["object", "optac.mdp.nothing:Nothing", {}]',
    "no such array": '["array", 99, [0], false]',
    "no such kind": '["nonsense"]',
    "one that was not met": '["same", 5]',
    "many levels": "[" * 10_000 + "]" * 10_000,
    "no JSON": "{",
}


@pytest.mark.parametrize("case", FORGED)
def test_a_strangers_snapshot_with_a_right_digest_is_none(case: str) -> None:
    content = io.BytesIO()
    np.savez(content, outline=np.frombuffer(FORGED[case].encode(), dtype=np.uint8))
    assert unpacked(hashlib.sha256(content.getvalue()).digest() + content.getvalue()) is None


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("seed", 1, "says seed=1, but the run was saved with seed=0"),
        ("rounds", 7, "says rounds=7, but the run was saved with rounds="),
        (
            "settings",
            {"bonus_scale": 2.0},
            "says bonus_scale=2.0, but the run was saved with no settings.bonus_scale",
        ),
    ],
)
def test_a_configuration_changed_after_a_snapshot_is_refused_with_both_values(
    key, value, said, tmp_path, monkeypatch
) -> None:
    killed(LOCK, tmp_path, monkeypatch, after=3)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, key: value}))
    with pytest.raises(RunFailed, match=said):
        resume(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "commit": "another"}))
    resume(tmp_path)


def test_a_problems_file_that_was_exchanged_is_refused(tmp_path, monkeypatch) -> None:
    file = tmp_path / "problem.npz"
    make_problem("combination-lock", horizon=3, actions=3).save(file)
    killed(SolveConfig(str(file), episodes=150), tmp_path / "run", monkeypatch, after=3)
    make_problem("combination-lock", horizon=3, actions=3, seed=1).save(file)
    with pytest.raises(RunFailed, match="is another file than"):
        resume(tmp_path / "run")


def test_rows_that_were_changed_before_the_snapshot_make_it_start_again(
    tmp_path, monkeypatch, counted
) -> None:
    run_solve(prepared_solve(LOCK), tmp_path / "whole")
    rounds = len(counted)
    killed(LOCK, tmp_path / "run", monkeypatch, after=21)
    rows = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    rows[3] = rows[3].replace('"gap": ', '"gap": 1')
    (tmp_path / "run" / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    counted.clear()
    resume(tmp_path / "run")
    assert len(counted) == rounds and files(tmp_path / "run") == files(tmp_path / "whole")
