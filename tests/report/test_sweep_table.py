"""A sweep's table says what its numbers are."""

import json
from pathlib import Path

import pytest

from optac.commands.sweep import columns, show_standing
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.sweeps.standing import sweep_standing
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
    assert columns(standing) == ["run", "state", "reached", head, "speed", "attempts"]
    show_standing(standing)
    title, heads, *_ = capsys.readouterr().out.splitlines()
    assert title.startswith(tmp_path.name) and head in heads
