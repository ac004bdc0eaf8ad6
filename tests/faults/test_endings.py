"""However an environment ends a run, status, exit code and message are true, and nothing hangs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from optac.agents.training import environment_calls, evaluation
from optac.cli import main
from optac.environments import video
from optac.errors import RunFailed
from optac.runs.folder import RunFolder
from tests.faults import endings
from tests.faults.test_configuration import SETTINGS

# Environment, exit code, state (None: no run was begun), what standard error says.
CASES = {
    "sys.exit(0) in step": ("ExitsWithZero", 1, "failed", "raised SystemExit at step 29"),
    "sys.exit(0) in reset": ("ResetRaisesExit", 1, "failed", "raised SystemExit"),
    "another working folder": ("ChangesFolder", 0, "finished", ""),
    "raises in close": ("RaisesInClose", 0, "finished", "raised OSError in close: it is stuck"),
    "sys.exit in close": ("ExitsInClose", 0, "finished", "raised SystemExit in close"),
    "hangs in close": ("HangsInClose", 0, "finished", "closing the environment took longer than 0.2 seconds"),
    "raises in __init__": ("RaisesInInit", 2, None, "cannot be made: it raised KeyError: 'no simulator'"),
    "sys.exit in __init__": ("ExitsInInit", 2, None, "cannot be made: it raised SystemExit"),
    "an episode without an end": ("NeverEnds", 0, "finished", ""),
}


@pytest.mark.filterwarnings("default::optac.errors.OptacWarning")
@pytest.mark.parametrize("case", CASES)
def test_an_ending_is_told_as_it_was(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, code, state, said = CASES[case]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environment_calls, "SECONDS_TO_CLOSE", 0.2)
    monkeypatch.setattr(evaluation, "MOST_STEPS", 70)
    settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    words = ["train", f"ending/{name}-v0", "--agent", "sac", "--steps", "60", "--out", "run", "--json"]
    assert main([*words, *settings]) == code
    told = capsys.readouterr()
    os.chdir(tmp_path)
    assert said in told.err and "Traceback" not in told.err
    if state is None:
        assert not Path("run").exists()
    else:
        status = RunFolder.open("run").status
        assert status is not None and status.state == state
    if code == 0:
        assert json.loads(told.out)["steps"] == 60
        rows = RunFolder.open("run").rows()
        assert rows[-1]["eval/mean_ep_length"] == (70 if name == "NeverEnds" else 37)
        assert len(list(Path("run/checkpoints").glob("ckpt_*"))) == 2


STUCK = """
import sys
from optac.agents.training import deadline, environment_calls
from optac.cli import main
from tests.faults import endings
deadline._SECONDS_TO_HEAR = environment_calls.SECONDS_TO_CLOSE = 0.5
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("name", "state", "said"),
    [
        ("StuckInStep", "failed", "the environment's step 29 took longer than step_timeout=0.5 seconds"),
        pytest.param(
            "StuckInClose",
            "finished",
            "closing the environment took longer than 0.5 seconds",
            marks=pytest.mark.slow,  # a process of its own, and the same watchdog as above
        ),
    ],
)
def test_a_library_that_does_not_come_back_is_ended_with_its_process(
    name: str, state: str, said: str, tmp_path: Path
) -> None:
    """In the close of the run's own environment, so that all is written: the status and the result say so."""
    chosen = {**SETTINGS, "eval_every": 0, "step_timeout": 0.5, "checkpoint_every": 20, "learning_starts": 50}
    settings = [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]
    words = ["train", f"ending/{name}-v0", "--agent", "sac", "--steps", "40", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-c", STUCK, *words, *settings],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert f"optac: error: {said} and does not come back from one call; the process is ended" in done.stderr
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == state
    assert (tmp_path / "run" / "result.json").exists() == (state == "finished")


def test_whatever_makes_an_environment_closes_it(tmp_path: Path) -> None:
    endings.CountsItsCloses.open = 0
    run, words = (
        tmp_path / "run",
        [word for pair in SETTINGS.items() for word in ("--set", "=".join(map(str, pair)))],
    )
    name = "ending/CountsItsCloses-v0"
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'[sweep]\nagents = ["sac"]\nenvironments = ["{name}"]\nsteps = 9\n')
    for command in (
        ["train", name, "--agent", "sac", "--steps", "40", "--out", str(run), *words],
        ["train", name, "--agent", "sac", "--steps", "40", "--out", str(run)],  # there is a run
        ["resume", str(run)],
        ["eval", str(run), "--episodes", "1"],
        ["eval", str(run), "--episodes", "1", "--best"],
        ["export", str(run), str(tmp_path / "policy.npz")],
        ["sweep", str(sweep), "--dry-run"],
    ):
        assert main([*command, "--json"]) in (0, 2), command
        assert endings.CountsItsCloses.open == 0, command
    assert endings.CountsItsCloses.made > 6


def test_a_film_of_an_environment_that_exits_is_told_as_it_was() -> None:
    env = gymnasium.make("ending/ExitsWithZero-v0")
    env.render = lambda: np.zeros((2, 2, 3))  # type: ignore[method-assign]
    played = video._Episode(env, lambda observation: np.zeros(1, np.float32), 0, 1)
    with pytest.raises(RunFailed, match="the environment raised SystemExit at step 29"):
        list(played)
