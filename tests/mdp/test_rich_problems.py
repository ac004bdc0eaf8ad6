"""Problems with rich observations: their emissions, their exact values, their Gymnasium face."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from optac import make_problem
from optac.errors import InvalidInput
from optac.mdp.families.rich_lock import AMPLITUDE, VALUES
from optac.mdp.nearest_mean import NearestMean


class ReadsTheCode:
    """The optimal policy of a lock, for which the rotation is undone; with probability `slip` it plays uniformly."""

    def __init__(self, problem, slip=0.0):
        self.problem, self.slip = problem, slip

    def probabilities_at(self, h, observations):
        codes = observations @ self.problem.emission.rotation
        best = self.problem.optimal_policy[h][codes[:, :3].argmax(axis=1)]
        return (1 - self.slip) * best + self.slip / self.problem.actions


def test_latents_are_the_combination_lock():
    rich = make_problem("rich-lock", horizon=5, actions=4, seed=3)
    plain = make_problem("combination-lock", horizon=5, actions=4, seed=3)
    assert np.array_equal(rich.transitions, plain.transitions)
    assert np.array_equal(rich.rewards, plain.rewards)
    assert rich.initial.tolist() == [0.5, 0.5, 0.0]
    assert rich.optimal_value == pytest.approx(1.0)


def test_least_dimension_holds_every_code():
    assert [make_problem("rich-lock", horizon=h).dim for h in (6, 12, 25, 50, 100)] == [16, 16, 32, 64, 128]
    assert make_problem("rich-lock", horizon=12, distractors=4).dim == 32


@pytest.mark.parametrize("dim", [None, 64])
def test_emission_is_rotated_codes(dim):
    problem = make_problem("rich-lock", horizon=6, dim=dim, distractors=2)
    drawn = problem.emission.draw(4, np.full(4000, 1), np.random.default_rng(0))
    codes = drawn @ problem.emission.rotation / problem.dim
    expected = np.zeros(problem.dim)
    expected[[1, 3 + 4]] = 1.0
    expected[9 : 9 + 2 * VALUES] = AMPLITUDE / VALUES
    assert codes.mean(axis=0) == pytest.approx(expected, abs=0.08)
    noisy = problem.dim if dim else 9 + 2 * VALUES
    assert codes.std(axis=0)[:3] == pytest.approx(0.1, abs=0.01)
    assert codes.std(axis=0)[noisy:] == pytest.approx(0.0, abs=1e-5)
    loud = codes.std(axis=0)[9 : 9 + 2 * VALUES]
    assert loud == pytest.approx(AMPLITUDE * np.sqrt(3) / 4, abs=0.05)


def test_value_of_a_policy_on_observations_is_what_it_earns():
    problem = make_problem("rich-lock", horizon=4, actions=3, distractors=1)
    perfect, careless = ReadsTheCode(problem), ReadsTheCode(problem, slip=0.3)
    assert problem.value(perfect) == pytest.approx(1.0)
    assert problem.standard_error(perfect) < 0.005
    assert problem.value(careless) == pytest.approx(
        problem.value(0.7 * problem.optimal_policy + 0.1), abs=1e-6
    )
    episodes = 4000
    never = np.zeros((4, episodes), dtype=bool)
    played = problem.simulator.play(careless, np.random.default_rng(1), uniform=never)
    earned = played.rewards.sum(axis=0)
    assert earned.mean() == pytest.approx(problem.value(careless), abs=5 * earned.std() / np.sqrt(episodes))


def test_held_out_sample_is_no_part_of_a_learners_stream():
    first, second = (make_problem("rich-lock", horizon=3, seed=5) for _ in range(2))
    second.simulator.play(
        ReadsTheCode(second), np.random.default_rng(0), uniform=np.ones((3, 50), dtype=bool)
    )
    assert np.array_equal(first.held_out, second.held_out)
    assert not np.array_equal(first.held_out, make_problem("rich-lock", horizon=3, seed=6).held_out)


@pytest.mark.parametrize("name", ["rich-lock", "rich-sea"])
def test_facts_say_what_the_fixed_sample_leaves_open(name):
    assert make_problem(name).facts["standard_error"] < 0.005
    blurred = make_problem(name, noise=0.5)
    assert 0.005 < blurred.facts["standard_error"] < 0.05
    assert blurred.value(NearestMean(blurred)) < blurred.optimal_value - 0.01


@pytest.mark.parametrize("dim", [8, 48])
def test_a_dimension_that_holds_no_rotation_is_refused(dim):
    with pytest.raises(InvalidInput, match="power of two from 16"):
        make_problem("rich-lock", horizon=6, dim=dim)


def test_persistent_distractors_are_part_of_the_latent():
    problem = make_problem("rich-lock", horizon=3, actions=4, distractors=1, persistent=True)
    plain = make_problem("rich-lock", horizon=3, actions=4, dim=16)
    for value in range(VALUES):
        block = slice(3 * value, 3 * value + 3)
        assert np.array_equal(problem.transitions[:, block, :, block], plain.transitions)
        assert np.array_equal(problem.rewards[:, block], plain.rewards)
    assert problem.optimal_value == pytest.approx(1.0)
    assert problem.value(ReadsTheCode(plain)) == pytest.approx(1.0)
    codes = problem.held_out @ problem.emission.rotation / problem.dim
    shown = codes[..., 6 : 6 + VALUES].mean(axis=2)
    assert shown == pytest.approx(np.tile(AMPLITUDE * np.eye(VALUES).repeat(3, axis=0), (3, 1, 1)), abs=0.05)
    with pytest.raises(InvalidInput, match="768 latents; there may be 2"):
        make_problem("rich-lock", distractors=4, persistent=True)


def test_shared_codes_do_not_say_the_step():
    means = make_problem("rich-lock", horizon=4, shared=True).held_out.mean(axis=2)
    assert means == pytest.approx(np.broadcast_to(means[0], means.shape), abs=0.2)
    assert np.abs(np.diff(make_problem("rich-lock", horizon=4).held_out.mean(axis=2), axis=0)).max() > 1.5


def test_the_table_behind_the_observations_is_worth_the_same():
    problem = make_problem("rich-lock", horizon=4, actions=3)
    table = problem.latent_problem()
    policy = 0.7 * problem.optimal_policy + 0.1
    assert table.value(policy) == pytest.approx(problem.value(policy))
    assert table.rank == 9 and np.array_equal(table.transitions, problem.transitions)


def test_sea_is_deep_sea_behind_a_rotation():
    rich, plain = make_problem("rich-sea", size=6, seed=2), make_problem("deep-sea", size=6, seed=2)
    assert rich.optimal_value == pytest.approx(plain.optimal_value)
    image = rich.emission.draw(3, np.array([2]), np.random.default_rng(0)) @ rich.emission.rotation.T
    assert int(image[0].argmax()) == 3 * 6 + 2
    assert rich.emission.rotation @ rich.emission.rotation.T == pytest.approx(np.eye(36), abs=1e-5)


@pytest.mark.parametrize("name", ["rich-lock", "rich-sea"])
@pytest.mark.filterwarnings("ignore:.*Box observation space.*")
def test_gymnasium_face(name):
    env = make_problem(name).as_gymnasium()
    check_env(env, skip_render_check=True)
    assert isinstance(env.observation_space, gymnasium.spaces.Box)
    first, _ = env.reset(seed=4)
    steps = [env.step(1) for _ in range(env.problem.horizon)]
    assert [over for _, _, over, _, _ in steps] == [False] * (len(steps) - 1) + [True]
    with pytest.raises(InvalidInput, match="reset"):
        env.step(0)
    assert np.array_equal(first, env.reset(seed=4)[0])


class Halves:
    """Decoders into two latents by the sign of a coordinate of the code, which count how often they are asked."""

    def __init__(self, problem):
        self.code, self.steps, self.asked = problem.emission.rotation[:, 0], [object()] * problem.horizon, []

    def decode(self, h, observations):
        self.asked.append(h)
        first = observations @ self.code > 0.5 * len(self.code)
        return np.stack([first, ~first], axis=1).astype(np.float32)


def test_a_policy_on_learnt_latents_is_valued_by_the_latents_shares_which_are_taken_once():
    problem = make_problem("rich-lock", horizon=4, actions=3)
    decoders, rng = Halves(problem), np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), size=(4, 2))
    by_latents = SimpleNamespace(decoders=decoders, table=table)
    by_observations = SimpleNamespace(probabilities_at=lambda h, x: decoders.decode(h, x) @ table[h])
    expected = problem.on_latents(by_observations)
    decoders.asked.clear()
    for _ in range(3):
        assert problem.on_latents(by_latents) == pytest.approx(expected, abs=1e-12)
    assert decoders.asked == [0, 1, 2, 3]
    decoders.steps[2] = object()
    problem.on_latents(by_latents)
    assert decoders.asked == [0, 1, 2, 3, 2]
