"""What the bonus is for: what is run, and what is said of it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from optac.cli import main
from optac.environments import make
from optac.environments.pendulum import SparseSwingUp
from optac.studies.exploration.cells import CONTROLS, SOLVED, VARIANTS, sweep


def test_every_variant_is_run_on_both_tasks_with_seeds_10_to_14() -> None:
    runs = sweep().runs
    assert len(runs) == len({run.id for run in runs}) == 2 * len([*VARIANTS, *CONTROLS]) * 5
    assert {run.config["environment"] for run in runs} == set(SOLVED)
    assert [run.config["seed"] for run in runs] == sorted([10, 11, 12, 13, 14] * 16)


def test_solved_is_the_first_evaluation_at_the_threshold_and_the_end_is_told_apart(
    published: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    plan = sweep(environments=["MountainCarContinuous-v0"], seeds=1)
    curves = {"crffsac-bonus": [-3.0, 89.9, 90.0, 95.0, 40.0], "crffsac": [-3.0, -1.0, -0.5, -0.2, -0.1]}
    for run in plan.runs:
        if run.config["agent"] in curves:
            results = published(run, curves.pop(run.config["agent"]))
    out = str(results)
    assert main(["reproduce", "exploration", "--out", out, "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["missing"]) == len(sweep().runs) - 2
    from optac.studies.exploration.report import write_page

    assert write_page(results) is not None
    (first, second) = (results / "report" / "exploration.md").read_text().splitlines()[2:]
    assert "| cRFFSAC + bonus |" in first and "| 1 of 1 | 30,000 | 0 of 1 | 40.0 |" in first
    assert "| cRFFSAC |" in second and "| 0 of 1 | — | 0 of 1 | −0.1 |" in second.replace("-0.1", "−0.1")


def test_the_swing_up_pays_nothing_for_play_at_random_and_all_there_is_at_the_top() -> None:
    env = make("optac/SparseSwingUp-v0")
    env.action_space.seed(0)
    for seed in range(20):
        env.reset(seed=seed)
        assert sum(float(env.step(env.action_space.sample())[1]) for _ in range(200)) == 0
    pendulum = env.unwrapped
    assert isinstance(pendulum, SparseSwingUp)
    for angle, paid in ((0.0, 1.0), (0.31, 1.0), (0.33, 0.0), (np.pi, 0.0)):
        env.reset(seed=0)
        pendulum.state = np.array([angle, 0.0])
        assert env.step(np.zeros(1, np.float32))[1] == paid


def test_the_swing_up_can_be_solved_by_pumping_energy() -> None:
    """Push along the speed until there is energy for the top, then hold it there: more than half of an episode."""
    env = make("optac/SparseSwingUp-v0")
    (cosine, sine, speed), _ = env.reset(seed=0)
    total = 0.0
    for _ in range(200):
        energy = speed**2 / 2 + 15 * (cosine - 1)
        angle = np.arctan2(sine, cosine)
        push = (
            -8 * angle - 2 * speed if cosine > 0.95 else (np.sign(speed) or 1.0) * (1 if energy < 0 else -1)
        )
        (cosine, sine, speed), reward, *_ = env.step(np.clip([push], -1, 1).astype(np.float32))
        total += float(reward)
    assert total >= SOLVED["optac/SparseSwingUp-v0"]
