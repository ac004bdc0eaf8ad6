"""What the bonus and the rank do: each claim fails once its mechanism is taken away."""

import numpy as np
import pytest

import optac
from optac.algorithms import opt_ac
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.elliptical import reward_range

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


@pytest.mark.parametrize(
    ("lock", "seed"),
    [
        pytest.param(lock, seed, marks=[pytest.mark.slow] if lock == "12 × 10" and seed else [])
        for lock in LOCKS
        for seed in range(5)
    ],
)
def test_without_the_bonus_no_lock_opens_in_five_times_the_episodes(lock: str, seed: int) -> None:
    problem, cap = LOCKS[lock]
    assert episodes_until_solved(problem, cap, seed, alpha=0.0) is None
    assert episodes_until_solved(problem, cap // 2, seed) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_without_the_bonus_the_lock_behind_ids_stays_shut(seed: int) -> None:
    """Ten steps seen through thirty ids, their latents learnt: 640 episodes at the median of these seeds, 610 to 890.

    Slow for the episodes without the bonus: a minute of CPU for the five seeds.
    """
    problem = optac.make_problem("observed-lock", horizon=10, actions=4, observations=10)
    assert episodes_until_solved(problem, 5 * 700, seed, alpha=0.0, **DECODER) is None
    assert episodes_until_solved(problem, 2 * 700, seed, **DECODER) is not None


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


def test_roll_ins_of_the_next_step_use_up_the_bonus_on_the_learnt_path() -> None:
    """The Gram matrix at h takes RI(·, h + 1), whose state at h is the policy's own: optimism there fades, to 0.21.

    From RI(·, h), one uniform action past the policy, one visit in six would be on the path, and 0.38 or more be left.
    """
    problem = optac.make_problem("combination-lock", horizon=4, actions=6)
    faithful = {"whole_trajectories": False, "alpha": 0.5, "lam": 0.25}
    for seed in range(2):
        result = optac.solve(problem, iterations=600, seed=seed, **faithful)
        assert result.last_gap < 1e-6 and 0.1 < result.history[-1]["optimistic_value"] - 1 < 0.3


def test_a_policy_moves_by_no_more_than_mirror_descent_lets_it() -> None:
    """KL(π⁽ᵏ⁺¹⁾‖π⁽ᵏ⁾) ≤ η² span²/8 at every state, span the critic's largest difference between actions there."""
    run = prepare(
        optac.make_problem("combination-lock", horizon=4, actions=5), "opt-ac", iterations=40, eta=0.3
    )
    state = opt_ac.init(run.settings, run.handle)
    moved = 0.0
    for _ in range(40):
        after, _ = opt_ac.step(run.settings, state, run.handle, run.rng)
        critic, _ = opt_ac.policy_evaluation(
            run.settings,
            after.model.settled(),
            state.policy,
            run.handle.rewards + reward_range(run.handle.rewards) * after.bonus,
            run.handle,
            run.rng,
        )
        span = np.ptp(critic.q_values, axis=-1)
        divergence = (after.policy * np.log(after.policy / state.policy)).sum(axis=-1)
        assert (divergence <= 0.3**2 * span**2 / 8 + 1e-12).all()
        moved = max(moved, float(divergence.max()))
        state = after
    assert moved > 1e-3
