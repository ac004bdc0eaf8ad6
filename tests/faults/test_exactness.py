"""A result that says `exact` is, to the bit, the undisturbed run's; where that cannot be shown, one line says why."""

import os
import shutil
import signal
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from optac.agents.training.callbacks import Callback
from optac.agents.training.store import UNREPEATABLE, ResumeWarning, is_repeatable
from optac.environments import can_save, changed_surroundings, restore_state, save_state, surroundings
from optac.runs.training import Interrupted, resume, train
from tests.faults import hidden_later, hidden_state
from tests.faults.test_configuration import SETTINGS

UNSAVED = "this environment's state cannot be saved and a new episode begins"


def trained(kind: type, out: Path, **more: Any) -> Any:
    name = f"hidden/{kind.__name__}-v0"
    chosen = {**SETTINGS, "eval_every": 0, "log_every": 60}
    return train(name, "sac", steps=60, seed=1, settings=chosen, out=out, **more)


def resumed_half_way(kind: type, path: Path) -> tuple[Any, Any, list[str]]:
    """The undisturbed run, the one taken up again from its checkpoint at step 30, and what was said."""

    def photograph(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 60:
            shutil.copytree(path / "whole", path / "run")

    whole = trained(kind, path / "whole", on_row=photograph)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResumeWarning)
        again = resume(path / "run")
    return whole, again, [str(one.message) for one in caught]


INEXACT = {
    hidden_state.BoundMethod: UNSAVED,
    hidden_state.ClassCounter: "the attribute count_of_all of the class ClassCounter changed",
    hidden_state.GlobalNumpy: UNREPEATABLE,
    hidden_later.RandomOfTheClass: "the 30 steps before the checkpoint are not repeated",
}
EXACT = (hidden_state.SharedList, hidden_state.ParametersByName, hidden_later.OrderOfASet)


@pytest.mark.parametrize("kind", INEXACT, ids=lambda kind: kind.__name__)
def test_a_state_that_no_checkpoint_sees_is_not_called_exact(kind: type, tmp_path: Path) -> None:
    whole, again, said = resumed_half_way(kind, tmp_path)
    assert not again.exact and again.parameters_sha256 != whole.parameters_sha256
    assert any(INEXACT[kind] in text for text in said), said


@pytest.mark.parametrize("kind", EXACT, ids=lambda kind: kind.__name__)
def test_what_is_called_exact_is(kind: type, tmp_path: Path) -> None:
    """Where an episode was retraced from its beginning, the order of a set is what it was, too."""
    whole, again, said = resumed_half_way(kind, tmp_path)
    assert again.exact and not said
    assert again.parameters_sha256 == whole.parameters_sha256


@pytest.mark.parametrize("kind", hidden_state.INEXACT, ids=lambda kind: kind.__name__)
def test_each_hidden_state_is_told_by_what_gives_it_away(kind: type) -> None:
    env = gymnasium.make(f"hidden/{kind.__name__}-v0")
    env.reset(seed=0)
    before, said = surroundings(env), [] if can_save(env) else [UNSAVED]
    said += [] if is_repeatable(env, {"seed": 1, "step": 30}, 0.0) else [UNREPEATABLE]
    said += [f"{name} changed" for name in changed_surroundings(before, env)]
    assert any(hidden_state.INEXACT[kind] in text for text in said), said


class Early(Callback):
    """Ends a run before its first step."""

    def on_start(self, training: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_run_that_was_ended_before_its_first_step_is_exact(tmp_path: Path) -> None:
    whole = trained(hidden_state.SharedList, tmp_path / "whole")
    with pytest.raises(Interrupted):
        trained(hidden_state.SharedList, tmp_path / "run", callback=Early())
    again = resume(tmp_path / "run")
    assert again.exact and again.parameters_sha256 == whole.parameters_sha256


def test_changed_code_of_an_environment_is_not_called_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "changing.py").write_text(
        "from tests.faults.hidden_state import Hidden\n\nclass Mine(Hidden):\n"
        "    def extra(self):\n        return 0.5\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    gymnasium.register("hidden/Mine-v0", entry_point="changing:Mine", disable_env_checker=True)
    kind = type("Mine", (), {})
    monkeypatch.setattr("optac.agents.training.store.is_repeatable", lambda *given: True)

    def photograph(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 60:
            shutil.copytree(tmp_path / "whole", tmp_path / "run")

    trained(kind, tmp_path / "whole", on_row=photograph)
    with open(tmp_path / "changing.py", "a") as file:
        file.write("# another line\n")
    with pytest.warns(ResumeWarning, match="code in changing is another than it was"):
        assert not resume(tmp_path / "run").exact


def test_one_array_that_became_two_is_restored_as_two() -> None:
    env, other = hidden_state.SharedList(), hidden_state.SharedList()
    for one in (env, other):
        one.reset(seed=0)
        one.left = one.right = np.zeros(3)  # type: ignore[attr-defined]
    env.left = np.ones(3)  # type: ignore[attr-defined]
    restore_state(other, save_state(env))
    np.testing.assert_array_equal(other.left, np.ones(3))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(other.right, np.zeros(3))  # type: ignore[attr-defined]
