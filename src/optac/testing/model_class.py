"""The promises of every model class: fits at least as likely as the truth and as the fit before, and honest numbers.

The class is fitted to uniform play in a small problem of rank 2, which it must be able to describe. One that cannot is
checked on a problem of its own: `check(model_class, problem)`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from optac.algorithms.loop.run import prepare
from optac.mdp import LowRankMDP, make_problem, uniform_policy
from optac.mdp.sampling import Trajectories
from optac.models.data import add_transitions
from optac.models.low_rank import LowRankModel
from optac.oracles import ModelClass

SLACK = 1e-3
FLOOR = 1e-300
EPISODES = 3000


def is_as_likely_as_the_truth(model_class: Any, problem: LowRankMDP | None = None) -> None:
    """With data of a problem that it can describe, a fit is at least as likely as that problem, up to the slack.

    A search that may end in a local maximum has one nat for it.
    """
    problem = problem or _small_problem()
    chosen, counts = _class(model_class, problem), _counts(problem, EPISODES)
    fitted = _fit(chosen, problem, EPISODES).log_likelihood.sum()
    truth = _log_likelihood(problem.transitions, counts).sum()
    assert fitted >= truth - SLACK * problem.horizon - 1.0, (
        f"the fit has log-likelihood {fitted:.2f}; the truth has {truth:.2f}"
    )


def is_never_worse_after_a_fit(model_class: Any, problem: LowRankMDP | None = None) -> None:
    """Given the model before, the next fit is at least as likely on the new data, up to the slack."""
    problem = problem or _small_problem()
    chosen, previous = _class(model_class, problem), None
    for episodes in (10, 100, 300, 300):
        counts = _counts(problem, episodes)
        model = _fit(chosen, problem, episodes, previous)
        if previous is not None:
            before = _log_likelihood(previous.phi @ previous.mu[:, None], counts).sum()
            after = model.log_likelihood.sum()
            assert after >= before - SLACK * problem.horizon - 1e-6, (
                f"with {episodes} episodes a fit has log-likelihood {after:.4f}; the model before has {before:.4f}"
            )
        previous = model


def says_what_it_fits(model_class: Any, problem: LowRankMDP | None = None) -> None:
    """A model's transitions are distributions of the class's rank, and its log-likelihood is that of the data."""
    problem = problem or _small_problem()
    chosen, counts = _class(model_class, problem), _counts(problem, 50)
    model, again = (_fit(chosen, problem, 50) for _ in range(2))
    horizon, states, actions = problem.shape
    assert model.phi.shape == (horizon, states, actions, chosen.rank), f"phi has shape {model.phi.shape}"
    assert model.mu.shape == (horizon, chosen.rank, states), f"mu has shape {model.mu.shape}"
    assert model.free.shape == problem.shape, f"free has shape {model.free.shape}"
    assert (model.transitions >= -1e-9).all(), "a fitted transition is negative"
    np.testing.assert_allclose(model.transitions.sum(axis=-1), 1.0, atol=1e-6)
    np.testing.assert_allclose(model.log_likelihood, _log_likelihood(model.transitions, counts), rtol=1e-6)
    assert np.array_equal(model.phi, again.phi), "two fits with the same data and generator differ"


def has_a_size(model_class: Any, problem: LowRankMDP | None = None) -> None:
    """log |Θ| is a finite number, at least 0, and does not fall with the number of samples."""
    problem = problem or _small_problem()
    chosen = _class(model_class, problem)
    few, many = (chosen.log_size(*problem.shape, samples) for samples in (10, 10_000))
    assert 0 <= few <= many < np.inf, f"log_size is {few} for 10 samples and {many} for 10,000"
    assert chosen.rank >= 1, f"rank is {chosen.rank}"


MODEL_CLASS_CHECKS: tuple[Callable[..., None], ...] = (
    is_as_likely_as_the_truth,
    is_never_worse_after_a_fit,
    says_what_it_fits,
    has_a_size,
)


def _small_problem() -> LowRankMDP:
    problem: LowRankMDP = make_problem("random-simplex", states=5, actions=2, horizon=3, rank=2)
    return problem


def _class(model_class: Any, problem: LowRankMDP) -> ModelClass:
    """The class as `solve` would hand it to an algorithm."""
    return prepare(problem, "opt-ac", model_class=model_class).handle.model_class


def _fit(
    model_class: ModelClass, problem: LowRankMDP, episodes: int, previous: LowRankModel | None = None
) -> LowRankModel:
    """Of what the class's own memory keeps of uniform play."""
    data = model_class.empty_data(*problem.shape).add_steps(
        _played(problem, episodes), range(problem.horizon)
    )
    return model_class.fit(data.evidence, previous, slack=SLACK, rng=np.random.default_rng(1))


def _played(problem: LowRankMDP, episodes: int) -> Trajectories:
    policy = uniform_policy(*problem.shape)[None]
    member = np.zeros(episodes, dtype=np.int64)
    return problem.simulator.play(policy, np.random.default_rng(0), member=member)


def _counts(problem: LowRankMDP, episodes: int) -> np.ndarray:
    counts = np.zeros((*problem.shape, problem.states), dtype=np.int64)
    add_transitions(counts, _played(problem, episodes))
    return counts


def _log_likelihood(transitions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Σ N_h(s,a,s') log T_h(s'|s,a) of every step."""
    return np.asarray((counts * np.log(np.maximum(transitions, FLOOR))).sum(axis=(1, 2, 3)))
