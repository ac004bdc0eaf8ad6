"""`optac reproduce`: cells as data, goes on after a time limit, says what is missing; the oracles' hierarchy itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from optac.cli import main
from optac.errors import InvalidInput
from optac.mdp import make_problem
from optac.report.statistics import log_slope, slope_interval
from optac.studies.catalogue import studies, study_named
from optac.studies.oracles import cells as oracle_hierarchy
from optac.studies.scaling import cells as scaling
from optac.studies.scaling import lower_bound
from optac.studies.study import Study
from optac.studies.table1 import cells as table1
from optac.sweeps import cells as small_runs
from optac.sweeps.measuring import measured

CELL_STUDIES = [name for name, study in studies().items() if isinstance(study, Study)]


@pytest.mark.parametrize("name", CELL_STUDIES)
def test_cells_have_ids_of_their_own_and_plain_arguments(name) -> None:
    cells = study_named(name).cells()
    assert len({cell.id for cell in cells}) == len(cells) > 50
    assert json.loads(json.dumps([dict(cell.arguments) for cell in cells])) == [
        dict(cell.arguments) for cell in cells
    ]
    with pytest.raises(InvalidInput, match="unknown study 'tabel1'; known, nearest first: table1"):
        study_named("tabel1")


def test_table1_has_fewer_seeds_of_the_dear_ones() -> None:
    counts: dict[str, int] = {}
    for cell in table1.cells():
        counts[cell.arguments["variant"]] = counts.get(cell.arguments["variant"], 0) + 1
    dear = ("moffle", "spanrl")
    assert counts == {
        name: 3 * (table1.DEAR_SEEDS if name in dear else table1.SEEDS) for name in table1.VARIANTS
    }


def test_the_lower_bounds_order_at_the_base_point() -> None:
    assert scaling.hard_size(scaling.HARD_POINTS["base"]) == pytest.approx(2 * 6 * 3 / 0.2**2)


def test_lower_bound_ladder_is_read_at_fixed_budgets(monkeypatch) -> None:
    """Hd|A|/ε² = 900 at the base point: N = 28 and 225, in rounds of H = 2 episodes, or a run a rung."""
    monkeypatch.setattr(scaling, "HARD_LADDER", (1 / 32, 1 / 4))
    anytime = scaling.measure_hard("base", "ucbvi", 0)
    assert [rung["episodes"] for rung in anytime["rungs"]] == [28, 224] and anytime["within"] == 0.1
    whole = measured(make_problem("lower-bound", seed=0), "ucbvi", seed=0, episodes=225, epsilon=0.1)
    assert anytime["rungs"][-1]["last_gap"] == whole["curve"]["last_gap"][-1]
    committed = scaling.measure_hard("base", "moffle", 0)
    assert [rung["c"] for rung in committed["rungs"]] == [1 / 4]
    assert "η_min" in scaling.measure_hard("H×3", "moffle", 0)["refused"]


def test_lower_bound_counts_from_the_rung_on_that_finds_three_secrets_in_four() -> None:
    """Gaps of four secrets at c = ¼, ½, 1, 2; a lucky early success does not count, a missing rung is a failure."""

    def run(*gaps):
        rungs = [{"c": c, "last_gap": gap} for c, gap in zip((0.25, 0.5, 1.0, 2.0), gaps, strict=True)]
        return {"within": 0.1, "rungs": [rung for rung in rungs if rung["last_gap"] is not None]}

    runs = [run(0, 0.3, 0, 0), run(0, 0.3, 0.1, 0), run(0, 0, 0, 0.3), run(None, 0, 0.2, 0)]
    assert lower_bound.needed_interval([run(None, 0, 0, 0)], "last_gap") == (0.5, 0.5, 0.5)
    assert lower_bound.needed_interval([run(0, 0, 0, 0.3)], "last_gap")[1] == np.inf
    low, middle, high = lower_bound.needed_interval(runs, "last_gap")
    assert low <= middle == 1.0 <= high


def test_a_study_stops_at_its_time_and_goes_on(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(oracle_hierarchy, "HORIZONS", (3, 4))
    monkeypatch.setattr(oracle_hierarchy, "SEEDS", 1)
    monkeypatch.setattr(oracle_hierarchy, "PAIRS", 20)
    monkeypatch.setattr(oracle_hierarchy, "DIMENSIONS", (1, 2, 3))
    oracles = study_named("oracles")
    assert oracles.reproduce(tmp_path / "out", minutes=0) == []
    assert len(oracles.cells()) == len(oracles.missing(tmp_path / "out")) == 11
    status = json.loads((tmp_path / "out" / "status.json").read_text())
    assert status["state"] == "interrupted" and "0 of 11" in status["why"]
    assert main(["reproduce", "oracles", "--jobs", "1", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert oracles.missing(tmp_path / "out") == []
    assert "All 11 runs are in." in report and (tmp_path / "out" / "oracles.svg").exists()


def test_what_two_workers_have_begun_when_time_is_up_is_kept_and_nothing_else_is_begun(
    tmp_path, monkeypatch
) -> None:
    chosen = [one for one in study_named("oracles").cells() if one.id.startswith("growth")][:6]
    asked = []
    monkeypatch.setattr(small_runs, "_is_past", lambda deadline: asked.append(deadline) or len(asked) > 2)
    rows = small_runs.run_study(tmp_path / "out", {"study": "oracles"}, chosen, jobs=2, minutes=60)
    assert {row["cell"] for row in rows} == {one.id for one in chosen[:2]}
    monkeypatch.undo()
    again = small_runs.run_study(tmp_path / "out", {"study": "oracles"}, chosen, jobs=2)
    assert [row["cell"] for row in again] == [one.id for one in chosen] and again[:2] == rows


@pytest.mark.parametrize("name", CELL_STUDIES)
def test_nothing_of_the_committed_studies_is_to_be_run_again(name, monkeypatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert study_named(name).missing() == []


@pytest.mark.parametrize("name", CELL_STUDIES)
def test_report_of_nothing_says_everything_is_missing(tmp_path, name) -> None:
    report = study_named(name).write_report([], 100, tmp_path)
    text = report.read_text()
    assert f"**0 of 100 runs are in; the rest is missing.** `optac reproduce {name}`" in text


def committed(name, *cells):
    """Some rows of a committed study."""
    file = Path(__file__).parents[2] / "results" / name / "metrics.jsonl"
    rows = [row for row in map(json.loads, file.read_text().splitlines()) if row["cell"] in cells]
    assert len(rows) == len(cells)
    return rows


CHEAP = {
    "table1": [
        f"combination-lock {name} s0" for name in ("opt-ac", "rep-ucb", "flambe", "lsvi-ucb", "ucbvi")
    ],
    "scaling": ["A=2 opt-ac s0", "d=2 rep-ucb s0", "H=5 raffle s1", "lower-bound base ucbvi s0"],
    "opt-ac": [
        "solved practical opt-ac combination-lock horizon=6 actions=10 s0",
        "certificate practical opt-ac random-simplex states=10 actions=3 horizon=3 rank=3 seed=0 s0",
    ],
    "rank": [
        "S: 15, opt-ac, decoder s1",
        "S: 15, opt-ac, table s0",
        "S: 15, ucbvi s0",
    ],
    "ablations": ["lock 6 × 10, as it is s0", "deep-sea 10, ties s0"],
}


@pytest.mark.parametrize(("study", "name"), [(study, name) for study in CHEAP for name in CHEAP[study]])
def test_a_committed_row_is_what_its_cell_gives(study, name) -> None:
    """Episodes, bills and gaps: all but its times and the commit that made it."""
    (found,) = committed(study, name)
    (cell,) = (cell for cell in study_named(study).cells() if cell.id == name)
    assert as_it_is_now(found, json.loads(json.dumps(cell())))


def as_it_is_now(found, now) -> bool:
    """Numbers that count are the same, and others close to it."""
    if isinstance(found, dict):
        kept = [key for key in found if not key.startswith("time/") and key != "commit"]
        return set(kept) <= set(now) and all(as_it_is_now(found[key], now[key]) for key in kept)
    if isinstance(found, list):
        return len(found) == len(now) and all(map(as_it_is_now, found, now))
    return found == (pytest.approx(now) if isinstance(now, float) else now)


def test_reports_take_a_part_of_the_rows(tmp_path) -> None:
    rows = committed("table1", "combination-lock opt-ac s0", "combination-lock flambe s0")
    text = study_named("table1").write_report(rows, 420, tmp_path).read_text()
    assert r"| opt-ac | PE | ✓ | SL(ε²) | H⁵d³A² log\|Θ\|/ε² |" in text and "| flambe * | PP | ✗ |" in text
    assert "missing" in text and (tmp_path / "episodes.png").exists()
    points = ("A=2 opt-ac s0", "A=4 opt-ac s0", "lower-bound base ucbvi s0", "lower-bound H×3 moffle s0")
    rows = committed("scaling", *points)
    text = study_named("scaling").write_report(rows, 900, tmp_path).read_text()
    assert "refused (η_min = 0)" in text and "A = 4" in text


def test_pe_loss_is_zero_at_the_truth_and_convex_where_pp_is_not() -> None:
    row = oracle_hierarchy.convexity(horizon=4, seed=0)
    assert row["hessian_change"] < 1e-9 and row["smallest_eigenvalue"] > 0
    assert row["violations"]["PE"] == 0 and row["violations"]["PP"] > 0
    problem = oracle_hierarchy._problem(4, actions=3, seed=0)
    policy = np.full(problem.shape, 1 / 3)
    q_values = problem.q_values(policy)
    weights = np.stack(
        [problem.mu[h] @ (policy[h + 1] * q_values[h + 1]).sum(axis=-1) for h in range(3)]
    ).ravel()
    assert oracle_hierarchy.joint_loss(problem, weights, policy) == pytest.approx(0.0, abs=1e-20)


def test_constant_errors_add_up_and_stay_below_the_bounds() -> None:
    """An error of a in every stage but the last is (H − 1)a at the first step, for PE and for PP alike."""
    row = oracle_hierarchy.error_growth(horizon=6, actions=3, seed=0)
    assert row["growth"]["PE constant"] == pytest.approx(5.0)
    assert row["growth"]["PP constant"] == pytest.approx(5.0)
    assert row["growth"]["PE random"] <= row["bound"]["PE"] <= row["bound"]["PP"]


def test_covering_filters_every_model_of_the_grid() -> None:
    rows = [oracle_hierarchy.covering(d) for d in (1, 2, 3)]
    assert [row["filtered"] for row in rows] == [4, 16, 64]
    for row in rows:
        assert 1 <= row["passed"] <= row["filtered"] and row["SL"] == row["filtered"] + 2 * row["passed"]


def test_slope_of_a_power_law_is_its_exponent() -> None:
    x = [2.0, 4.0, 8.0, 16.0]
    assert log_slope(x, [3 * value**1.5 for value in x]) == pytest.approx(1.5)
    rng = np.random.default_rng(0)
    runs = np.array([[value**2 * noise for noise in rng.uniform(0.8, 1.25, 10)] for value in x])
    found = slope_interval(x, runs)
    assert found.low <= found.estimate <= found.high and found.low < 2.1 and found.high > 1.9
    runs[3] = np.inf
    assert slope_interval(x, runs) is None
