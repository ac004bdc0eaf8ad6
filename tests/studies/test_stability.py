"""Falls counted by hand, and what is not one."""

from optac.studies.table2.stability import Stability, stability

CHEETAH, PENDULUM = "optac/HalfCheetah-v0", "optac/InvertedPendulum-v0"


def curve(*values: float) -> dict[int, float]:
    return {5_000 * (i + 1): value for i, value in enumerate(values)}


def test_a_fall_keeps_less_than_half_of_what_the_best_had_gained() -> None:
    # Random play has −279, so that half of 6,000's gain is 2,860.5: 2,870 is above it, 2,850 is below.
    held = curve(0.0, 1_000.0, 6_000.0, 2_870.0, 5_000.0)
    lost = curve(0.0, 1_000.0, 6_000.0, 2_850.0, 5_000.0)
    assert stability(CHEETAH, held) == Stability(runs=1, evaluations=4)
    assert stability(CHEETAH, lost) == Stability(runs=1, evaluations=4, falls=1)


def test_the_first_fifth_of_the_steps_is_not_counted_but_sets_the_best() -> None:
    values = [6_000.0, 0.0, *[6_000.0] * 8]
    assert stability(CHEETAH, curve(*values)) == Stability(runs=1, evaluations=8)
    values = [6_000.0, 6_000.0, 0.0, *[6_000.0] * 7]
    assert stability(CHEETAH, curve(*values)).falls == 1
    assert stability(CHEETAH, curve(6_000.0, *[2_000.0] * 4)).falls == 4


def test_the_pendulum_may_not_be_dropped_once_it_was_balanced() -> None:
    # −1.5 keeps nearly all of the gain over −216, and is a fall all the same.
    assert stability(PENDULUM, curve(-200.0, -0.05, -1.5, -0.9, -0.05)).falls == 1
    assert stability(PENDULUM, curve(-200.0, -0.2, -1.5, -0.9, -0.05)).falls == 0


def test_a_run_that_never_learnt_is_counted_apart() -> None:
    # A tenth of the way from −279 to 4,994 is 248.
    assert stability(CHEETAH, curve(-500.0, 200.0, -900.0)) == Stability(runs=1, unlearnt=1)
    assert stability(CHEETAH, curve(-500.0, 300.0, -900.0)) == Stability(runs=1, evaluations=3, falls=1)


def test_falls_add_up_over_runs() -> None:
    whole = (
        stability(CHEETAH, curve(*[1_000.0] * 5)) + stability(CHEETAH, curve(-500.0)) + Stability(1, 0, 8, 3)
    )
    assert whole.text == "3 of 12 (3 runs, 1 never learnt)"
    assert Stability().text == "—"
