"""What is legal but unusual is answered rightly, and what is not is refused in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optac
from optac.errors import InvalidInput
from optac.mdp import MixturePolicy, RichProblem, TabularPolicy
from optac.models import FiniteClass
from optac.models.simplex import SimplexClass
from optac.models.transition_counts import TransitionCounts

LOCK = optac.make_problem("combination-lock", horizon=4, actions=2)


@pytest.mark.parametrize(
    ("algorithm", "settings", "said"),
    [
        ("epsilon-greedy", {"epsilon": 5}, "epsilon=5"),
        ("spanrl", {"nudge": 0}, "nudge=0"),
        ("spanrl", {"max_rounds": 0}, "max_rounds=0"),
        ("moffle", {"max_rounds": 0}, "max_rounds=0"),
        ("opt-ac", {"rho": [[1], [1, 2]]}, "rho must be numbers"),
        (
            "rep-ucb",
            {"model_class": "three steps"},
            "candidate 0 has 3 steps of phi and 3 of mu; the problem has 4",
        ),
    ],
)
def test_what_no_algorithm_can_work_with_is_refused(
    algorithm: str, settings: dict[str, Any], said: str
) -> None:
    if settings.get("model_class"):
        shorter = optac.make_problem("combination-lock", horizon=3, actions=2)
        settings = {"model_class": FiniteClass([(shorter.phi, shorter.mu)])}
    with pytest.raises(InvalidInput, match=said):
        optac.solve(LOCK, algorithm, iterations=2, **settings)


def test_a_map_that_gymnasium_has_not_is_bad_input() -> None:
    with pytest.raises(InvalidInput, match="Gymnasium cannot make 'FrozenLake-v1': KeyError: '9x9'"):
        optac.from_gymnasium("FrozenLake-v1", horizon=5, map_name="9x9")


def test_ucbvi_tries_nothing_whose_worth_is_known() -> None:
    """With one step the rewards are all there is: after a round the best action is known, tried or not."""
    rewards = np.zeros((1, 1, 50))
    rewards[0, 0, 31] = 1.0
    problem = optac.LowRankMDP(np.ones((1, 1, 50, 1)), np.ones((1, 1, 1)), rewards)
    assert optac.solve(problem, "ucbvi", iterations=1, seed=0).last_gap == 0.0


def test_the_last_row_of_a_long_run_is_its_last_iteration() -> None:
    """Rows come in batches of 16, and of 2,032 every third is kept: the last ends a batch and is no third."""
    problem, reported = optac.make_problem("combination-lock", horizon=1, actions=2), []
    result = optac.solve(problem, "ucbvi", iterations=2032, progress=reported.append)
    assert result.iterations == result.history[-1]["iteration"] == reported[-1]["iteration"] == 2032
    assert result.history[-1]["bill"] == result.bill.asdict() and len(result.history) == 678


def test_a_reward_free_run_has_a_thousand_rows_and_its_last() -> None:
    reported: list[dict[str, Any]] = []
    result = optac.solve(LOCK, "raffle", iterations=1101, progress=reported.append)
    assert [row["iteration"] for row in result.history] == [*range(2, 1101, 2), 1101]
    assert [row["gap"] is None for row in result.history] == [True] * 550 + [False]
    assert reported == result.history and reported[-1]["bill"] == result.bill.asdict()


class Watchful(SimplexClass):
    """A class that reads what its own memory promises."""

    def fit(self, evidence: Any, previous: Any, **how: Any) -> Any:
        assert isinstance(evidence, TransitionCounts) and evidence.visits.sum() == evidence.total
        return super().fit(evidence, previous, **how)


@pytest.mark.parametrize("whole", [True, False])
def test_flambe_fits_what_the_class_keeps(whole: bool) -> None:
    found = [
        optac.solve(LOCK, "flambe", iterations=2, episodes=120, model_class=chosen, whole_trajectories=whole)
        for chosen in (Watchful(LOCK.rank), SimplexClass(LOCK.rank))
    ]
    assert found[0].bill == found[1].bill and found[0].episodes == 120


@pytest.mark.parametrize(("algorithm", "horizon"), [("moffle", 5), ("spanrl", 5), ("moffle", 3)])
def test_a_plan_costs_h_wherever_it_is_made(algorithm: str, horizon: int) -> None:
    problem = optac.make_problem("combination-lock", horizon=horizon, actions=2)
    bill = optac.solve(problem, algorithm, episodes=2000, candidates=4).bill
    fits_of_rounds = bill.CP * (1 + 4**2)
    assert bill.PP > 0 and fits_of_rounds + horizon * bill.PP == bill.SL


@pytest.fixture(scope="module")
def rich() -> RichProblem:
    return optac.make_problem("rich-lock", horizon=2, actions=2)


def test_a_table_over_latents_is_a_policy_of_a_rich_problem_only_if_it_is_one(rich: RichProblem) -> None:
    with pytest.raises(InvalidInput, match="not a distribution over actions"):
        rich.value(np.ones(rich.shape))
    first = np.zeros(rich.shape[:2], dtype=int)
    table = np.eye(rich.actions)[first]
    values = [rich.value(one) for one in (first, table, TabularPolicy(table), MixturePolicy([table, table]))]
    assert values == [values[0]] * 4 and rich.value(rich.optimal_policy) == pytest.approx(rich.optimal_value)


def test_the_occupancy_of_a_policy_that_reads_observations_is_that_of_its_means(rich: RichProblem) -> None:
    result = optac.solve(rich, "opt-ac", iterations=3)
    reached = rich.occupancy(result.last_policy)
    assert np.allclose(reached, rich.occupancy(rich.on_latents(result.last_policy)))
    assert np.allclose(reached.sum(axis=-1), 1.0)
    paid = np.einsum("hs,hsa,hsa->", reached, rich.on_latents(result.last_policy), rich.rewards)
    assert paid == pytest.approx(rich.value(result.last_policy))


def test_observations_without_noise_can_be_learnt_from(tmp_path: Path) -> None:
    problem = optac.make_problem("rich-sea", size=2, noise=0)
    assert optac.solve(problem, "opt-ac", iterations=30).episodes > 0
