"""Oracle bills: seeds are of one setup, and what sets two setups apart is said."""

from pathlib import Path

import pytest

from optac.report.commands_section import Commands
from optac.report.evidence import gather
from optac.report.page_sections import bill_section
from optac.report.panels import gap_panels
from optac.report.provable_groups import ProvableGroup, group_provable
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.studies.compare import compared
from optac.sweeps.comparing import prepared_comparison

LOCK = "combination-lock", {"horizon": 2, "actions": 2}


def solve(out: Path, **options) -> None:
    config = SolveConfig(*LOCK, "opt-ac", **{"iterations": 3, **options})
    run_solve(prepared_solve(config), out)


def compare(out: Path, algorithms: list[str], seeds: int, **settings: str) -> None:
    comparison = prepared_comparison(*LOCK, algorithms, seeds=seeds, episodes=6, settings=settings)
    compared(comparison, out, jobs=1)


def groups_of(folder: Path) -> list[ProvableGroup]:
    return group_provable(gather([folder]).provable)


def test_seeds_of_one_setup_are_one_group(tmp_path: Path) -> None:
    for seed in (1, 0):
        solve(tmp_path / f"s{seed}", seed=seed)
    (group,) = groups_of(tmp_path)
    assert group.label == "opt-ac" and [run.seed for run in group.runs] == [0, 1]


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({"iterations": 5}, {"opt-ac · iterations=3", "opt-ac · iterations=5"}),
        ({"iterations": None, "episodes": 8}, {"opt-ac · iterations=3", "opt-ac · episodes=8"}),
        ({"preset": "theory"}, {"opt-ac", "opt-ac · preset=theory"}),
        ({"settings": {"alpha": "0.25"}}, {"opt-ac", "opt-ac · alpha=0.25"}),
    ],
)
def test_what_was_run_otherwise_is_no_further_seed(tmp_path: Path, options: dict, labels: set[str]) -> None:
    solve(tmp_path / "a")
    solve(tmp_path / "b", **options)
    groups = groups_of(tmp_path)
    assert {group.label for group in groups} == labels and [len(group.runs) for group in groups] == [1, 1]
    (panel,) = gap_panels(groups)
    assert {series.label for series in panel.series} == labels
    assert [list(series.threads) for series in panel.series] == [[0], [0]], "no run hides another's curve"


def test_a_solve_and_a_comparison_stand_apart(tmp_path: Path) -> None:
    solve(tmp_path / "a", iterations=None, episodes=6)
    compare(tmp_path / "b", ["opt-ac", "rep-ucb"], 2)
    groups = {group.label: len(group.runs) for group in groups_of(tmp_path)}
    assert groups == {"opt-ac · solve": 1, "opt-ac · compare": 2, "rep-ucb": 2}
    text = bill_section(groups_of(tmp_path), Commands())
    assert text.count("<caption>") == 1 and "opt-ac · solve</a></th><td>1</td><td>6</td>" in text


def test_a_run_that_two_comparisons_share_is_counted_once(tmp_path: Path) -> None:
    compare(tmp_path / "a", ["opt-ac"], 1)
    compare(tmp_path / "b", ["opt-ac", "rep-ucb"], 2)
    groups = {group.label: [run.seed for run in group.runs] for group in groups_of(tmp_path)}
    assert groups == {"opt-ac": [0, 1], "rep-ucb": [0, 1]}


def test_a_setting_for_one_algorithm_sets_no_other_apart(tmp_path: Path) -> None:
    compare(tmp_path / "a", ["opt-ac", "rep-ucb"], 1)
    compare(tmp_path / "b", ["opt-ac", "rep-ucb"], 1, **{"opt-ac.alpha": "2.0"})
    assert {group.label for group in groups_of(tmp_path)} == {"opt-ac", "opt-ac · alpha=2.0", "rep-ucb"}
