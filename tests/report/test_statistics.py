"""The statistics against numbers worked out by hand, against rliable's, and against what must always hold."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.report import statistics
from optac.report.statistics import Interval, Summary

REFERENCE = json.loads((Path(__file__).parent / "reference" / "rliable.json").read_text())
FEW = 500
scores = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=6)


def test_mean_and_std_divide_by_one_less_than_the_seeds() -> None:
    found = statistics.summary([2.0, 4.0, 4.0, 6.0])
    assert (found.mean, found.seeds) == (4.0, 4) and found.std == pytest.approx((8 / 3) ** 0.5)
    assert statistics.summary([5.0]) == Summary(5.0, None, 1)


def test_interquartile_mean_drops_a_quarter_from_either_end() -> None:
    assert statistics.interquartile_mean(np.array([1.0, 100.0, 3.0, 5.0])) == 4.0
    two_tasks = np.array([1.0, 2.0]), np.array([-9.0, 3.0, 4.0, 5.0, 6.0, 99.0])
    assert statistics.interquartile_mean(*two_tasks) == 3.5
    assert statistics.interquartile_mean(np.array([1.0, 2.0, 6.0])) == 3.0, "a quarter of three is none"


def test_interval_of_three_seeds_is_that_of_all_27_resamples() -> None:
    """Of three seeds 0, 1, 5 the resampled means are 27 equally likely ones: 2.5 % and 97.5 % fall on the ends."""
    assert statistics.mean_interval([5.0, 0.0, 1.0]) == Interval(2.0, 0.0, 5.0)
    means = np.array([np.mean([a, b, c]) for a in (0, 1, 5) for b in (0, 1, 5) for c in (0, 1, 5)])
    assert np.mean(means <= 0) > 0.025 and np.mean(means >= 5) > 0.025


def test_interval_of_four_seeds_is_the_enumerated_one() -> None:
    values = [0.0, 1.0, 3.0, 10.0]
    grid = np.stack(np.meshgrid(*[values] * 4), axis=-1).reshape(-1, 4)
    low, high = np.quantile(grid.mean(axis=1), [0.025, 0.975])
    found = statistics.mean_interval(values)
    assert found is not None and found.estimate == 3.5
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.26), "one step of the resampled means"


def test_probability_of_improvement_counts_pairs_and_half_the_ties() -> None:
    a, b = [[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]], [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
    # First task: of nine pairs, 2 > 1 and 3 > 1 and 3 > 2 win, three tie: 4.5 / 9. Second task: all nine win.
    assert statistics.probability_of_improvement(a, b) == 0.75
    found = statistics.improvement_interval([[9.0, 9.0, 9.0]], [[0.0, 1.0, 2.0]])
    assert found == Interval(1.0, 1.0, 1.0)


def test_performance_profile_is_the_share_of_runs_above_each_threshold() -> None:
    profile = statistics.performance_profile([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [-1.0, 0.5, 1.0, 2.0])
    assert profile.estimate == pytest.approx((1.0, 5 / 6, 1 / 6, 0.0))
    assert profile.low is not None and profile.high is not None
    assert profile.low[0] == profile.high[0] == 1.0 and profile.low[3] == profile.high[3] == 0.0
    assert profile.low[1] < 5 / 6 < profile.high[1]


def test_learning_curve_keeps_the_steps_every_seed_has_evaluated() -> None:
    curves = [{10: 1.0, 20: 2.0, 30: 9.0}, {10: 3.0, 20: 2.0}, {10: 5.0, 20: 2.0, 30: 7.0}]
    band = statistics.learning_curve(curves)
    assert band.at == (10.0, 20.0) and band.estimate == (3.0, 2.0)
    assert band.low == (1.0, 2.0) and band.high == (5.0, 2.0)
    assert statistics.learning_curve([]).at == ()


def test_two_seeds_give_no_interval() -> None:
    two = [[1.0, 2.0], [3.0, 4.0, 5.0]]
    assert statistics.iqm_interval(two) is None
    assert statistics.mean_interval(two[0]) is None
    assert statistics.improvement_interval(two, two) is None
    assert statistics.performance_profile(two, [0.0]).low is None
    assert statistics.learning_curve([{1: 1.0}, {1: 2.0}]).low is None
    assert statistics.iqm_interval([]) is None


def test_welch_interval_is_the_worked_one() -> None:
    """The paper's HalfCheetah, cRFFSAC against SAC: 6152 ± 657 and 4994 ± 99, four seeds each.

    657²/4 = 107,912.25 and 99²/4 = 2,450.25, so the standard error is √110,362.5 = 332.21 and the degrees of freedom
    110,362.5² / (107,912.25²/3 + 2,450.25²/3) = 3.136, where Student's 97.5 % point is 3.107: ± 1,032.
    """
    found = statistics.difference(Summary(6152.0, 657.0, 4), Summary(4994.0, 99.0, 4))
    assert found.mean == 1158 and found.verdict == "higher"
    assert (found.interval.low, found.interval.high) == pytest.approx((126, 2190), abs=3)
    assert statistics.difference(Summary(4994.0, 99.0, 4), Summary(6152.0, 657.0, 4)).verdict == "lower"
    assert (
        statistics.difference(Summary(2701.0, 663.0, 4), Summary(2081.0, 465.0, 4)).verdict == "cannot tell"
    )


@pytest.mark.parametrize("other", [Summary(5.0, 1.0, 2), Summary(5.0, None, 1), Summary(5.0, None, 4)])
def test_too_few_seeds_or_an_unknown_spread_cannot_tell(other: Summary) -> None:
    found = statistics.difference(Summary(9.0, 0.1, 4), other)
    assert found.interval is None and found.verdict == "cannot tell"


def test_one_constant_side_leaves_the_others_t_interval_and_two_leave_none() -> None:
    """0.1 / √4 = 0.05 times Student's 97.5 % point of 3 degrees of freedom, 3.1824, is 0.159."""
    constant, spread = Summary(5.0, 0.0, 4), Summary(9.0, 0.1, 4)
    found = statistics.difference(spread, constant)
    assert (found.interval.low, found.interval.high) == pytest.approx((3.8409, 4.1591), abs=1e-4)
    assert statistics.difference(constant, spread).interval.high == pytest.approx(-3.8409, abs=1e-4)
    assert statistics.difference(constant, Summary(9.0, 0.0, 3)).interval is None


