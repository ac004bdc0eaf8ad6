"""Our own parts pass the conformance suite by the door that anyone's do, and a part that breaks a promise does not."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from optac.algorithms import epsilon_greedy
from optac.mdp import LowRankMDP, make_problem
from optac.models import SimplexClass
from optac.oracles import Bill
from optac.registry import ours
from optac.testing import ALGORITHM_CHECKS, MODEL_CLASS_CHECKS, PROBLEM_CHECKS
from optac.testing.algorithm import (
    pays_its_bill,
    repeats_itself,
    returns_policies,
    sees_only_its_handle,
    stops_at_its_cap,
)
from optac.testing.model_class import (
    has_a_size,
    is_as_likely_as_the_truth,
    is_never_worse_after_a_fit,
    says_what_it_fits,
)
from optac.testing.problem import has_a_sound_truth, is_drawn_from_its_seed, simulates_its_truth

Check = Callable[..., None]


def spelt(check: Any) -> str:
    return getattr(check, "__name__", str(check))


@pytest.mark.parametrize("name", ours("algorithm"))
@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=spelt)
def test_every_algorithm_conforms(check: Check, name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", ours("problem"))
@pytest.mark.parametrize("check", PROBLEM_CHECKS, ids=spelt)
def test_every_family_conforms(check: Check, name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", ours("model class"))
@pytest.mark.parametrize("check", MODEL_CLASS_CHECKS, ids=spelt)
def test_every_model_class_conforms(check: Check, name: str) -> None:
    decoders = name in ("decoder", "linear")
    check(name, make_problem("observed-lock", horizon=3, actions=2, observations=4) if decoders else None)


def learner(step: Callable[..., Any]) -> Any:
    """ε-greedy as an object, with another step."""
    parts = {
        name: getattr(epsilon_greedy, name) for name in ("Settings", "PRESETS", "default_iterations", "init")
    }
    return SimpleNamespace(**parts, step=step)


def peeking(settings: Any, state: Any, handle: Any, rng: Any) -> Any:
    assert handle._pairs.__self__.optimal_value >= 0
    return epsilon_greedy.step(settings, state, handle, rng)


def unseeded(settings: Any, state: Any, handle: Any, rng: Any) -> Any:
    after, info = epsilon_greedy.step(settings, state, handle, rng)
    return replace(after, policy=np.random.dirichlet(np.ones(handle.actions), after.policy.shape[:2])), info  # noqa: NPY002


def unpaid(settings: Any, state: Any, handle: Any, rng: Any) -> Any:
    after, info = epsilon_greedy.step(settings, state, handle, rng)
    return replace(after, bill=Bill(PP=after.bill.PP)), info


def forgetful(settings: Any, state: Any, handle: Any, rng: Any) -> Any:
    after, info = epsilon_greedy.step(settings, state, handle, rng)
    return replace(after, bill=Bill(SL=8, PP=1) if after.bill.PP % 2 else Bill(SL=4)), info


def improper(settings: Any, state: Any, handle: Any, rng: Any) -> Any:
    after, info = epsilon_greedy.step(settings, state, handle, rng)
    return replace(after, policy=np.full_like(after.policy, 0.5)), info


def greedy_of_episodes(settings: Any, state: Any, handle: Any, rng: Any) -> Any:
    handle._cap = None
    handle.play_one(state.policy, 2000)
    return epsilon_greedy.step(settings, state, handle, rng)


@pytest.mark.parametrize(
    ("check", "step", "message"),
    [
        (sees_only_its_handle, peeking, "the algorithm read optimal"),
        (repeats_itself, unseeded, "two runs of one seed"),
        (pays_its_bill, unpaid, "is less than PE \\+ H·PP"),
        (pays_its_bill, forgetful, "shrinks from round to round"),
        (returns_policies, improper, "rows that are not distributions"),
        (stops_at_its_cap, greedy_of_episodes, "were allowed"),
    ],
)
def test_an_algorithm_that_breaks_a_promise_is_found_out(check: Check, step: Any, message: str) -> None:
    check(learner(epsilon_greedy.step))
    with pytest.raises(AssertionError, match=message):
        check(learner(step))


class Biased(SimplexClass):
    """Fits badly: the features it finds are mixed with the uniform ones."""

    def fit(self, counts: Any, previous: Any, **how: Any) -> Any:
        model = super().fit(counts, previous, **how)
        return replace(model, phi=0.5 * model.phi + 0.5 / self.rank)


class Restless(Biased):
    """Every second fit is bad, and says honestly how bad."""

    fits = itertools.count()

    def fit(self, counts: Any, previous: Any, **how: Any) -> Any:
        fit = Biased.fit if next(self.fits) % 2 else SimplexClass.fit
        model = fit(self, counts, previous, **how)
        logs = np.log(np.maximum(model.phi @ model.mu[:, None], 1e-300))
        return replace(model, log_likelihood=(counts * logs).sum(axis=(1, 2, 3)))


class Shrinking(SimplexClass):
    """Its size falls with the number of samples."""

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        return 1.0 / samples


@pytest.mark.parametrize(
    ("check", "made", "message"),
    [
        (is_as_likely_as_the_truth, SimplexClass(1), "the truth has"),
        (is_never_worse_after_a_fit, Restless(2), "the model before has"),
        (says_what_it_fits, Biased(2), "Not equal to tolerance"),
        (has_a_size, Shrinking(2), "log_size is 0.1 for 10 samples"),
    ],
)
def test_a_model_class_that_breaks_a_promise_is_found_out(check: Check, made: Any, message: str) -> None:
    check(SimplexClass(2))
    with pytest.raises(AssertionError, match=message):
        check(made)


def fickle(*, seed: int = 0) -> LowRankMDP:
    """Another problem at every call."""
    return made_as(np.random.default_rng().integers(10**9), seed)


def made_as(draw: int, seed: int) -> LowRankMDP:
    lock = make_problem("random-simplex", states=4, actions=2, horizon=2, rank=2, seed=int(draw))
    return LowRankMDP(lock.phi, lock.mu, lock.rewards, lock.initial, name="mine", parameters={"seed": seed})


def mismatched(*, seed: int = 0) -> LowRankMDP:
    """Simulates another problem than its truth."""
    problem = made_as(seed, seed)
    problem.simulator = made_as(seed + 1, seed).simulator
    return problem


class Boastful(LowRankMDP):
    """Says that more can be earned than can."""

    optimal_value = 2.0


def boastful(*, seed: int = 0) -> LowRankMDP:
    sound = made_as(seed, seed)
    return Boastful(sound.phi, sound.mu, sound.rewards, sound.initial)


@pytest.mark.parametrize(
    ("check", "family", "message"),
    [
        (is_drawn_from_its_seed, fickle, "differ in their"),
        (simulates_its_truth, mismatched, "the truth says"),
        (has_a_sound_truth, boastful, "Not equal to tolerance"),
    ],
)
def test_a_family_that_breaks_a_promise_is_found_out(check: Check, family: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check(family)
