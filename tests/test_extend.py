"""A part of one's own is taken wherever a name is; what a wrong one lacks is named."""

import dataclasses
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import optac
from optac import extend
from optac.algorithms import ucbvi
from optac.algorithms.protocol import load_algorithm
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP
from optac.models import SimplexClass
from optac.registry import ours


@pytest.fixture(scope="module")
def lock() -> LowRankMDP:
    return optac.make_problem("combination-lock", horizon=3, actions=2)


def as_object(module: Any, **other: Any) -> Any:
    """A module's parts as an object's, some of them replaced or, with None, left out."""
    names = ("Settings", "PRESETS", "default_iterations", "init", "step")
    parts = {name: getattr(module, name) for name in names} | other
    return SimpleNamespace(**{name: part for name, part in parts.items() if part is not None})


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in extend.__all__:
        assert getattr(extend, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'Algorithms'"):
        extend.Algorithms  # noqa: B018


def test_extending_the_theory_half_loads_no_agents_library() -> None:
    code = (
        "import sys, optac.testing; from optac.extend import Algorithm, Bill, Handle, ModelClass, PlayingState; "
        "sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ours("algorithm"))
def test_our_algorithms_are_what_the_protocol_says(name: str) -> None:
    assert isinstance(load_algorithm(name), extend.Algorithm)


def test_module_object_and_location_run_as_the_name_does(lock: LowRankMDP) -> None:
    named = optac.solve(lock, "ucbvi", iterations=20)
    for part in (ucbvi, as_object(ucbvi), "optac.algorithms.ucbvi"):
        result = optac.solve(lock, part, iterations=20)
        assert result.gap == named.gap and result.bill == named.bill
    assert optac.solve(lock, ucbvi, iterations=2).algorithm == "optac.algorithms.ucbvi"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (dataclasses, "dataclasses is not an algorithm: it has no Settings, PRESETS, default_iterations(), init()"),
        (as_object(ucbvi, step=None), "SimpleNamespace is not an algorithm: it has no step(); see optac.extend"),
        (as_object(ucbvi, Settings=dict), "Settings must be a dataclass"),
        (as_object(ucbvi, init=lambda settings, handle: {}), "returned dict as its state; it must extend optac"),
        (as_object(ucbvi, step=lambda *arguments: 3), "step must return a pair (State, Info), not int"),
        (
            as_object(ucbvi, step=lambda settings, state, *rest: (state, {"loss": 1})),
            "the Info of a step must be a dataclass, not dict",
        ),
        (7, "int is not an algorithm"),
    ],
)  # fmt: skip
def test_an_algorithm_that_lacks_something_is_told_what(lock: LowRankMDP, part: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        optac.solve(lock, part, iterations=2)
    assert message in str(caught.value)


def test_traits_are_the_parts_own(lock: LowRankMDP) -> None:
    knowing = as_object(ucbvi, TRAITS=extend.Traits(knows_features=True))
    seen = []
    knowing.init = lambda settings, handle: (seen.append(handle.features), ucbvi.init(settings, handle))[1]
    optac.solve(lock, knowing, iterations=1)
    assert (seen[0] == lock.phi).all()
    walk = optac.make_problem("smooth-walk", horizon=2)
    with pytest.raises(InvalidInput, match="SimpleNamespace works on tables"):
        optac.solve(walk, knowing, iterations=1)


def test_a_model_class_is_taken_as_an_object_and_by_its_location(lock: LowRankMDP) -> None:
    named = optac.solve(lock, iterations=20, model_class="simplex")
    given = optac.solve(lock, iterations=20, model_class=SimplexClass(rank=3))
    located = optac.solve(lock, iterations=20, model_class="optac.models.simplex:SimplexClass")
    assert named.gap == given.gap == located.gap
    assert optac.solve(lock, iterations=20, model_class=SimplexClass(rank=1)).gap > named.gap


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            3,
            "int is not a model class: it has no rank, check(), empty_data(), log_size(), fit(); see optac.extend",
        ),
        (
            "dataclasses:field",
            "dataclasses:field is not a model class: it has no rank, check(), empty_data()",
        ),
        (
            "optac.models:FourierSize",
            "FourierSize needs zeta, state_dim, radius, frequencies, samples; a class",
        ),
        ("dataclasses", "dataclasses is not a model class: it has no rank"),
        ("simplx", "unknown model class 'simplx'; known, nearest first: simplex"),
    ],
)
def test_a_model_class_that_lacks_something_is_told_what(lock: LowRankMDP, given: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        optac.solve(lock, iterations=2, model_class=given)
    assert message in str(caught.value)


def family(*, horizon: int = 2, sweet: bool = False, seed: int = 0) -> LowRankMDP:
    """A lock of two actions."""
    lock = optac.make_problem("combination-lock", horizon=horizon, actions=2, seed=seed)
    return LowRankMDP(lock.phi, lock.mu, lock.rewards * (1.0 if sweet else 0.5), lock.initial, name="family")


def test_a_family_is_taken_as_a_function_and_by_its_location() -> None:
    assert optac.make_problem(family, sweet="true").optimal_value == 1.0
    location = "optac.mdp.families.locks:combination_lock"
    assert optac.make_problem(location, horizon="3").horizon == 3
    with pytest.raises(
        InvalidInput, match="unknown parameter of family 'sweat'; known, nearest first: sweet"
    ):
        optac.make_problem(family, sweat=True)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("optac.mdp.families.locks", "is not a family of problems; name a function that makes one"),
        ("optac.mdp.families.locks:ROWS", "is not a family of problems"),
        ("optac.mdp.families.locks:locks", "unknown problem in optac.mdp.families.locks 'locks'"),
        ("optac.mdp.grid:Grid", "needs dim, cells"),
        ("builtins:dict", "<class 'dict'> does not say what parameters it takes"),
        ("dataclasses:field", "made Field, which is no problem; return a LowRankMDP"),
    ],
)
def test_a_family_that_is_none_is_refused(location: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        optac.make_problem(location)