def test_interquartile_mean_and_its_interval_are_rliables() -> None:
    for name, samples in REFERENCE["scores"].items():
        found = statistics.iqm_interval(samples)
        estimate, low, high = REFERENCE["iqm"][name]
        assert found is not None and found.estimate == pytest.approx(estimate, abs=1e-12)
        # Both ends carry Monte-Carlo noise of their own.
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


def test_probability_of_improvement_is_rliables() -> None:
    found = statistics.improvement_interval(REFERENCE["scores"]["new"], REFERENCE["scores"]["old"])
    estimate, low, high = REFERENCE["probability_of_improvement"]
    assert found is not None and found.estimate == pytest.approx(estimate, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


def test_performance_profiles_are_rliables() -> None:
    for name, samples in REFERENCE["scores"].items():
        wanted = REFERENCE["profile"][name]
        found = statistics.performance_profile(samples, REFERENCE["thresholds"])
        assert found.estimate == pytest.approx(wanted["estimate"], abs=1e-12)
        assert found.low == pytest.approx(wanted["low"], abs=0.021), "one run in fifty is the least step"
        assert found.high == pytest.approx(wanted["high"], abs=0.021)


@given(tasks=st.lists(scores, min_size=1, max_size=3), seed=st.integers(0, 99))
def test_permuting_the_seeds_changes_nothing(tasks: list[list[float]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = [list(map(float, rng.permutation(task))) for task in tasks]
    assert statistics.iqm_interval(shuffled, resamples=FEW) == statistics.iqm_interval(tasks, resamples=FEW)
    assert statistics.summary(shuffled[0]) == statistics.summary(tasks[0])
    assert statistics.improvement_interval(shuffled, tasks, resamples=FEW) == statistics.improvement_interval(
        tasks, shuffled, resamples=FEW
    )
    marks = [-1.0, 0.0, 1.0]
    assert statistics.performance_profile(shuffled, marks, resamples=FEW) == statistics.performance_profile(
        tasks, marks, resamples=FEW
    )


@given(value=st.floats(-1e6, 1e6), seeds=st.integers(3, 6), tasks=st.integers(1, 3))
def test_a_constant_group_has_an_interval_of_no_width(value: float, seeds: int, tasks: int) -> None:
    found = statistics.iqm_interval([[value] * seeds] * tasks, resamples=FEW)
    assert found is not None and found.low == found.high == pytest.approx(value, rel=1e-12)
    profile = statistics.performance_profile([[value] * seeds] * tasks, [value - 1, value], resamples=FEW)
    assert profile.low == profile.high == profile.estimate


@given(a=st.lists(scores, min_size=1, max_size=2), b=scores)
def test_improvements_of_one_over_the_other_add_up_to_one(a: list[list[float]], b: list[float]) -> None:
    other = [b] * len(a)
    there, back = (statistics.probability_of_improvement(x, y) for x, y in ((a, other), (other, a)))
    assert there + back == pytest.approx(1.0)


@given(samples=st.lists(scores, min_size=1, max_size=3))
def test_the_interval_holds_the_ends_in_order_and_within_the_data(samples: list[list[float]]) -> None:
    found = statistics.iqm_interval(samples, resamples=FEW)
    flat = np.concatenate(samples)
    assert found is not None
    assert flat.min() - 1e-9 <= found.low <= found.high <= flat.max() + 1e-9
