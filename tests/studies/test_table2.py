"""Ours beside the paper's: the numbers, who is better, whether the seeds can tell, what is missing."""

import json
import shlex
from pathlib import Path

import pytest

from optac.cli import build_parser
from optac.errors import InvalidInput
from optac.report.evidence import gather
from optac.report.groups import group_runs
from optac.report.numbers import mean_std, number
from optac.report.statistics import Summary
from optac.studies.table2.aims import aims_markdown
from optac.studies.table2.cells import SEEDS, STEPS, sweep
from optac.studies.table2.comparison import paper_cells
from optac.studies.table2.paper import PAPER, RANDOM_RETURNS, TASKS
from optac.studies.table2.report import (
    REFERENCE,
    against_sac_markdown,
    commands_markdown,
    latex,
    markdown,
    missing_markdown,
    show,
    write_page,
)
from scripts.table2 import draw_curves, write_documents
from tests.report.training_runs import write_run


def cells_of(folder: Path, **options):
    return paper_cells(group_runs(gather([folder]).training, REFERENCE), **options)


def test_four_seeds_well_above_the_paper_can_tell(tmp_path: Path) -> None:
    for seed, value in zip(SEEDS, (5900.0, 6000.0, 6100.0, 6200.0), strict=True):
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(0.0, value))
        write_run(tmp_path / f"c{seed}", "crffsac", seed=seed, returns=(0.0, value))
    ((sac, crffsac, bonus),) = cells_of(tmp_path)
    # 6050 ± 129.1 against 4994 ± 99: √(129.1²/4 + 99²/4) = 81.3, times t(97.5 %, 5.62) = 2.49, is 202.
    assert sac.verdict == "ours higher, seeds can tell: 1,056 [854, 1,258]"
    assert crffsac.verdict.startswith("paper’s higher, seeds cannot tell: −102 [")
    assert bonus.verdict == "missing" and bonus.missing == list(SEEDS)
    assert bonus.fill == "optac reproduce table2 --environments optac/HalfCheetah-v0 --steps 10000"


def test_the_command_that_fills_a_line_runs_as_many_steps_as_the_line_counts(tmp_path: Path) -> None:
    write_run(tmp_path / "short", returns=(7.0,) * 20)
    write_run(tmp_path / "whole", returns=(7.0,) * 40, environment="optac/Hopper-v0")
    for cell in (cells[-1] for cells in cells_of(tmp_path)):
        asked = build_parser().parse_args(shlex.split(cell.fill)[1:])
        planned = sweep(environments=asked.environments, steps=asked.steps).runs
        assert {(run.config["environment"], run.config["steps"]) for run in planned} == {
            (cell.environment, cell.steps)
        }


def test_two_seeds_cannot_tell_and_say_which_are_missing(tmp_path: Path) -> None:
    for seed in (SEEDS[0], SEEDS[2]):
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(9000.0 + seed,))
    ((sac, *_),) = cells_of(tmp_path)
    assert sac.verdict == "ours higher, 2 seeds: too few to tell" and sac.missing == [SEEDS[1], SEEDS[3]]


def test_ones_own_seeds_stand_for_the_studys(tmp_path: Path) -> None:
    for seed in range(2):
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(9000.0,))
    assert cells_of(tmp_path)[0][0].missing == list(SEEDS[:2])
    for seed in range(2, 6):
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(9000.0,))
    assert cells_of(tmp_path)[0][0].missing == []


def test_the_papers_digits_decide_what_is_equal(tmp_path: Path) -> None:
    for seed in range(4):
        value = -0.00284 + seed * 1e-6
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(value,), environment="optac/InvertedPendulum-v0")
    ((sac, *_),) = cells_of(tmp_path)
    assert sac.verdict == "equal, cannot tell: the paper’s spread is printed as 0.0"


def test_seeds_that_agree_to_the_last_digit_are_held_against_the_papers_spread(tmp_path: Path) -> None:
    """Welch's interval with one spread of 0 is the other's t interval: 99 / √4 times t(97.5 %, 3) = 3.182 is 158."""
    for seed in range(3):
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(5000.0,))
    ((sac, *_),) = cells_of(tmp_path)
    assert sac.verdict == "ours higher, seeds cannot tell: 6 [−152, 164]"


def test_only_finished_runs_of_the_asked_steps_and_the_default_settings_count(tmp_path: Path) -> None:
    write_run(tmp_path / "short", returns=(1.0, 2.0))
    write_run(tmp_path / "going", seed=1, returns=(1.0,), steps=200_000)
    write_run(tmp_path / "other", seed=2, returns=(1.0,) * 40, batch_size=64)
    lines = cells_of(tmp_path, steps=STEPS)
    assert [line[0].environment for line in lines] == list(TASKS)
    assert all(cell.verdict == "missing" for line in lines for cell in line)
    write_run(tmp_path / "whole", returns=(7.0,) * 40)
    counted = cells_of(tmp_path, steps=STEPS)[1][0]
    assert counted.ours == Summary(7.0, None, 1) and counted.steps == 200_000


