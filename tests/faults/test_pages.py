"""What the pages on runs, sweeps and reports promise in passing, and no other test keeps."""

import gzip
import os
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from optac.agents.training import loop
from optac.agents.training.learner import Episodes, Learner
from optac.agents.training.versions import drift, numeric_versions
from optac.commands.train import print_evaluation
from optac.errors import InvalidInput
from optac.report import page
from optac.report.files import write_report
from optac.sweeps import local_executor
from optac.sweeps.local_executor import LocalExecutor
from optac.sweeps.ray_executor import RayExecutor
from optac.sweeps.worker import Task
from tests.report.training_runs import write_run


@pytest.mark.parametrize(("jobs", "expected"), [(3, [4, 6, 9]), (2, [None, None]), (4, [4, 6, 9, 4])])
def test_as_many_jobs_as_cores_get_one_each(
    jobs: int, expected: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {9, 4, 6})
    started: list[Any] = []

    class Busy:
        def __init__(self, task: Task) -> None:
            self.task = task
            started.append(task.core)

        start = classmethod(lambda cls, task: cls(task))

    monkeypatch.setattr(local_executor, "Worker", Busy)
    executor = LocalExecutor(jobs)
    for number in range(jobs):
        executor.start(Task(f"run-{number}", 1, "launcher", "."))
    assert started == expected and executor.free() == 0


@pytest.mark.parametrize(
    ("mode", "said"), [(0o644, "can be read by others; chmod 600"), (None, "no token for")]
)
def test_a_cluster_is_not_spoken_to_without_a_token_of_ones_own(
    mode: int | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("optac.errors.find_spec", lambda name: object())
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode is not None:
        (tmp_path / "token").write_text("secret")
        (tmp_path / "token").chmod(mode)
    with pytest.raises(InvalidInput, match=said):
        RayExecutor("127.0.0.1:6379")


def test_rows_are_packed_from_a_megabyte_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert page.LARGEST_PLAIN_CSV == 1_000_000
    monkeypatch.setattr(page, "LARGEST_PLAIN_CSV", 20)
    for text, packed in (("step\n1\n2\n", False), ("step\n" + "1\n" * 20, True)):
        link = str(page._download("rows.csv", text))
        (data,) = re.findall(r"base64,([^\"]*)", link)
        held = b64decode(data)
        assert (gzip.decompress(held) if packed else held).decode() == text
        assert ('download="rows.csv.gz"' in link) == packed


def test_a_report_changes_nothing_in_what_it_reads(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "one")
    with open(tmp_path / "runs" / "one" / "metrics.jsonl", "a") as file:
        file.write('{"torn')

    def seen() -> dict[Path, Any]:
        found = (tmp_path / "runs").rglob("*")
        return {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in found}

    before = seen()
    write_report([tmp_path / "runs"], tmp_path / "report.html")
    assert seen() == before


def test_in_a_pipe_a_training_says_a_line_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"time/total_timesteps": 500, "time/fps": 90.0, "train/q_mean": 1.0}
    print_evaluation(row)
    print_evaluation({**row, "eval/mean_reward": 12.5, "eval/std_reward": 0.5})
    assert capsys.readouterr().err == "step 500: return 12.5 ± 0.5, 90 steps/s\n"


def test_a_row_has_the_last_hundred_episodes_and_the_means_since_the_row_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "diagnosis", lambda learner: {})
    episodes = Episodes()
    for number in range(150):
        for last in (False, True):
            episodes.step(float(number), last)
    learner = object.__new__(Learner)  # no more of it is looked at
    learner.step, learner.episodes, learner.info_sums, learner.info_count = 7, episodes, {"q_mean": 6.0}, 3
    row = loop._row(learner, 9.0)
    assert row["rollout/ep_rew_mean"] == 2 * sum(range(50, 150)) / 100 and row["rollout/ep_len_mean"] == 2
    assert row["train/q_mean"] == 2.0 and "train/q_mean" not in loop._row(learner, 9.0)


@pytest.mark.parametrize(
    "name",
    [
        *("optac", "jax", "mujoco", "processor", "machine"),
        *("instructions", "device", "threads", "XLA_FLAGS"),
    ],
)
def test_what_a_runs_bits_depend_on_is_compared(name: str) -> None:
    now = numeric_versions()
    assert drift(now) == []
    assert drift({**now, name: "another"}) == [f"{name} another → {now[name]}"]
