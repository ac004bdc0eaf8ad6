"""The study of rank: censored runs, first hits and the floor in its tables; its own problems; its committed rows."""

import json
from pathlib import Path

import numpy as np
import pytest

from optac.mdp import make_problem
from optac.studies.rank import STUDY
from optac.studies.rank.cells import LEARNERS, OWN_PROBLEM, SEEDS, cells
from optac.studies.rank.pictures import floor
from optac.studies.rank.report import choice_table, part_table, ratio_table

ROOT = Path(__file__).parents[2]


def row(learner: str, states: int, last: int | None, first: int | None, seed: int = 0) -> dict:
    """A row of the part against S."""
    points = {
        name: at and {"episodes": at} for name, at in (("last", last), ("first", first), ("mixture", None))
    }
    return {"part": "S", "at": states, "learner": learner, "seed": seed, "cap": 20_000, **points}


def test_a_run_that_does_not_stay_solved_is_censored_and_its_first_hit_shown() -> None:
    rows = [row("ucbvi", 15, 220, 220), row("ucbvi", 60, None, 800), row("opt-ac, decoder", 60, 580, 580)]
    lines = part_table(rows, "S").splitlines()
    assert lines[0] == "|  | S = 15 | S = 60 |"
    assert "| ucbvi | 220 (n = 1) | >20,000 (0/1) |" in lines
    assert "| ucbvi: first hit | 220 (n = 1) | 800 (n = 1) |" in lines
    assert "| opt-ac, decoder | — | 580 (n = 1) |" in lines
    assert lines[-1] == "| floor of a learner without features | 46 | 184 |"


def test_all_seeds_that_the_study_asks_for_go_without_their_number() -> None:
    rows = [row("ucbvi", 15, 200 + seed, 200 + seed, seed) for seed in range(SEEDS["S"])]
    assert "| ucbvi | 204 [202–207] |" in part_table(rows, "S")


def test_ratios_are_of_the_seeds_that_both_have_and_of_the_better_table() -> None:
    """Seed 1 of the decoder is left out: no table has it. At S = 60 UCBVI is not done, so 600 of 20,000 is a bound."""
    rows = [
        row("opt-ac, decoder", 15, 100, 100),
        row("opt-ac, decoder", 15, 900, 900, seed=1),
        row("opt-ac, table", 15, 500, 500),
        row("opt-ac, table, ties", 15, 400, 400),
        row("opt-ac, decoder", 60, 600, 600),
        row("ucbvi", 60, None, None),
    ]
    lines = ratio_table(rows).splitlines()
    assert "| opt-ac, decoder / the better of the two tables | 0.25 | — |" in lines
    assert "| opt-ac, decoder / ucbvi | — | &lt;0.03 |" in lines


def test_alpha_is_judged_where_every_one_solves_and_by_the_gap_where_none_does() -> None:
    """Geometric means √(100·400) and √(50·200); "hard" is shut to both, and "odd" counts for neither."""

    def run(alpha: str, at: str, last: int | None, gap: float) -> dict:
        return row(alpha, 0, last, last) | {"part": "alpha", "at": at, "last_gap": gap}

    rows = [
        run("a", "x", 100, 0.0),
        run("a", "y", 400, 0.0),
        run("a", "hard", None, 0.02),
        run("a", "odd", 9, 0.0),
    ]
    rows += [
        run("b", "x", 50, 0.0),
        run("b", "y", 200, 0.0),
        run("b", "hard", None, 0.3),
        run("b", "odd", None, 0.1),
    ]
    lines = choice_table(rows).splitlines()
    assert lines[0] == "|  | episodes, geometric mean over 2 instances | last gap, hard |"
    assert lines[2:] == ["| a | 200 | 0.0200 |", "| b | 100 | 0.3000 |"]


def test_the_floor_is_where_an_id_is_unseen_once_in_a_hundred() -> None:
    """m = 50: two live rows of 50 ids, each met n times in 2n episodes at the least."""
    visits = floor(150) / 2
    assert (1 - 1 / 50) ** visits == pytest.approx(0.01, rel=0.1)


def test_report_is_written_from_a_part_of_the_rows(tmp_path: Path) -> None:
    rows = [row(name, states, 10 * states, 10 * states) for name in LEARNERS for states in (15, 60)]
    text = STUDY.write_report(rows, 300, tmp_path).read_text()
    assert "**22 of 300 runs are in" in text and "against S" in text and "|A|" not in text
    assert (tmp_path / "episodes-against-states.svg").stat().st_size > 10_000
    rows += [
        row("ucbvi", at, None if at == 8 else 500, 500) | {"part": part} for part in "dA" for at in (2, 8)
    ]
    text = STUDY.write_report(rows, 300, tmp_path).read_text()
    assert "(episodes-against-d-and-actions.png)" in text
    assert (tmp_path / "episodes-against-d-and-actions.svg").stat().st_size > 10_000


def test_own_problems_show_one_latent_a_state_and_pay_in_the_end() -> None:
    problem = make_problem(OWN_PROBLEM, states=50, actions=5, horizon=10, rank=3, seed=4)
    again = make_problem(OWN_PROBLEM, states=50, actions=5, horizon=10, rank=3, seed=4)
    assert (problem.phi == again.phi).all() and problem.shape == (10, 50, 5)
    assert len(np.unique(problem.phi.transpose(1, 0, 2, 3).reshape(50, -1), axis=0)) == 3
    assert (np.count_nonzero(problem.mu[0], axis=0) == 1).all()
    assert problem.optimal_value - problem.uniform_value > 0.3


def test_committed_rows_are_of_cells_that_there_are() -> None:
    there = {
        json.loads(line)["cell"] for line in (ROOT / "results/rank/metrics.jsonl").read_text().splitlines()
    }
    assert there <= {cell.id for cell in cells()} and len(there) > 50
