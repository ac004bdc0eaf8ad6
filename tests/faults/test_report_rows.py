"""The report survives any row, names what it replaced, and writes no cell that a spreadsheet or a page would run."""

import json
from pathlib import Path
from typing import Any

import pytest

from optac.report.evidence import Evidence
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


@pytest.mark.parametrize("case", ROWS)
def test_the_report_survives(case: str, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "one"
    write_run(run)
    with open(run / "metrics.jsonl", "a") as file:
        file.write(json.dumps(ROWS[case]) + "\n")
    written = write_report([tmp_path / "runs"], tmp_path / "report.html")
    assert written.page.stat().st_size > 1000
    replaced = any("no Unicode was replaced" in note for note in written.notes)
    assert replaced == case.startswith("half a character")


@pytest.mark.parametrize("name", ["config.json", "metrics.jsonl", "status.json"])
def test_the_report_leaves_out_a_file_of_a_terabyte(name: str, tmp_path: Path) -> None:
    """Of nothing but holes, so that it takes no room on the disk, and all of memory where it is read."""
    for run in ("one", "two"):
        write_run(tmp_path / "runs" / run)
    with open(tmp_path / "runs" / "two" / name, "wb") as file:
        file.truncate(1 << 40)
    written = write_report([tmp_path / "runs"], tmp_path / "report.html")
    assert any(f"two/{name} has 1,099,511,627,776 bytes" in note for note in written.notes), written.notes


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
