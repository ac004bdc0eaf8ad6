"""The records under results/ are found under the ids that their configurations have now."""

import json
import sys
from pathlib import Path

import pytest

from optac.cli import main
from optac.errors import InvalidInput
from optac.runs.folder import RunFolder
from optac.runs.publishing import is_published, publish
from optac.runs.training_config import training_id
from optac.studies.table2.cells import sweep as table2_sweep

ROOT = Path(__file__).parents[2]
TABLE2 = ROOT / "results" / "table2"
sys.path.append(str(ROOT / "scripts"))


def test_the_runs_of_table_2_that_are_in_are_not_made_again() -> None:
    asked = {run.id: run.config for run in table2_sweep().runs}
    there = {run for run in asked if is_published(run, TABLE2)}
    assert len(there) == 9 and len(asked) - len(there) == 63
    assert there == {folder.name for folder in TABLE2.iterdir() if (folder / "config.json").is_file()}
    for run in there:
        kept = RunFolder.open(TABLE2 / run).config
        assert {name: kept[name] for name in ("agent", "environment", "steps", "seed")} == {
            name: asked[run][name] for name in ("agent", "environment", "steps", "seed")
        }


@pytest.mark.parametrize(
    ("study", "missing"), [("table1", 0), ("scaling", 0), ("oracles", 0), ("opt-ac", 0), ("table2", 63)]
)
def test_reproducing_lists_what_is_left_to_run(study: str, missing: int, monkeypatch, capsys) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["reproduce", study, "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["missing"]) == missing


def test_the_script_names_a_record_by_its_configuration_and_keeps_names_given_by_hand(tmp_path: Path) -> None:
    from rename_results import renamed

    config = table2_sweep().runs[0].config
    for name in ("sac-optac-HalfCheetah-v0-00000000-s0", "by-hand-s0"):
        RunFolder.create(tmp_path / name, config)
    (old, new), *others = renamed(tmp_path).items()
    assert old.name == "sac-optac-HalfCheetah-v0-00000000-s0" and new.name == training_id(config)
    assert others == [] and renamed(ROOT / "results") == {}


def test_a_record_of_the_same_run_that_went_on_for_longer_is_not_overwritten(tmp_path: Path) -> None:
    config = table2_sweep().runs[0].config
    for steps in (2_000, 1_000):
        folder = RunFolder.create(tmp_path / str(steps), {**config, "steps": steps})
        folder.set_status("finished")
    record = publish(tmp_path / "2000", tmp_path / "results")
    with pytest.raises(InvalidInput, match="holds the same run with steps=2000"):
        publish(tmp_path / "1000", tmp_path / "results")
    assert RunFolder.open(record).config["steps"] == 2_000
