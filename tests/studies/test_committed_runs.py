"""The records under results/ are found under the ids that their configurations have now."""

import json
import re
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


def test_the_runs_of_table_2_that_are_in_are_not_made_again() -> None:
    asked = {run.id: run.config for run in table2_sweep().runs}
    there = {run for run in asked if is_published(run, TABLE2)}
    assert len(asked) == 72
    assert there == {folder.name for folder in TABLE2.iterdir() if (folder / "config.json").is_file()}
    for run in there:
        kept = RunFolder.open(TABLE2 / run).config
        for name in ("agent", "environment", "steps", "seed", "settings"):
            assert kept[name] == asked[run][name], (run, name)


def test_the_runs_of_table_2_begin_as_those_that_confirmed_the_defaults() -> None:
    """The same seeds, and defaults that are the same up to 50,000 steps: evaluations agree to the last digit."""
    confirmed = ROOT / "results" / "recipe-confirmation" / "fourth-candidate"
    found = 0
    for folder in TABLE2.glob("*/config.json"):
        config = json.loads(folder.read_text())
        name = f"{config['agent']}-{config['environment'].replace('/', '-')}-s{config['seed']}"
        if (confirmed / name).is_dir():
            curves = [
                [row["eval/mean_reward"] for row in RunFolder.open(path).rows() if "eval/mean_reward" in row]
                for path in (folder.parent, confirmed / name)
            ]
            assert len(curves[1]) == 10 and curves[0][:10] == curves[1], name
            found += 1
    assert found > 0


@pytest.mark.parametrize(
    ("study", "missing"),
    [
        *((name, 0) for name in ("table1", "scaling", "oracles", "opt-ac")),
        ("table2", 72 - len(list(TABLE2.glob("*/config.json")))),
        ("exploration", 80 - len(list((ROOT / "results" / "exploration").glob("*/config.json")))),
    ],
)
def test_reproducing_lists_what_is_left_to_run(study: str, missing: int, monkeypatch, capsys) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["reproduce", study, "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["missing"]) == missing


def test_a_record_whose_name_is_an_id_has_the_id_of_its_configuration() -> None:
    configs = {file.parent.name: json.loads(file.read_text()) for file in ROOT.glob("results/**/config.json")}
    ids = [name for name in configs if re.search(r"-[0-9a-f]{8}-s\d+$", name) and "agent" in configs[name]]
    assert len(ids) >= 9 and [training_id(configs[name]) for name in ids] == ids


def test_a_record_of_the_same_run_that_went_on_for_longer_is_not_overwritten(tmp_path: Path) -> None:
    config = table2_sweep().runs[0].config
    for steps in (2_000, 1_000):
        folder = RunFolder.create(tmp_path / str(steps), {**config, "steps": steps})
        folder.set_status("finished")
    record = publish(tmp_path / "2000", tmp_path / "results")
    with pytest.raises(InvalidInput, match="holds the same run with steps=2000"):
        publish(tmp_path / "1000", tmp_path / "results")
    assert RunFolder.open(record).config["steps"] == 2_000
