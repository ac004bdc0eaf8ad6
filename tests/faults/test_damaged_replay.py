"""One flipped bit in a piece of replay loses no run: networks need none, and resuming goes back as little as it can."""

import json
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import probe_environments  # noqa: F401  (registers its environments)
import pytest

from optac.agents.training import checkpoints
from optac.agents.training.callbacks import SCORE, best_score
from optac.agents.training.store import ResumeWarning
from optac.errors import RunFailed
from optac.runs import training
from optac.runs.deployment import export_policy
from optac.runs.folder import RunFolder
from optac.runs.training import evaluate, resume, train
from tests.faults.test_configuration import SETTINGS


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run cut off at step 100 with checkpoints at 30, 60 and 90, and the hash of the undisturbed run."""
    path = tmp_path_factory.mktemp("damaged replay")

    def stop(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 100:
            shutil.copytree(path / "whole", path / "run")

    result = train(
        "probe/Drifting-v0", "sac", steps=120, seed=1, settings=SETTINGS, out=path / "whole", on_row=stop
    )
    return path / "run", result.parameters_sha256


def flip_a_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-3] ^= 4
    file.write_bytes(data)


def cut_short(file: Path) -> None:
    os.truncate(file, 10)


DAMAGES: dict[str, tuple[int, Callable[[Path], None], bool]] = {
    "a bit in the oldest piece, which every checkpoint needs": (0, flip_a_bit, False),
    "the oldest piece removed": (0, Path.unlink, False),
    "a bit in the newest piece, which the newest checkpoint alone needs": (2, flip_a_bit, True),
    "a bit in the second piece": (1, flip_a_bit, True),
    "the newest piece cut short": (2, cut_short, True),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_piece_of_replay(case: str, stopped: tuple[Path, str], tmp_path: Path) -> None:
    number, damage, exact = DAMAGES[case]
    run, notices = tmp_path / "run", list[str]()
    shutil.copytree(stopped[0], run)
    piece = sorted((run / "checkpoints" / "replay").iterdir())[number]
    damage(piece)
    assert evaluate(run, episodes=1, on_notice=notices.append).steps == 90
    assert export_policy(run, tmp_path / "policy.npz", on_notice=notices.append)["trained_steps"] == 90
    assert notices == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResumeWarning)
        result = resume(run, on_notice=notices.append)
    assert result.steps == 120 and result.exact == exact
    assert (result.parameters_sha256 == stopped[1]) == exact
    assert any("corrupt" in text and piece.name in text for text in notices)
    assert any("rows of replay are lost" in str(one.message) for one in caught) == (not exact)
    found, damaged = checkpoints.newest_sound(run / "checkpoints")
    assert found is not None and found.meta["step"] == 120 and not damaged and not found.damaged
    held = np.concatenate([rows["obs"] for _, rows in found.rows()])
    assert len(held) == (120 if exact else 90)
    assert resume(run).exact == exact


def test_damage_to_the_networks_is_not_passed_over(stopped: tuple[Path, str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(stopped[0], run)
    for path in checkpoints.listed(run / "checkpoints"):
        flip_a_bit(path / "arrays.safetensors")
    for use in (resume, evaluate):
        with pytest.raises(RunFailed, match=r"no sound checkpoint.*corrupt.*arrays\.safetensors"):
            use(run)


def another_number(text: str) -> str:
    return text.replace('"eval/mean_reward": -', '"eval/mean_reward": -9', 1)


def one_row_more(text: str) -> str:
    """Of the checkpoint's own step, and so after all that it knew of."""
    known, later = (
        text[: text.index('{"time/total_timesteps": 100')],
        text[text.index('{"time/total_timesteps": 100') :],
    )
    return known + '{"time/total_timesteps": 90, "eval/mean_reward": "many"}\n' + later


@pytest.mark.parametrize("change", [another_number, one_row_more])
def test_a_row_changed_before_the_checkpoint_is_not_called_exact(
    change: Callable[[str], str], stopped: tuple[Path, str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(stopped[0], run)
    text = (run / "metrics.jsonl").read_text()
    (run / "metrics.jsonl").write_text(change(text))
    with pytest.warns(ResumeWarning, match=r"metrics\.jsonl is not what was written up to the checkpoint"):
        result = resume(run)
    assert not result.exact and result.parameters_sha256 == stopped[1]


@pytest.mark.parametrize(
    "score", ["x", None, [1], {}, True, float("nan"), float("inf"), 10**400], ids=lambda score: str(score)[:9]
)
def test_an_evaluation_that_is_no_number_is_not_the_best(
    score: Any, stopped: tuple[Path, str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(stopped[0], run)
    before = training.open_policy(run, print, best=True).step
    for row in ({"time/total_timesteps": 100, SCORE: score}, {SCORE: 9.0}):
        with open(run / "metrics.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
    assert training.open_policy(run, print, best=True).step == before
    assert best_score(RunFolder.open(run).rows()[:-1]) < 0
