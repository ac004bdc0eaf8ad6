"""Gaussian emissions by EM: the number of clusters, and that clusters are not latents."""

import numpy as np
import pytest

from optac import make_problem, solve
from optac.models.rich.gaussian_class import GaussianClass, fitted


@pytest.mark.parametrize("clusters", [1, 3])
def test_as_many_latents_as_there_are_clusters(clusters):
    """A start in every latent of rich-lock, or in the dead one alone; the rows of a first step have no context."""
    problem = make_problem("rich-lock", horizon=1, actions=2)
    data = GaussianClass(problem.dim).empty_data(1, 3, 2)
    latents = np.arange(400) % clusters if clusters > 1 else np.full(400, 2)
    data.observations[0, :400] = problem.emission.draw(0, latents, np.random.default_rng(0))
    data.episodes = 400
    model = GaussianClass(problem.dim).fit(data, None, slack=0.0, rng=np.random.default_rng(0))
    assert model.decoders.used.tolist() == [clusters]
    confusion = problem.confusion(model.decoders)[0]
    assert len(set(confusion.argmax(axis=1))) == clusters
    assert confusion.max(axis=1)[latents].min() > 0.99


def test_the_likelihood_is_that_of_a_density():
    """One cluster of unit variance in the plane, hardly any smoothing: the entropy of the Gaussian, by hand."""
    rows = np.random.default_rng(1).normal(size=(20_000, 2))
    mixture = fitted(rows, np.zeros(20_000, dtype=np.int64), np.ones((20_000, 1)))
    constant = -np.log(2 * np.pi)  # of D = 2; the class leaves it out
    assert constant + mixture.log_likelihood / 20_000 == pytest.approx(-(1 + np.log(2 * np.pi)), abs=0.02)


def test_it_opens_a_lock_but_not_behind_distractors():
    """The density-free class opens the same lock with distractors in as many episodes (`test_opt_ac_rich`)."""
    for distractors, solved in ((0, True), (2, False)):
        problem = make_problem("rich-lock", horizon=4, actions=6, distractors=distractors)
        result = solve(problem, episodes=600, model_class="gaussian", keep_members=False)
        assert (result.last_gap <= 0.05) == solved
    assert result.last_gap > 0.5
    confusion = problem.confusion(result.model.decoders)
    apart = np.abs(confusion[1, 0] - confusion[1, 1]).sum() / 2
    assert apart < 0.5  # the two live latents look alike: what was found are the distractors' values
