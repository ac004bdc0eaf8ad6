"""What the bonus and the rank do: each claim fails once its mechanism is taken away."""

import pytest

import optac
from optac.algorithms.loop.run import prepare

DECODER = {"model_class": "decoder"}


def episodes_until_solved(
    problem, cap: int, seed: int = 0, *, target: float = 0.05, **settings
) -> int | None:
    """The first episode after which the last policy's gap is at most the target; None if the cap comes first."""
    met: list[int] = []

    def until(row) -> bool:
        if row["last_gap"] <= target:
            met.append(row["episodes"])
        return bool(met)

    prepare(problem, "opt-ac", episodes=cap, seed=seed, keep_members=False, **settings)(until)
    return met[0] if met else None


LOCKS = {
    "6 × 10": (optac.make_problem("combination-lock", horizon=6, actions=10), 5 * 576),
    "12 × 10": (optac.make_problem("combination-lock", horizon=12, actions=10), 5 * 1428),
}


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("seed", range(5))
def test_without_the_bonus_no_lock_opens_in_five_times_the_episodes(lock: str, seed: int) -> None:
    problem, cap = LOCKS[lock]
    assert episodes_until_solved(problem, cap, seed, alpha=0.0) is None
    assert episodes_until_solved(problem, cap // 2, seed) is not None


def test_a_table_needs_twice_the_episodes_of_three_latents() -> None:
    """Sixty ids, three latents: with rank S nothing is taken together."""
    problem = optac.make_problem("observed-lock", horizon=5, actions=4, observations=20)
    with_three = episodes_until_solved(problem, 2_000, **DECODER)
    assert with_three is not None
    assert episodes_until_solved(problem, 2 * with_three, **DECODER, rank=problem.states) is None


def test_ties_are_billed_where_they_enumerate() -> None:
    problem = optac.make_problem("combination-lock", horizon=3, actions=3)
    plain = optac.solve(problem, iterations=5, model_class="finite", candidates=8)
    ties = optac.solve(problem, iterations=5, model_class="finite", candidates=8, optimistic_ties=True)
    assert plain.bill.SL == 10 < ties.bill.SL