def test_tables_show_what_is_missing(tmp_path: Path) -> None:
    for i, seed in enumerate(SEEDS[:3]):
        write_run(tmp_path / f"s{seed}", seed=seed, returns=(4000.0 + i,))
    lines = cells_of(tmp_path)
    text = markdown(lines)
    assert "| **HalfCheetah**, 5,000 steps | ours | **4,001.0 ± 1.0 (3 seeds)** | **missing** |" in text
    assert "|  | ours, last three | 4,001.0 ± 1.0 | — | — |" in text
    assert "|  | paper | 4994 ± 99 | 6152 ± 657 | 6454 ± 479 |" in text
    assert f"| HalfCheetah | SAC | {SEEDS[3]} | `optac reproduce table2" in missing_markdown(lines)
    assert r"HalfCheetah & ours & 4,001.0 $\pm$ 1.0 (3 seeds) & -- & -- \\" in latex(lines)
    assert missing_markdown([]) == "Nothing is missing.\n"


def test_an_aim_is_reached_by_the_mean_and_where_it_says_so_by_every_seed(tmp_path: Path) -> None:
    for i, seed in enumerate(SEEDS):
        write_run(tmp_path / f"c{seed}", seed=seed, returns=(8997.0 + 2 * i,))  # their mean is the aim itself
        write_run(tmp_path / f"d{seed}", "crffsac", seed=seed, returns=(9001.0,))
        swings = {"seed": seed, "environment": "optac/InvertedPendulum-v0"}
        write_run(tmp_path / f"s{seed}", returns=(-0.11 if i == 3 else 0.0,), **swings)
        if i < 3:
            write_run(tmp_path / f"p{seed}", "crffsac", returns=(-0.1,), **swings)
    text = aims_markdown(cells_of(tmp_path))
    assert "| HalfCheetah | > 9,000 | not reached | reached | missing |" in text
    swinging = (
        "| InvertedPendulum | ≥ −0.1 with every seed | not reached | reached, 3 of 4 seeds in | missing |"
    )
    assert swinging in text


def test_the_command_of_a_cell_is_its_runs_own() -> None:
    published = Path(__file__).parents[2] / "results" / "table2"
    told = commands_markdown(cells_of(published))
    for run in gather([published]).training:
        assert f"`{run.command.replace(f'--seed {run.seed}', '--seed S')}`" in told


def test_the_papers_figures_are_the_printed_ones() -> None:
    assert PAPER["crffsac-bonus"]["optac/HalfCheetah-v0"].text == "6454 ± 479"
    assert PAPER["sac"]["optac/Reacher-v0"].text == "−4.81 ± 0.19"
    assert PAPER["crffsac"]["optac/Hopper-v0"].mean == 1449.0
    assert REFERENCE.normalised("optac/Ant-v0", 2081.0) == 1.0
    assert REFERENCE.normalised("optac/Ant-v0", RANDOM_RETURNS["optac/Ant-v0"]) == 0.0


def test_random_returns_are_the_measured_ones() -> None:
    file = Path(__file__).parents[2] / "results" / "environments" / "random_returns.json"
    rows = json.loads(file.read_text())["rows"]
    assert {row["environment"]: row["mean"] for row in rows} == RANDOM_RETURNS


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (6152.3, 657.0, "6,152"),
        (-4.8123, 0.19, "−4.81"),
        (0.0, None, "0"),
        (-0.0028412, None, "−0.002841"),
        (1234567.0, None, "1,234,567"),
        (float("nan"), None, "nan"),
    ],
)
def test_numbers_have_the_digits_they_deserve(value: float, spread: float | None, text: str) -> None:
    assert number(value, spread) == text


def test_a_single_seed_has_no_spread() -> None:
    assert mean_std(Summary(12.5, None, 1)) == "12.50" and mean_std(Summary(12.5, 0.0, 3)) == "12.50 ± 0"


