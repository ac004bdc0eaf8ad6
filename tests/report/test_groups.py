"""Seeds are averaged where all that was set is alike, whatever their records call it."""

import json
from pathlib import Path

import pytest

from optac.errors import InvalidInput
from optac.report.evidence import gather
from optac.report.groups import group_runs
from optac.report.page_sections import shared_tasks
from optac.runs.folder import RunFolder
from optac.runs.publishing import is_published, publish
from optac.studies.table2.report import REFERENCE
from tests.report.training_runs import write_run


def rewritten(run: RunFolder, **settings: object) -> None:
    config = json.loads(run.config_path.read_text())
    config["settings"] |= settings
    run.config_path.write_text(json.dumps(config))


def test_runs_of_a_preset_that_was_another_are_no_seeds_of_one_agent(tmp_path: Path) -> None:
    for seed in range(4):
        run = write_run(tmp_path / f"s{seed}", "sac", seed)
        rewritten(run, **({"learning_rate": 0.001} if seed < 2 else {}))
    groups = group_runs(gather([tmp_path]).training)
    assert sorted([run.seed for run in group.runs] for group in groups) == [[0, 1], [2, 3]]
    assert {group.label for group in groups} == {"sac · learning_rate=0.001", "sac · learning_rate=0.0003"}


def test_a_record_of_before_there_was_a_setting_is_a_seed_like_the_others(tmp_path: Path) -> None:
    for seed in range(2):
        run = write_run(tmp_path / f"s{seed}", "sac", seed)
    config = json.loads(run.config_path.read_text())
    del config["settings"]["delay_ends"]
    run.config_path.write_text(json.dumps(config))
    (group,) = group_runs(gather([tmp_path]).training)
    assert group.label == "sac" and len(group.runs) == 2


def test_a_record_made_with_other_settings_does_not_stand_for_the_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "sac", 0)
    settings = run.config["settings"]
    name = publish(run.path, tmp_path / "records").name
    assert is_published(name, tmp_path / "records", settings)
    with pytest.raises(InvalidInput, match=r"was made with batch_size=128, where batch_size=64 is asked for"):
        is_published(name, tmp_path / "records", settings | {"batch_size": 64})


def test_a_run_is_published_through_a_link(tmp_path: Path) -> None:
    run = write_run(tmp_path / "real" / "run", "sac", 0)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    to = publish(tmp_path / "linked" / run.path.name, tmp_path / "records")
    assert (to / "status.json").is_file()


def test_an_agent_that_is_no_more_than_begun_takes_the_figure_from_no_other(tmp_path: Path) -> None:
    for seed in range(3):
        for agent in ("sac", "crffsac"):
            write_run(tmp_path / f"{agent}{seed}", agent, seed)
    both = shared_tasks(group_runs(gather([tmp_path]).training, REFERENCE), REFERENCE)
    write_run(tmp_path / "bonus", "crffsac-bonus", 0)
    begun = shared_tasks(group_runs(gather([tmp_path]).training, REFERENCE), REFERENCE)
    assert set(both.groups) == set(begun.groups) == {"sac", "crffsac"}
