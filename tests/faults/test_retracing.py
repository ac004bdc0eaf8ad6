"""Only an environment that repeats the steps before a checkpoint, to the bit, is taken for the one that was saved."""

import json
from typing import Any

import gymnasium
import numpy as np
import pytest

from optac.agents.parts.replay import Replay, Rows
from optac.agents.training import retracing, snapshot
from optac.agents.training.retracing import Steps, Trail
from optac.environments import TASKS, can_save, make, restore_state, save_state
from optac.errors import Interrupted
from tests.faults import hidden_later, hidden_state

BLOCK, SAVED, AFTER = 10, 70, 60  # steps: of a block, before the checkpoint, after it


class Player:
    """An environment, played with the actions of a seed as a learner plays it."""

    def __init__(self, name: str, seed: int = 3) -> None:
        self.env = make(name)
        self.observation = self.env.reset(seed=seed)[0]
        box = self.env.action_space
        assert isinstance(box, gymnasium.spaces.Box)
        self.low, self.high = box.low, box.high
        self.replay = Replay.empty(1_000, self.observation.size, box.shape[0])
        self.trail, self.generator = Trail(), np.random.default_rng(1)

    def to_env(self, action: np.ndarray) -> np.ndarray:
        return np.asarray(self.low + (self.high - self.low) * (action + 1) / 2, self.low.dtype)

    def play(self, steps: int) -> list[bytes]:
        seen = []
        for number in range(steps):
            if number % BLOCK == 0:
                self.trail.note(self.replay, self.env)
            action = self.generator.uniform(-1, 1, self.low.size).astype(np.float32)
            following, reward, terminated, truncated, _ = self.env.step(self.to_env(action))
            following = np.asarray(following, np.float32)
            self.replay.add(self.observation, action, float(reward), following, bool(terminated))
            seen += [following.tobytes(), np.float32(reward).tobytes()]
            self.observation = self.env.reset()[0] if terminated or truncated else following
        return seen


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(json.dumps(v)) if name == "layers" else v.copy() for name, v in state.items()}


def saved_steps(player: Player) -> Steps:
    mark = player.trail.mark_since(player.replay.oldest())
    assert mark is not None and player.replay.added - mark.row == 20  # in the midst of the second episode
    rows: Rows = player.replay.between(mark.row, player.replay.added)
    kept = retracing.Mark(mark.row, through_a_file(dict(mark.state)))
    return Steps(kept, rows, player.observation.astype(np.float32), through_a_file(save_state(player.env)))


def went_on(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str | None, bool, bool]:
    """Why another environment is not taken for the saved one, and whether it goes on like it: retraced, or restored."""
    monkeypatch.setattr(retracing, "STEPS_BETWEEN_MARKS", 10)
    player = Player(name)
    player.play(SAVED)
    steps, drawn = saved_steps(player), player.generator.bit_generator.state
    whole, same = player.play(AFTER), []
    for retraced in (True, False):
        other = Player(name, seed=11)
        other.play(1)
        if retraced:
            why = steps.difference(other.env, other.to_env, 0.0, lambda: None)
        else:
            restore_state(other.env, dict(steps.state))
        other.observation, other.generator.bit_generator.state = steps.observation, drawn
        same.append(other.play(AFTER) == whole)
    return why, *same


@pytest.mark.parametrize("kind", hidden_later.NOT_REPEATED, ids=lambda kind: kind.__name__)
def test_what_is_not_saved_whole_does_not_repeat_its_steps(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And rightly so: restored from what is saved of it, it goes on otherwise."""
    why, _, restored_goes_on = went_on(f"hidden/{kind.__name__}-v0", monkeypatch)
    assert why is not None and "the 20 steps before the checkpoint are not repeated" in why
    assert not restored_goes_on


@pytest.mark.parametrize(
    "name",
    [f"hidden/{kind.__name__}-v0" for kind in (*hidden_later.REPEATED, *hidden_state.EXACT)]
    + [*TASKS, "Pendulum-v1", "HalfCheetah-v5"],
)
def test_what_is_saved_whole_repeats_its_steps_and_goes_on(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert went_on(name, monkeypatch) == (None, True, True)


@pytest.mark.parametrize("kind", hidden_later.UNSAVABLE, ids=lambda kind: kind.__name__)
def test_what_cannot_be_put_back_is_not_saved(kind: type) -> None:
    env = gymnasium.make(f"hidden/{kind.__name__}-v0")
    env.reset(seed=0)
    assert not can_save(env)
    trail = Trail()
    trail.note(Replay.empty(4, 1, 1), env)
    assert trail.marks == []


def test_another_state_is_named_though_all_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retracing, "STEPS_BETWEEN_MARKS", 10)
    player = Player("hidden/Slots-v0")
    player.play(SAVED)
    steps, other = saved_steps(player), Player("hidden/Slots-v0")
    for layer in steps.state["layers"]:
        for name in layer["attributes"].keys() & {"speed"}:
            layer["attributes"][name] = {"float": (7.0).hex()}
    why = steps.difference(other.env, other.to_env, 0.0, lambda: None)
    assert why is not None and "Slots.speed becomes another" in why


def test_a_signal_ends_the_retracing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(retracing, "STEPS_BETWEEN_MARKS", 10)
    player, heard = Player("hidden/Slots-v0"), []
    player.play(SAVED)

    def heed() -> None:
        heard.append(1)
        if len(heard) == 3:
            raise Interrupted(15, "optac resume")

    with pytest.raises(Interrupted):
        saved_steps(player).difference(Player("hidden/Slots-v0").env, player.to_env, 0.0, heed)
    assert len(heard) == 3


@pytest.mark.parametrize(("capacity", "expected"), [(1_000, 100), (40, 20)])
def test_marks_stand_as_far_apart_as_replay_reaches(capacity: int, expected: int) -> None:
    trail, replay = Trail(), Replay.empty(capacity, 1, 1)
    env = gymnasium.make("hidden/Slots-v0")
    env.reset(seed=0)
    for added in range(0, 500, BLOCK):
        replay.added = added
        trail.note(replay, env)
        mark = trail.mark_since(replay.oldest())
        assert mark is not None
    assert [mark.row for mark in trail.marks] == [500 - 2 * expected, 500 - expected]


@pytest.mark.parametrize("row", [-1, 51, 10**15])
def test_a_mark_outside_replay_is_no_mark_of_ours(row: int) -> None:
    class Learnt:
        env = None
        replay = Replay.empty(100, 1, 1)
        chosen = type("Chosen", (), {"settings": type("Settings", (), {"step_timeout": 0.0})})

    Learnt.replay.added = 50
    with pytest.raises(ValueError, match="a mark at row"):
        snapshot.retrace.__wrapped__(Learnt, {}, {"mark": {"row": row}}, lambda: None)