def test_the_documents_are_written_from_the_runs_there_are(tmp_path: Path) -> None:
    (tmp_path / "docs" / "results").mkdir(parents=True)
    readme, page = tmp_path / "README.md", tmp_path / "docs" / "results" / "table2.md"
    names = ("standing", "table", "against", "curves", "stability", "missing", "aims", "commands", "table2")
    marks = {name: f"<!-- {name} -->old<!-- /{name} -->" for name in names}
    page.write_text("".join(f"{name}: {marks[name]}\n" for name in names[:-1]))
    readme.write_text(f"before\n{marks['table2']}\n{marks['stability']}\nafter\n")
    write_documents(tmp_path / "none", tmp_path)
    assert "0 of 72 runs are in" in readme.read_text() and "old" not in readme.read_text() + page.read_text()
    write_run(tmp_path / "runs" / "a", seed=SEEDS[0], returns=(700.0,) * 40)
    write_documents(tmp_path / "runs", tmp_path)
    for text in (readme.read_text(), page.read_text()):
        assert "1 of 72 runs are in" in text and "**700.0 (1 seed)**" in text
    assert (
        f"| HalfCheetah | SAC | {', '.join(map(str, SEEDS[1:]))} | `optac reproduce table2"
        in page.read_text()
    )
    assert "![HalfCheetah: return against steps](../../results/table2/HalfCheetah-v0.png)" in page.read_text()
    assert (tmp_path / "runs" / "HalfCheetah-v0.png").is_file()
    text = readme.read_text()
    assert "![HalfCheetah: return against steps](results/table2/HalfCheetah-v0.png)" in text
    assert "No task has runs of both yet." in text
    assert text.startswith("before\n<!-- table2 -->\n") and text.endswith("<!-- /stability -->\nafter\n")
    assert "| HalfCheetah | 0 of 32 (1 run) | — | — |" in text
    readme.write_text("no marks")
    with pytest.raises(InvalidInput, match="has no place for table2"):
        write_documents(tmp_path / "runs", tmp_path)


def test_our_agents_are_held_against_our_own_sac(tmp_path: Path) -> None:
    def told(folder: Path, **last: tuple[float, ...]) -> list[str]:
        for agent, values in last.items():
            for seed, value in enumerate(values):
                name = agent.replace("_", "-")
                write_run(folder / f"{name}-{seed}", agent=name, seed=seed, returns=(value,) * 40)
        return against_sac_markdown(cells_of(folder)).split("| HalfCheetah ")[1:]

    # Means 233.3 and 110; s²/n = 11,433/3 and 100/3; 2.035 degrees of freedom, whose t is 4.24.
    sac = (100.0, 110.0, 120.0)
    features, bonus = told(tmp_path / "one", sac=sac, crffsac=(300.0, 290.0, 110.0), crffsac_bonus=(90.0,))
    assert features.startswith("| cRFFSAC | 123 [−139, 386], cannot tell | 2 of 3 |")
    assert bonus.startswith("| cRFFSAC + bonus | −10.00, 1 seed: too few to tell | 0 of 1 |")
    (features,) = told(tmp_path / "other", sac=sac, crffsac=(300.0, 290.0, 310.0))
    assert features.startswith("| cRFFSAC | 190 [167, 213], higher | 3 of 3 |")
    (features,) = told(tmp_path / "constant", sac=(100.0,) * 3, crffsac=(300.0,) * 3)
    assert features.startswith("| cRFFSAC | 200.0, no spread to tell by | 3 of 3 |")


def test_curves_are_of_runs_that_have_ended_with_a_band_from_three_seeds(tmp_path: Path, monkeypatch) -> None:
    for seed in range(3):
        write_run(tmp_path / f"sac-{seed}", seed=seed, returns=(float(seed),) * 40)
    write_run(tmp_path / "sac-3", seed=3, returns=(9.0,) * 39, steps=200_000)
    write_run(tmp_path / "crffsac", agent="crffsac", returns=(9.0,) * 40)
    drawn = []
    monkeypatch.setattr("scripts.table2.panel_figure", lambda panel, path, _: drawn.append(panel) or path)
    figures = draw_curves(
        [cell.group for line in cells_of(tmp_path) for cell in line if cell.group], tmp_path
    )
    assert figures == {"optac/HalfCheetah-v0": tmp_path / "HalfCheetah-v0.png"}
    sac, features = drawn[0].series
    assert list(sac.threads) == [0, 1, 2] and sac.band.low is not None and sac.band.estimate[0] == 1.0
    assert list(features.threads) == [0] and features.band.low is None


def test_the_table_on_the_terminal_names_what_fills_it(tmp_path: Path, capsys) -> None:
    assert write_page(tmp_path) is None
    write_run(tmp_path / "a", returns=(7.0,) * 40)
    show(tmp_path)
    shown = capsys.readouterr().out
    assert "7.000 (1 seed)" in shown and "optac reproduce table2 --environments optac/Ant-v0" in shown
    assert len([line for line in shown.splitlines() if "missing" in line]) == 18
    written = write_page(tmp_path)
    assert written is not None and "Table 2" in written.page.read_text()
    assert len(gather([tmp_path]).training) == 1, "the page among the runs is no run"
