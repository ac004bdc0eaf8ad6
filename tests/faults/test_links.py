"""Links that others have laid where something is about to be written."""

import socket
import time
from pathlib import Path
from unittest.mock import Mock

from optac.agents.training.callbacks import TensorBoard, Training
from optac.sweeps.launcher import lay_out
from optac.sweeps.plan import sweep_of
from optac.sweeps.standing import run_standing

PRECIOUS = "a year's work"


def test_events_are_not_written_through_a_link(tmp_path: Path) -> None:
    """Whatever second it is, and whichever of the names that TensorBoard would choose is taken."""
    folder, precious = tmp_path / "tensorboard", tmp_path / "precious"
    folder.mkdir()
    precious.write_text(PRECIOUS)
    for second in range(120):
        name = f"events.out.tfevents.{int(time.time()) + second}.{socket.gethostname()}"
        (folder / name).symlink_to(precious)
    events, told = TensorBoard(), Mock(spec=Training, step=3, place=lambda given, name: tmp_path / name)
    events.on_start(told)
    events.on_row(told, {"time/total_timesteps": 3, "train/q_mean": 1.0})
    events.on_end(told)
    assert precious.read_text() == PRECIOUS
    (written,) = (path for path in folder.iterdir() if not path.is_symlink())
    assert b"train/q_mean" in written.read_bytes()


def test_a_sweep_does_not_write_through_a_link_in_a_runs_place(tmp_path: Path) -> None:
    axes = {"algorithms": ["opt-ac"], "problems": ["combination-lock horizon=2 actions=2"], "iterations": 2}
    sweep = sweep_of("locks", {"sweep": axes})
    (tmp_path / "outside").mkdir()
    (tmp_path / "sweep").mkdir()
    place = tmp_path / "sweep" / sweep.runs[0].id
    place.symlink_to(tmp_path / "outside")
    lay_out(sweep, tmp_path / "sweep")
    assert not any((tmp_path / "outside").iterdir())
    shown = run_standing(place)
    assert shown.state == "failed" and "is a link" in str(shown.why)
