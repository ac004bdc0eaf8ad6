"""The density-free class: contexts, the closed-form decoder, splits, mergers, and functions carried over."""

import numpy as np
import pytest

from optac import make_problem
from optac.models.rich import DecodedPolicy, Decoders, RichClass, step_fit
from optac.models.rich.contexts import Contexts, Family, indistinct_pair
from optac.models.rich.discriminant import (
    discriminant,
    expectation_maximisation,
    logits,
    precision,
    softmax,
)
from optac.models.rich.past import Past
from optac.models.rich.splits import best_split, loud_directions, telling_directions
from optac.models.rich.step_fit import MERGE, ROWS_PER_WIDE_DIRECTION, least_gains, whitening


def contexts(ids, size):
    return Contexts((Family(ids, 1, size),), Family(np.zeros_like(ids), 1, 1))


def test_left_one_out_by_hand():
    """Outcomes 0, 0, 1, 1, labels alike: each row is judged by one other row of its label and a pseudo-count of ½."""
    given = contexts(np.array([0, 0, 1, 1]), 2)
    own = (1 + 0.5) / (1 + 1)
    alone = (1 + 0.5) / (3 + 1)
    expected = 4 * np.log(own / alone)
    assert given.left_one_out(np.array([0, 0, 1, 1]), 2) == pytest.approx(expected, rel=1e-6)


def test_a_labelling_without_meaning_gains_nothing():
    rng = np.random.default_rng(0)
    given = contexts(rng.integers(10, size=400), 10)
    assert given.left_one_out(rng.integers(2, size=400), 2) < 0


def test_labels_with_the_same_contexts_are_one():
    rng = np.random.default_rng(1)
    labels = rng.integers(3, size=600)
    outcome = np.where(labels == 2, rng.integers(2, size=600), rng.integers(2, 4, size=600))
    least = np.full((3, 3), 3.0)
    assert indistinct_pair(contexts(outcome, 4), labels, 3, least, [np.zeros((3, 4))]) == (0, 1)
    assert indistinct_pair(contexts(labels, 3), labels, 3, least, [np.zeros((3, 3))]) is None


def test_latents_that_a_settled_policy_treats_each_in_its_own_way_stay_two():
    """Action 0 in latent 0 and action 1 in latent 1 both pay, and nothing else is tried any more."""
    labels = np.repeat([0, 1], 500)
    given = Contexts((Family(2 * labels + 1, 2, 2),), Family(np.ones(1000, dtype=np.int64), 1, 2))
    least = np.full((2, 2), MERGE)
    assert indistinct_pair(given, labels, 2, least, [np.zeros((2, 4))]) == (0, 1)
    data = RichClass(2, rank=2).empty_data(1, 0, 2)
    data.reward_values = np.array([0.0, 1.0])
    for z, a in ((0, 1), (1, 0)):  # ten wrong actions each, long ago
        data.past.add(np.ones((1, 10, 2)) / 2, *(np.full((1, 10), value) for value in (z, a, 0)))
    data.episodes = 1000
    data.labels[0, :1000] = labels
    past = data.past_counts(0, labels, np.array([2]), 2)
    assert past[0].tolist() == [[0, 0, 10, 0], [10, 0, 0, 0]]
    assert indistinct_pair(given, labels, 2, least, past) is None
    # The merger of a fit asks for it: without the past it makes the two one.
    observations = np.where(labels, 1.0, -1.0)[:, None] + np.random.default_rng(0).normal(0.0, 0.1, (1000, 2))
    data.observations[0, :1000] = observations
    data.actions[0, :1000], data.reward_ids[0, :1000] = labels, 1
    mean, whiten, _ = whitening(observations, labels)
    features, rows = (observations - mean) @ whiten, np.arange(1000)
    weights = discriminant(features, np.eye(2)[labels], precision(features))
    merged = [0, np.array([2]), features, weights, (mean, whiten), rows]
    assert step_fit._merged(data, *merged).shape[1] == 2
    data.past.paid[:] = 0
    assert step_fit._merged(data, *merged).shape[1] == 1
    data.past.paid[0] = [[[0, 0], [10, 0]], [[10, 0], [0, 0]]] @ np.eye(2, data.past.paid.shape[-1])
    # Under exchanged labels the past is exchanged as well.
    assert data.past_counts(0, 1 - labels, np.array([2]), 2)[0].tolist() == past[0][::-1].tolist()


def test_a_latent_that_noise_cut_in_two_is_made_one_again_and_two_groups_stay_two():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(800, 64))
    group = rng.integers(2, size=800)
    grouped = noise + 10 * group[:, None] * np.eye(64)[0]
    outcome = rng.integers(20, size=800)
    for features, ids in ((noise, outcome), (grouped, np.where(rng.random(800) < 0.2, group, outcome))):
        given = contexts(ids, 20)
        directions, _ = telling_directions(features, given)
        weights, _, gain = expectation_maximisation(
            features, given, np.eye(2)[(features @ directions[:, 0] > 0).astype(int)], precision(features)
        )
        shares = softmax(logits(features, weights))
        labels, least = shares.argmax(axis=1), least_gains(shares, 64)
        # On the rows that it was fitted to, noise gains as well: the old bar alone would keep both.
        assert gain > MERGE
        none = [np.zeros((2, 20))]
        assert indistinct_pair(given, labels, 2, np.full((2, 2), MERGE), none) is None
        assert indistinct_pair(given, labels, 2, least, none) == ((0, 1) if features is noise else None)


