"""The actor's delay: its turn at every second update, until the step at which the delay ends."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import optac
from optac.agents.agent import Agent
from optac.agents.training import snapshot
from optac.agents.training.store import ResumeWarning
from optac.errors import InvalidInput

TINY: dict[str, Any] = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "updates_per_dispatch": 5,
    "eval_every": 0,
    "log_every": 20,
}


def made(**more: Any) -> Agent:
    return optac.SAC("Pendulum-v1", seed=3, **(TINY | more))


def counts(agent: Agent) -> tuple[int, int]:
    """Updates of the critics, and turns of the actor."""
    state = agent._learner.state
    return int(state.updates), int(state.actor_optimiser[0].count)


def test_updates_and_turns_before_and_after_its_end() -> None:
    agent, told = made(delay_ends=40), []
    for steps in (30, 10, 5, 3, 12):
        agent.learn(steps)
        told.append(counts(agent))
    assert told == [(10, 5), (20, 10), (25, 15), (28, 18), (40, 30)]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (None, (40, 20)),
        (0, (40, 40)),
        (20, (40, 40)),
        (60, (40, 20)),
        (34, (40, 33)),  # in the midst of a block: 7 rounds of two, then 26
        (33, (39, 33)),  # in the midst of a round, which is not made
    ],
)
def test_wherever_it_ends(ends: int | None, expected: tuple[int, int]) -> None:
    assert counts(made(delay_ends=ends).learn(60)) == expected


def test_until_its_end_nothing_is_different() -> None:
    ended, never = made(delay_ends=40).learn(40), made(delay_ends=None).learn(40)
    assert ended.parameters_sha256 == never.parameters_sha256
    assert ended.learn(5).parameters_sha256 != never.learn(5).parameters_sha256


def test_without_a_delay_its_end_is_refused_since_nothing_reads_it() -> None:
    with pytest.raises(
        InvalidInput, match="delay_ends=33 would change nothing: it is read only with actor_every"
    ):
        made(actor_every=1, delay_ends=33)


def test_a_run_saved_before_there_was_such_a_setting_is_no_longer_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(settings: Any) -> dict[str, Any]:
        return {name: value for name, value in asdict(settings).items() if name != "delay_ends"}

    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "asdict", without)
        made().learn(45).save(tmp_path / "a.ckpt")
    with pytest.warns(
        ResumeWarning, match="saved before there was a setting delay_ends: the run goes on, but"
    ):
        resumed = Agent.load(tmp_path / "a.ckpt")
    assert not resumed._learner.exact


@pytest.mark.parametrize("at", [35, 40, 45])
def test_a_run_resumed_before_at_and_after_its_end_goes_on_to_the_bit(at: int, tmp_path: Path) -> None:
    whole = made(delay_ends=40).learn(at).learn(60 - at)
    made(delay_ends=40).learn(at).save(tmp_path / "a.ckpt")
    resumed = Agent.load(tmp_path / "a.ckpt").learn(60 - at)
    assert (
        resumed.parameters_sha256
        == whole.parameters_sha256
        == made(delay_ends=40).learn(60).parameters_sha256
    )
