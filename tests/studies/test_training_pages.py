"""Pages of trainings say what their runs say, and the committed ones say it of the committed runs."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from optac.studies.exploration.cells import sweep
from optac.studies.study import TrainingStudy
from optac.studies.table2.cells import sweep as table2
from scripts.table2 import write_documents
from scripts.training_pages import standing, write_pages

ROOT = Path(__file__).parents[2]
TABLE2 = "docs/results/table2.md"
PAGES = ("README.md", "docs/results/exploration.md", "docs/results/agent-ablations.md")


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The pages as they are committed."""
    for page in (*PAGES, TABLE2):
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, tmp_path / page)
    return tmp_path


def test_the_committed_pages_are_those_of_the_committed_runs(copies: Path) -> None:
    assert len(write_pages(ROOT / "results", copies)) == 3
    shutil.copytree(ROOT / "results" / "table2", copies / "table2")  # its figures are drawn among its runs
    write_documents(copies / "table2", copies)
    for page in (*PAGES, TABLE2):
        assert (copies / page).read_text() == (ROOT / page).read_text(), (
            f"`make agent-runs table2` for {page}"
        )


def test_seeds_that_solved_a_task_are_counted_and_of_sac_its_best_target(
    copies: Path, published: Callable[..., Path]
) -> None:
    runs = [run for run in sweep(seeds=2).runs if run.config["environment"] == "MountainCarContinuous-v0"]
    runs = [run for run in runs if not {"return_bound", "bonus_alpha"} & set(run.config["changed"])]
    missing = next(
        run for run in runs if run.config["changed"] == {"target_entropy": 0.0} and run.config["seed"] == 11
    )
    for run in runs:
        if run is missing:
            continue
        entropy, seed = run.config["settings"]["target_entropy"], run.config["seed"]
        solved = run.config["agent"] == "crffsac-bonus" or entropy == 0.0 or (entropy, seed) == (0.5, 11)
        untrained = [95.0, *[0.0] * 9]  # at 5,000 steps, before the first update
        values = untrained if run.config["agent"] == "crffsac" else [0.0, 91.0 if solved else 89.9, 50.0]
        results = published(run, values)
    results.rename(copies / "exploration")
    page, _, readme = (path.read_text() for path in write_pages(copies, copies))
    standing = "9 of 80 runs are in; `optac reproduce exploration` makes the rest."
    for text in (readme, page):
        assert f"{standing} Where fewer than 3 seeds are in, they are too few to tell small effects." in text
    assert "| MountainCarContinuous-v0 | 90 | 2 of 2 | 0 of 2 | 1 of 1 |" in readme
    assert "| SparseSwingUp | 100 | missing | missing | missing |" in readme
    line = (
        "| MountainCarContinuous-v0 | cRFFSAC + bonus |  | 10, 11 | 2 of 2 | 33,333 | 0 of 2 | 50.0, 50.0 |"
    )
    assert line in page
    assert "| target_entropy=0.5 | 10, 11 | 1 of 2 |" in page and "| target_entropy=0 | 10 | 1 of 1 |" in page
    ablations = (copies / "docs/results/agent-ablations.md").read_text()
    assert "0 of 168 runs are in" in ablations and "No run is in yet." in ablations


def test_a_variant_of_one_seed_is_not_the_best_where_others_have_enough(
    copies: Path, published: Callable[..., Path]
) -> None:
    for run in sweep(environments=["MountainCarContinuous-v0"]).runs:
        changed, seed = run.config["changed"], run.config["seed"]
        if run.config["agent"] == "sac" and (changed == {"target_entropy": 0.5} or seed == 10):
            results = published(run, [0.0, 0.0 if seed == 14 else 91.0, 0.0])
    results.rename(copies / "exploration")
    *_, readme = (path.read_text() for path in write_pages(copies, copies))
    assert "| MountainCarContinuous-v0 | 90 | missing | missing | 4 of 5 |" in readme


def test_a_control_of_the_bonus_does_not_count_as_the_agent_with_it(
    copies: Path, published: Callable[..., Path]
) -> None:
    for run in sweep(seeds=1, environments=["MountainCarContinuous-v0"]).runs:
        if run.config["agent"] == "crffsac-bonus":
            results = published(run, [0.0, 99.0 if run.config["changed"] else 0.0, 0.0])
    results.rename(copies / "exploration")
    page, _, readme = (path.read_text() for path in write_pages(copies, copies))
    assert "| MountainCarContinuous-v0 | 90 | 0 of 1 | missing | missing |" in readme
    assert "| cRFFSAC + bonus | bonus_alpha=0 | 10 | 1 of 1 |" in page


def test_runs_that_are_all_in_may_still_be_too_few_to_tell(
    published: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = sweep(seeds=3, environments=["MountainCarContinuous-v0"]).runs
    results, *_ = [published(run, [0.0]) for run in runs]

    def said(seeds: int) -> str:
        monkeypatch.setattr(
            TrainingStudy, "sweep", lambda self: sweep(seeds=seeds, environments=["MountainCarContinuous-v0"])
        )
        return standing(TrainingStudy("exploration", "", ""), results)

    assert (
        said(2)
        == "All 16 runs are in. Where fewer than 3 seeds are in, they are too few to tell small effects."
    )
    assert said(3) == "All 24 runs are in."


def test_what_the_bonus_does_is_read_at_the_steps_of_the_same_runs(
    copies: Path, published: Callable[..., Path]
) -> None:
    for run in table2(seeds=3, environments=["optac/HalfCheetah-v0"]).runs:
        agent, number = run.config["agent"], run.config["seed"] - 50
        if agent != "sac":
            # at 50,000 steps 300 less with the bonus, at 100,000 and 150,000 the same, at the end 100 more on one seed
            early, late = (-300, 100 * (number == 2)) if agent == "crffsac-bonus" else (0, 0)
            published(run, [1000 * number + early, 2000.0 + number, 3000.0, 4000.0 + number + late])
    (copies / "results").rename(copies / "table2")
    page = write_pages(copies, copies)[0].read_text()
    lines = [
        line for line in page.splitlines() if line.startswith(tuple(f"| {n}0,000 |" for n in (5, 10, 15, 20)))
    ]
    assert [line.split("|")[1:4] + line.split("|")[5:6] for line in lines] == [
        [" 50,000 ", " 700 ± 1,000 ", " 1,000 ± 1,000 ", " 0 of 3 "],
        [" 100,000 ", " 2,001.0 ± 1.0 ", " 2,001.0 ± 1.0 ", " 0 of 3 "],
        [" 150,000 ", " 3,000 ± 0 ", " 3,000 ± 0 ", " 0 of 3 "],
        [" 200,000 ", " 4,034 ± 59 ", " 4,001.0 ± 1.0 ", " 1 of 3 "],
    ]
    told = [line.split("|")[4].strip() for line in lines]
    assert told[0].startswith("−300 [") and told[0].endswith(", cannot tell")
    assert told[2] == "0, no spread to tell by"
