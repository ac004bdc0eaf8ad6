"""The report survives any row, names what it replaced, and writes no cell that a spreadsheet or a page would run."""

import json
from pathlib import Path
from typing import Any

import pytest

from optac.report.evidence import Evidence, gather
from optac.report.files import write_report
from optac.report.latex import ascii_tex
from optac.report.raw_rows import raw_rows
from optac.report.recorded_runs import TrainingRun
from optac.report.tables import markdown_table
from tests.report.training_runs import write_run

ROWS: dict[str, dict[str, Any]] = {
    "half a character": {"note": "\ud800", "time/total_timesteps": 7},
    "half a character in a name": {"\udfff": 1, "time/total_timesteps": 7},
    "a huge number": {"eval/mean_reward": 10**400, "time/total_timesteps": 7},
    "a huge step": {"eval/mean_reward": 1.0, "time/total_timesteps": 10**300},
    "an infinite number": {"eval/mean_reward": float("inf"), "time/total_timesteps": 7},
    "a list for a number": {"eval/mean_reward": [1, {"a": None}], "time/total_timesteps": {}},
    "a formula": {"note": "=HYPERLINK(1)", "time/total_timesteps": 7},
}
HALVES = ("half a character", "half a character in a name")
NO_NUMBER = {"a huge number", "an infinite number", "a list for a number"}


@pytest.mark.parametrize("case", [*HALVES, "all others"])
def test_the_report_survives(case: str, tmp_path: Path) -> None:
    """A page for each row that is no Unicode, whose note is then of that one, and a page with a run for each other."""
    cases = [case] if case in HALVES else [name for name in ROWS if name not in HALVES]
    for seed, name in enumerate(cases):
        run = write_run(tmp_path / "runs" / name.replace(" ", "-"), seed=seed).path
        with open(run / "metrics.jsonl", "a") as file:
            file.write(json.dumps(ROWS[name]) + "\n")
    written = write_report([tmp_path / "runs"], tmp_path / "report.html")
    assert any("no Unicode was replaced" in note for note in written.notes) == (case in HALVES)
    kept = gather([tmp_path / "runs"]).training
    assert len(kept) == len(cases) and all(run.rows for run in kept), (
        "what is wrong costs its own value alone"
    )
    for name in NO_NUMBER.intersection(cases):
        path = f"{name.replace(' ', '-')}/metrics.jsonl"
        assert any(path in note and "is no number in 1 of its rows" in note for note in written.notes), name


def test_the_report_leaves_out_files_of_a_terabyte(tmp_path: Path) -> None:
    """Of nothing but holes, so that they take no room on the disk, and all of memory where one is read."""
    names = ("config.json", "metrics.jsonl", "status.json")
    for seed, name in enumerate(names):
        write_run(tmp_path / "runs" / f"run-{seed}", seed=seed)
        with open(tmp_path / "runs" / f"run-{seed}" / name, "wb") as file:
            file.truncate(1 << 40)
    write_run(tmp_path / "runs" / "sound", seed=3)
    notes = write_report([tmp_path / "runs"], tmp_path / "report.html").notes
    for seed, name in enumerate(names):
        assert any(f"run-{seed}/{name} has 1,099,511,627,776 bytes" in note for note in notes), notes


def _csv(run: TrainingRun) -> str:
    return raw_rows(Evidence((), (run,), (), ()))["training-rows.csv"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_escaped(text: str) -> None:
    run = TrainingRun(Path("run"), {"agent": text, "environment": "x", "seed": 0}, [{text: text}], "", "")
    head, line = _csv(run).replace('"', "").split("\n", 1)
    assert f"'{text.strip()[:1]}" in head or f"'{text[:1]}" in head
    assert line.count("'") == 2


def test_a_number_below_zero_is_no_formula() -> None:
    run = TrainingRun(Path("run"), {"agent": "a", "environment": "x", "seed": 0}, [{"loss": -1.5}], "", "")
    assert _csv(run).splitlines()[1].endswith(",-1.5")


def test_a_markdown_cell_stays_a_cell() -> None:
    table = markdown_table(["a|b"], [["<script>x</script>\n| new"]])
    assert table == "| a\\|b |\n| --- |\n| &lt;script>x&lt;/script> \\| new |\n"


TEX = {
    "a_b & c\\\\": r"a\_b \& c\textbackslash{}\textbackslash{}",
    "100 % $x$ #1 {y}": r"100 \% \$x\$ \#1 \{y\}",
    "~/x^2 <b>": r"\textasciitilde{}/x\textasciicircum{}2 $<$b$>$",
    "−4.0 ± 1.0": r"$-$4.0 $\pm$ 1.0",
}


@pytest.mark.parametrize("text", TEX)
def test_a_cell_in_latex_stays_a_cell(text: str) -> None:
    assert ascii_tex(text) == TEX[text]
