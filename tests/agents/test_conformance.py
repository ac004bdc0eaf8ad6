"""Our agents pass the conformance suite by the door that anyone's do, and one that breaks a promise does not."""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from optac.agents import sac
from optac.agents.parts.soft_actor_critic import SoftState
from optac.agents.record import AgentRecord
from optac.registry import ours
from optac.testing import AGENT_CHECKS
from optac.testing.agent import acts_within_bounds, keeps_its_size, resumes_to_the_bit, stays_finite

Check = Callable[..., None]
SMALL: dict[str, dict[str, Any]] = {"sac": {}, "crffsac": {"feature_width": 8}}
SMALL["td7sac"] = {"embedding_width": 8, "target_every": 7}
SMALL["crffsac-bonus"] = SMALL["crffsac"] | {"bonus_every": 20, "bonus_samples": 50}


def test_every_agent_of_ours_is_checked() -> None:
    assert SMALL.keys() == ours("agent").keys()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("check", AGENT_CHECKS, ids=lambda check: check.__name__)
def test_every_agent_conforms(check: Check, name: str) -> None:
    check(name, **SMALL[name])


def test_returns_of_several_steps_resume_to_the_bit() -> None:
    resumes_to_the_bit("sac", n_step=3)


class Remembering(SoftState):
    """Soft actor-critic's state and one more array."""

    seen: Any


def altered(**parts: Any) -> AgentRecord:
    def init(settings: Any, obs: int, act: int, *, key: Any) -> Remembering:
        return Remembering(**vars(sac.init(settings, obs, act, key=key)), seen=jnp.zeros(1))

    return dataclasses.replace(sac.AGENT, name="mine", **{"init": init, **parts})


def hooked(change: Callable[[Any], Any]) -> AgentRecord:
    """One that changes its memory between blocks."""
    return altered(
        between_blocks=lambda settings, state, block: dataclasses.replace(state, seen=change(state.seen))
    )


def blind(settings: Any, state: Any, statistics: Any) -> Any:
    nothing = (np.full((3, 2), np.nan, np.float32), np.zeros(2, np.float32))
    return {"layers": (nothing,), "activation": "elu"}


blocks = itertools.count()


@pytest.mark.parametrize(
    ("check", "agent", "message"),
    [
        (
            resumes_to_the_bit,
            hooked(lambda seen: seen + next(blocks)),
            "resumed run ends with other parameters",
        ),
        (stays_finite, hooked(lambda seen: seen / 0), "seen of its state is not finite"),
        (acts_within_bounds, altered(policy=blind), "it failed in Pendulum-v1"),
        (
            keeps_its_size,
            hooked(lambda seen: jnp.append(seen, 1.0)),
            r"seen of its state is \(2,\), later \(3,\)",
        ),
    ],
)
def test_an_agent_that_breaks_a_promise_is_found_out(check: Check, agent: AgentRecord, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check(agent)


def test_the_agent_that_they_are_made_of_conforms() -> None:
    resumes_to_the_bit(hooked(lambda seen: seen + 1))
