"""Opt-AC where only observations are seen: it opens locks by supervised learning and policy evaluation."""

import numpy as np
import pytest

from optac import make_problem, solve
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.elliptical import TABLES_ONLY
from optac.errors import InvalidInput

LOCK = {"horizon": 4, "actions": 6, "distractors": 2}
EPISODES = 480


@pytest.fixture(scope="module")
def opened():
    return solve(make_problem("rich-lock", **LOCK), episodes=EPISODES)


def test_opens_a_lock_behind_distractors(opened):
    assert opened.last_gap <= 0.05
    assert opened.bill.PP == opened.bill.CP == 0
    assert opened.iterations == opened.bill.PE


def test_without_the_bonus_it_does_not():
    problem = make_problem("rich-lock", **LOCK)
    assert solve(problem, episodes=EPISODES, alpha=0.0).last_gap > 0.5


def test_rep_ucb_opens_it_through_the_same_class_and_handle_by_planning():
    problem = make_problem("rich-lock", horizon=3, actions=4)
    result = solve(problem, "rep-ucb", episodes=200)
    assert result.last_gap <= 0.05
    assert result.bill.PE == 0 and result.iterations == result.bill.PP
    assert result.settings.alpha == result.settings.lam == 1.0


def test_a_rerun_is_bit_equal():
    problem = make_problem("rich-lock", horizon=3, actions=3)
    one, two = (solve(problem, episodes=60, seed=2) for _ in range(2))
    assert np.array_equal(one.last_policy.table, two.last_policy.table)
    assert [row["last_gap"] for row in one.history] == [row["last_gap"] for row in two.history]


def test_a_round_plays_the_roll_ins_and_half_as_many_of_the_policy(opened):
    assert opened.episodes == opened.iterations * 6
    with pytest.raises(InvalidInput, match="one round, which plays 6"):
        solve(make_problem("rich-lock", **LOCK), episodes=5)


@pytest.mark.parametrize("algorithm", ["ucbvi", "flambe", "raffle"])
def test_algorithms_on_tables_refuse_observations(algorithm):
    with pytest.raises(InvalidInput, match="observations only"):
        solve(make_problem("rich-lock"), algorithm, episodes=60)


@pytest.mark.parametrize("algorithm", ["opt-ac", "rep-ucb"])
@pytest.mark.parametrize("name", TABLES_ONLY)
def test_settings_of_tables_are_refused_where_nothing_reads_them(algorithm, name):
    usual = getattr(prepare(make_problem("rich-lock"), algorithm).settings, name)
    with pytest.raises(InvalidInput, match=f"does not read {name}"):
        prepare(make_problem("rich-lock"), algorithm, **{name: usual})


@pytest.mark.parametrize("setting", [{"preset": "theory"}, {"pe": "regression"}])
def test_other_settings_run(setting):
    result = solve(make_problem("rich-lock", horizon=3, actions=3), episodes=40, **setting)
    assert np.isfinite(result.last_gap)
