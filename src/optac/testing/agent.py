"""The promises of every agent: it resumes to the bit, stays finite, acts within bounds, and its state does not grow.

The checks train a small one for a few blocks in Gymnasium's Pendulum-v1. Settings of one's own go by keyword:
`check("my_package.my_agent", latent=8)`.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from optac import numpy_policy
from optac.agents.agent import Agent
from optac.agents.record import record_of
from optac.agents.training.snapshot import state_arrays
from optac.errors import RunFailed

ENVIRONMENT = "Pendulum-v1"
SMALL = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "log_every": 20,
    "eval_every": 0,
    "replay_capacity": 200,
}
STEPS, BLOCK = 40, 10


def resumes_to_the_bit(agent: Any, **settings: Any) -> None:
    """Saved and loaded, it learns as if it had not been: all that determines the rest of its run is in its state."""
    whole = _learnt(agent, settings)
    with tempfile.TemporaryDirectory() as folder:
        whole.save(Path(folder) / "saved")
        resumed = Agent.load(Path(folder) / "saved", agent=record_of(agent))
    assert resumed.parameters_sha256 == whole.parameters_sha256, "what is loaded is not what was saved"
    whole.learn(STEPS)
    resumed.learn(STEPS)
    assert _rows(resumed) == _rows(whole), "a resumed run has other rows than the one that was not stopped"
    assert resumed.parameters_sha256 == whole.parameters_sha256, (
        "a resumed run ends with other parameters than the one that was not stopped"
    )


def repeats_itself(agent: Any, **settings: Any) -> None:
    """One seed gives the same bits, another seed others."""
    first, again, other = (_learnt(agent, settings, seed=seed).parameters_sha256 for seed in (3, 3, 4))
    assert first == again, "two runs of one seed end with different parameters"
    assert first != other, "two seeds end with the same parameters"


def stays_finite(agent: Any, **settings: Any) -> None:
    """Every number of its state and of its rows is finite, and its updates are told to the rows."""
    made = _learnt(agent, settings)
    arrays = {name: array for name, array in _state(made).items() if array.dtype.kind == "f"}
    wrong = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    assert not wrong, f"{wrong[0]} of its state is not finite"
    told = {name: value for name, value in made.rows[-1].items() if name.startswith("train/")}
    assert told, "no row tells of its updates; `update` must return a NamedTuple of numbers"
    assert np.isfinite(list(told.values())).all(), f"a row holds {told}"


def acts_within_bounds(agent: Any, **settings: Any) -> None:
    """Actions are finite and in the environment's bounds, and its export acts as it does to the last bit."""
    made = _learnt(agent, settings)
    rows = (np.random.default_rng(0).normal(size=(200, 3)) * 100).astype(np.float32)
    bounds = made._learner.policy
    for deterministic in (True, False):
        actions, _ = made.predict(rows, deterministic=deterministic)
        assert actions.shape == (200, 1), f"200 observations got actions of shape {actions.shape}"
        inside = (actions >= bounds.action_low) & (actions <= bounds.action_high)
        assert inside.all(), f"an action is {actions[~inside][0]}"
    with tempfile.TemporaryDirectory() as folder:
        made.export(Path(folder) / "policy.npz")
        policy = numpy_policy.load(Path(folder) / "policy.npz")
    assert np.array_equal(policy(rows), made.predict(rows)[0]), "its export acts otherwise than predict"


def keeps_its_size(agent: Any, **settings: Any) -> None:
    """Its state has the same arrays of the same shapes after every block, so that a step always costs the same."""
    made = _learnt(agent, settings, steps=BLOCK)
    first = _shapes(made)
    for _ in range(STEPS // BLOCK):
        later = _shapes(made.learn(BLOCK))
        changed = [name for name in first.keys() | later.keys() if first.get(name) != later.get(name)]
        assert not changed, (
            f"{changed[0]} of its state is {first.get(changed[0])}, later {later.get(changed[0])}"
        )


AGENT_CHECKS: tuple[Callable[..., None], ...] = (
    resumes_to_the_bit,
    repeats_itself,
    stays_finite,
    acts_within_bounds,
    keeps_its_size,
)


def _learnt(agent: Any, settings: dict[str, Any], *, seed: int = 3, steps: int = STEPS) -> Agent:
    made = Agent(ENVIRONMENT, agent=agent, seed=seed, **{**SMALL, **settings})
    try:
        return made.learn(steps)
    except RunFailed as error:
        raise AssertionError(f"it failed in {ENVIRONMENT}: {error}") from error


def _state(agent: Agent) -> dict[str, np.ndarray]:
    return state_arrays(agent._learner.state)


def _shapes(agent: Agent) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in _state(agent).items()}


def _rows(agent: Agent) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "time/fps"} for row in agent.rows]