def test_discriminant_separates_under_loud_noise():
    rng = np.random.default_rng(2)
    labels = rng.integers(2, size=500)
    features = rng.normal(size=(500, 10)) * np.r_[np.full(9, 5.0), 0.1]
    features[:, 9] += labels
    weights = discriminant(features, np.eye(2)[labels], precision(features))
    assert (logits(features, weights).argmax(axis=1) == labels).mean() > 0.99


def test_the_discriminant_is_that_of_the_scatter_within():
    rng = np.random.default_rng(3)
    features, labels = rng.normal(size=(60, 7)), rng.dirichlet(np.ones(3), size=60)
    labels *= rng.uniform(0.5, 2.0, size=(60, 1))
    sizes, means = labels.sum(axis=0), labels.T @ features / labels.sum(axis=0)[:, None]
    within = sum(
        weight * np.outer(x - m, x - m)
        for x, row in zip(features, labels, strict=True)
        for m, weight in zip(means, row, strict=True)
    )
    expected = np.linalg.solve((within + 7 * np.eye(7)) / (sizes.sum() + 7), means.T)
    weights = discriminant(features, labels, precision(features, labels.sum(axis=1)))
    np.testing.assert_allclose(weights[:-1], expected, rtol=1e-6)
    np.testing.assert_allclose(weights[-1], -0.5 * np.einsum("zd,dz->z", means, expected), rtol=1e-6)


