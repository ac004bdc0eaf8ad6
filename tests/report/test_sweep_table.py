"""A sweep's table says what its numbers are."""

import json
from pathlib import Path
from typing import Any

import pytest

from optac.cli import main
from optac.commands.sweep import columns, show_standing
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.sweeps.launcher import lay_out
from optac.sweeps.plan import read_sweep
from optac.sweeps.standing import RunStanding, SweepStanding, sweep_standing
from tests.report.training_runs import write_run


def write_runs(folder: Path, *kinds: str) -> None:
    for kind in kinds:
        if kind == "train":
            write_run(folder / "train", returns=(7.0,))
        if kind == "solve":
            config = SolveConfig("combination-lock", {"horizon": 2, "actions": 2}, "opt-ac", iterations=3)
            run_solve(prepared_solve(config), folder / "solve")
    (folder / "sweep.json").write_text(json.dumps({"runs": [*kinds, "waiting"]}))


@pytest.mark.parametrize(
    ("kinds", "head"), [(["train"], "return"), (["solve"], "last gap"), ([], "score")], ids=str
)
def test_the_head_is_a_return_for_agents_and_a_gap_for_algorithms(
    tmp_path: Path, kinds: list[str], head: str, capsys
) -> None:
    write_runs(tmp_path, *kinds)
    standing = sweep_standing(tmp_path)
    first = {"train": ["agent", "environment"], "solve": ["algorithm", "problem"]}
    told_apart = first[kinds[0]] if kinds else ["run"]
    assert columns(standing) == [*told_apart, "state", "reached", head, "speed", "attempts"]
    show_standing(standing)
    title, heads, *_ = capsys.readouterr().out.splitlines()
    assert title.startswith(tmp_path.name) and head in heads


def test_the_table_shows_what_was_varied_and_no_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "locks.toml").write_text(
        """
        [sweep]
        algorithms = ["opt-ac"]
        problems = ["combination-lock horizon=2 actions=2"]
        seeds = [3, 4]
        iterations = 2
        [settings]
        alpha = [0.1, 0.02]
        """
    )
    assert main(["sweep", str(tmp_path / "locks.toml"), "--dry-run", "--out", str(tmp_path / "out")]) == 0
    _, heads, *lines = capsys.readouterr().out.splitlines()
    assert heads.split()[:3] == ["alpha", "seed", "state"]
    shown = {tuple(sorted(line.split()[:2])) for line in lines}
    assert shown == {("0.1", "3"), ("0.02", "3"), ("0.1", "4"), ("0.02", "4")}
    ids = [run["id"] for run in dry_run(tmp_path, capsys)["runs"]]
    assert len(set(ids)) == 4 and not any(name in line for name in ids for line in lines)
    assert (
        dry_run(tmp_path, capsys)["runs"][0]["choices"]["problem"]
        == "combination-lock horizon=2 actions=2 seed=0"
    )


def test_a_dry_run_refuses_what_the_sweep_would_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, words = tmp_path / "sac.toml", ["sweep", str(tmp_path / "sac.toml"), "--out", str(tmp_path / "out")]
    text = '[sweep]\nagents = ["sac"]\nenvironments = ["Pendulum-v1"]\nseeds = [0]\nsteps = '
    file.write_text(f"{text}20")
    lay_out(read_sweep(file), tmp_path / "out")
    assert main([*words, "--dry-run"]) == 0
    file.write_text(f"{text}30")
    capsys.readouterr()
    said = []
    for how in ("--dry-run", "--quiet"):
        assert main([*words, how]) == 2
        said.append(capsys.readouterr().err)
    assert "holds another run: it differs in steps" in said[0] and said[0] == said[1]


def test_the_seed_stands_last_and_settings_in_their_own_order_whichever_differs_first() -> None:
    usual = {"preset": "practical", "alpha": 0.02, "eta": 1}
    runs = (
        RunStanding("a", "waiting", choices={"eta": "0.3", "seed": "0"}, settings=usual),
        RunStanding("b", "waiting", choices={"alpha": "0.2", "seed": "1"}, settings=usual),
    )
    standing = SweepStanding(Path("x"), runs)
    assert standing.varied == ["alpha", "eta", "seed"]
    assert standing.told(runs[0]) == "alpha=0.02, eta=0.3, seed=0"


def test_the_lines_of_a_sweep_say_what_was_varied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "locks.toml").write_text(
        """
        [sweep]
        algorithms = ["opt-ac"]
        problems = ["combination-lock horizon=2 actions=2"]
        iterations = 2
        [settings]
        alpha = [0.1, 0.02]
        """
    )
    assert main(["sweep", str(tmp_path / "locks.toml"), "--jobs", "1", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err
    assert "-s0 (alpha=0.1) finished (attempt 1)" in said and "-s0 (alpha=0.02) finished" in said


def test_a_run_and_a_folder_of_runs_have_a_standing_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "runs" / "one", returns=(7.0,))
    write_run(tmp_path / "runs" / "two", returns=(8.0,), seed=1)
    assert main(["status", str(tmp_path / "runs")]) == 0
    _, heads, *lines = capsys.readouterr().out.splitlines()
    assert heads.split()[:3] == ["run", "seed", "state"]
    assert [line.split()[:2] for line in lines] == [["one", "0"], ["two", "1"]]
    assert main(["status", str(tmp_path / "runs" / "two"), "--json"]) == 0
    assert [run["score"] for run in json.loads(capsys.readouterr().out)["runs"]] == [8.0]


def test_a_pruned_run_is_called_so_and_told_by_what_was_varied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    why = "pruned at step 20: below the others"
    runs = tuple(
        RunStanding(name, "finished", choices={"width": width}, why=said)
        for name, width, said in (("a", "8", None), ("b", "16", why))
    )
    show_standing(SweepStanding(tmp_path, runs))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["8", "finished"], ["16", "pruned"]]
    assert lines[4] == f"width=16: {why}"


def dry_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    words = ["sweep", str(folder / "locks.toml"), "--dry-run", "--out", str(folder / "out"), "--json"]
    assert main(words) == 0
    return json.loads(capsys.readouterr().out)
