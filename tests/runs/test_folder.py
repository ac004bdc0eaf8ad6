"""The run folder keeps what was written, whatever happens to the process that writes it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optac.errors import InvalidInput, RunFailed
from optac.runs.folder import RunFolder, Status
from optac.runs.json_files import read_json_object, write_json
from optac.runs.lock import RunFolderBusy
from optac.settings import run_id

OWNER = """
import sys, time
from optac.runs.folder import RunFolder
RunFolder.open(sys.argv[1]).lock()
print("locked", flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", {"agent": "sac", "seed": 3})


def test_config_is_written_first_with_versions_and_seed(folder: RunFolder) -> None:
    config = RunFolder.open(folder.path).config
    assert config["seed"] == 3
    assert config["agent"] == "sac"
    assert {"optac", "python", "numpy"} <= config["versions"].keys()


def test_a_folder_with_a_run_is_not_taken_twice(folder: RunFolder) -> None:
    with pytest.raises(InvalidInput, match="already holds a run"):
        RunFolder.create(folder.path, {})


def test_a_folder_without_a_run_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no config\.json"):
        RunFolder.open(tmp_path)


def test_an_unwritable_path_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot write to"):
        RunFolder.create(tmp_path / "file" / "run", {})


def test_rows_come_back_in_order(folder: RunFolder) -> None:
    written = [{"time/total_timesteps": i, "eval/mean_reward": 0.5 * i} for i in range(3)]
    for row in written:
        folder.append(row)
    assert folder.rows() == written


@pytest.mark.parametrize("torn", [b'{"a": 1', b"\x00\x00", b'{"a": 1}', b"null\n"])
def test_a_torn_last_line_is_dropped_and_counted(folder: RunFolder, torn: bytes) -> None:
    folder.append({"a": 0})
    with open(folder.metrics_path, "ab") as file:
        file.write(torn)
    assert folder.rows() == [{"a": 0}]
    assert folder.cut(lambda row: True) == 1
    assert folder.metrics_path.read_text() == '{"a": 0}\n'


def test_damage_in_the_middle_is_not_passed_over(folder: RunFolder) -> None:
    folder.metrics_path.write_text('{"a": 0}\n{"a"\n{"a": 2}\n')
    with pytest.raises(RunFailed, match="line 2"):
        folder.rows()


def test_rows_past_the_checkpoint_are_cut(folder: RunFolder) -> None:
    for step in range(5):
        folder.append({"step": step})
    assert folder.cut(lambda row: row["step"] <= 2) == 2
    assert [row["step"] for row in folder.rows()] == [0, 1, 2]


def test_status_is_what_was_last_said(folder: RunFolder) -> None:
    assert folder.status is None
    folder.set_status("running")
    folder.set_status("failed", "reward is nan at step 7")
    assert folder.status == Status("failed", "reward is nan at step 7")
    assert json.loads((folder.path / "status.json").read_text())["state"] == "failed"


def test_a_second_process_is_refused_and_a_dead_ones_lock_recovered(folder: RunFolder) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder.path)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner, owner.stdout:
        assert owner.stdout.readline() == "locked\n"
        with pytest.raises(RunFolderBusy, match=f"process {owner.pid}"):
            folder.lock()
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
        with folder:
            assert f"process {os.getpid()}" in (folder.path / "lock").read_text()


def test_run_ids_are_readable_and_tell_settings_apart() -> None:
    one = run_id("crffsac-bonus", "optac/HalfCheetah-v0", {"batch_size": 256}, 1)
    other = run_id("crffsac-bonus", "optac/HalfCheetah-v0", {"batch_size": 128}, 1)
    assert one.startswith("crffsac-bonus-optac-HalfCheetah-v0-")
    assert one.endswith("-s1")
    assert one != other
    assert one == run_id("crffsac-bonus", "optac/HalfCheetah-v0", {"batch_size": 256}, 1)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_in_the_metrics_give_rows_or_a_typed_error(folder: RunFolder, content: bytes) -> None:
    folder.metrics_path.write_bytes(content)
    try:
        rows = folder.rows()
    except RunFailed:
        return
    assert all(isinstance(row, dict) for row in rows)


def test_of_two_that_begin_a_run_in_one_folder_at_once_the_quicker_keeps_it(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"seed": 1}, new=True)
    with pytest.raises(FileExistsError):
        write_json(tmp_path / "config.json", {"seed": 2}, new=True)
    assert read_json_object(tmp_path / "config.json") == {"seed": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