def test_a_fit_of_few_rows_in_many_dimensions_sees_what_is_loud_and_no_more():
    """Two groups in 512 dimensions of noise, whose contexts tell them apart: 200 rows are enough for a split."""
    rng = np.random.default_rng(4)
    group = np.arange(200) < 30
    observations = rng.normal(0.0, 0.1, (200, 512)) + group[:, None] * np.eye(512)[0]
    before = np.where(group, 9, rng.integers(9, size=200))
    _, whiten, spread = whitening(observations, np.zeros(200, dtype=np.int64))
    assert whiten.shape == (512, 200 // ROWS_PER_WIDE_DIRECTION)
    features = (observations - observations.mean(axis=0)) @ whiten
    found = best_split(
        features, contexts(before, 10), loud_directions(features, spread), rng, accept=6.0, gate=1.0
    )
    assert found.weights is not None
    child = logits(features, found.weights).argmax(axis=1)
    assert (child == child[0]).tolist() == group.tolist()


def test_a_fit_of_few_rows_keeps_the_directions_in_which_its_latents_differ():
    """Within the right labels a latent's own direction is as quiet as any of the 512, and would be lost."""
    rng = np.random.default_rng(5)
    labels = rng.integers(3, size=300)
    observations = rng.normal(0.0, 0.1, (300, 512)) + np.eye(512)[labels]
    mean, whiten, _ = whitening(observations, labels)
    features = (observations - mean) @ whiten
    centres = np.stack([features[labels == z].mean(axis=0) for z in range(3)])
    nearest = ((features[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
    assert nearest.tolist() == labels.tolist()
    assert min(np.linalg.norm(centres[i] - centres[j]) for i, j in ((0, 1), (0, 2), (1, 2))) > 8


def rare_rows(rng, tied):
    """1,000 rows in four loud clusters; 12 of them differ in one quiet coordinate, and in context where `tied`."""
    rows, rare = 1000, np.arange(12)
    features = rng.normal(0.0, 0.1, (rows, 12))
    features[np.arange(rows), rng.integers(4, size=rows)] += 2.0
    features[rare, 8] += 1.0
    before = rng.integers(10, size=rows)
    if tied:
        before[rare] = 10
        before[12:18] = 10
    return features, contexts(before, 11), rare


def test_a_split_finds_what_contexts_tell_and_not_what_is_loud():
    rng = np.random.default_rng(3)
    features, given, rare = rare_rows(rng, tied=True)
    found = best_split(features, given, np.zeros((12, 0)), rng, accept=6.0, gate=1.0)
    assert found.weights is not None
    child = logits(features, found.weights).argmax(axis=1)
    assert np.flatnonzero(child == child[0]).tolist() == rare.tolist()


def test_no_split_where_contexts_tell_nothing():
    rng = np.random.default_rng(4)
    for _ in range(5):
        features, given, _ = rare_rows(rng, tied=False)
        loud = np.eye(12)[:, :2]
        assert best_split(features, given, loud, rng, accept=6.0, gate=0.0).weights is None


@pytest.fixture(scope="module")
def fitted():
    """A class fitted to uniform play of a short lock with distractors, batch by batch."""
    problem = make_problem("rich-lock", horizon=3, actions=3, distractors=2)
    model_class = RichClass(problem.dim, rank=6)
    data = model_class.empty_data(3, 0, 3)
    rng, model, models = np.random.default_rng(0), None, []
    policy = DecodedPolicy(Decoders.first(3, problem.dim, 6), np.full((3, 6, 3), 1 / 3))
    for _ in range(12):
        played = problem.simulator.play(policy, rng, uniform=np.zeros((3, 50), dtype=bool))
        data = data.add_roll_ins(played, whole_trajectories=True)
        model = model_class.fit(data, model, slack=0.0, rng=rng)
        models.append(model)
    return problem, data, models


def test_decoders_never_take_the_dead_row_for_a_live_one(fitted):
    """A latent may have two labels, and two that act alike one; dead and live share none."""
    problem, _, models = fitted
    for h in (1, 2):
        first, second, dead = (
            set(models[-1].decoders.decode(h, problem.held_out[h, z]).argmax(axis=1)) for z in range(3)
        )
        assert not dead & (first | second)


def test_tables_are_distributions_and_rewards_are_learnt(fitted):
    problem, data, models = fitted
    model = models[-1]
    assert model.phi.sum(axis=-1) == pytest.approx(1.0)
    assert model.gram.trace(axis1=-2, axis2=-1).sum() <= data.rows * problem.horizon + 1e-6
    dead = models[-1].decoders.decode(2, problem.held_out[2, 2]).argmax(axis=1)
    assert model.rewards[2, np.unique(dead)] == pytest.approx(0.0)
    assert model.rewards[2].max() == pytest.approx(1.0, abs=0.15)


def test_a_function_is_carried_over_to_new_latents(fitted):
    """What is carried is the same function of observations, up to the regression's own residual."""
    _, data, models = fitted
    grew = [k for k in range(1, len(models)) if (models[k].decoders.used > models[k - 1].decoders.used).any()]
    assert grew
    table = np.random.default_rng(5).normal(size=(3, 6, 3))
    for k in grew:
        old, new = models[k - 1].decoders, models[k].decoders
        carried = models[k].carried(table)
        for h in range(3):
            seen = data.observations[h, : data.rows]
            before, after = old.decode(h, seen) @ table[h], new.decode(h, seen) @ carried[h]
            size = np.abs(before).max()
            assert np.sqrt(((before - after) ** 2).mean()) <= (0.02 + 2 * models[k].carry_error) * size


def test_the_buffer_is_bounded():
    problem = make_problem("rich-lock", horizon=2, actions=3)
    data = RichClass(problem.dim, capacity=40).empty_data(2, 0, 3)
    policy = DecodedPolicy(Decoders.first(2, problem.dim, 16), np.full((2, 16, 3), 1 / 3))
    for _ in range(5):
        played = problem.simulator.play(
            policy, np.random.default_rng(0), uniform=np.ones((2, 15), dtype=bool)
        )
        data.add_roll_ins(played, whole_trajectories=True)
        data.decode_new(policy.decoders)
    assert (data.rows, data.episodes, data.observations.shape[1]) == (40, 75, 40)
    # What left it still counts: a wrong action tried long ago is not new again.
    model = RichClass(problem.dim, capacity=40).fit(data, None, slack=0.0, rng=np.random.default_rng(1))
    np.testing.assert_allclose(model.gram.sum(axis=(1, 2, 3)), 75, rtol=1e-5)


def test_tables_of_the_past_move_with_the_labels():
    past = Past(horizon=2, actions=2, rank=3, rewards=2)
    one = np.eye(3)[[0, 0, 1, 1]]
    labels, actions = np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([[0, 1, 1, 1], [0, 0, 0, 1]])
    past.add(np.stack([one, np.eye(3)[labels[1]]]), labels, actions, np.array([[0, 0, 0, 1], [0, 0, 0, 0]]))
    assert past.following[0, 0].tolist() == [[1, 0, 0], [0, 1, 0]]
    tried = past.paid.sum(axis=-1)
    assert tried[0].tolist() == [[1, 1], [0, 2], [0, 0]] and past.paid[0, 1].tolist() == [[0, 0], [1, 1]]
    # Half of the buffer's rows of label 1 at step 1 became label 2; label 0 has no row there and stays.
    past.relabel(1, np.array([1, 1, 1, 1]), np.array([1, 2, 1, 2]))
    assert past.following[0, 0].tolist() == [[1, 0, 0], [0, 0.5, 0.5]]
    tried = past.paid.sum(axis=-1)
    assert tried[1].tolist() == [[1, 0], [1, 0.5], [1, 0.5]]
    assert past.gram[1, 0].tolist() == [[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]]
    assert tried[0].tolist() == [[1, 1], [0, 2], [0, 0]]
