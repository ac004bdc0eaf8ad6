"""An agent is its record: found by name, by module or as itself, and refused where something is missing."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import probe_environments  # noqa: F401  registers the probes
import pytest

import optac
from optac import registry
from optac.agents import crffsac, sac
from optac.agents.record import record_of
from optac.errors import InvalidInput
from optac.runs.training import resume, train

OURS = list(registry.ours("agent"))
TINY = {"width": 8, "batch_size": 8, "learning_starts": 20, "actor_every": 1, "eval_every": 0}


def test_a_record_is_found_by_name_by_location_by_module_and_as_itself() -> None:
    for name in ("sac", "optac.agents.sac", sac, sac.AGENT):
        assert record_of(name) is sac.AGENT
    assert record_of("crffsac-bonus") is crffsac.WITH_BONUS


@pytest.mark.parametrize("name", OURS)
def test_the_registry_says_of_an_agent_what_its_record_says(name: str) -> None:
    record = record_of(name)
    assert (record.name, record.summary) == (name, registry.find("agent", name).summary)


@pytest.mark.parametrize(("given", "words"), [("sacc", "nearest first: sac"), (np, "AGENT")])
def test_what_is_no_agent_is_refused(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        record_of(given)


WRONG = """
import dataclasses
from optac.agents import sac
from optac.agents.record import AgentRecord
for wrong in ({"init": 3}, {"settings": dict}, {"examine": 3}):
    try:
        dataclasses.replace(sac.AGENT, name="mine", **wrong)
    except ValueError as error:
        print(error)
try:
    AgentRecord("mine", "", sac.Settings, sac.init)
except TypeError as error:
    print(error)
"""


def test_a_record_with_a_wrong_part_is_refused_by_the_parts_name() -> None:
    """In a process of its own: here every call's types are checked before ours is asked."""
    done = subprocess.run([sys.executable, "-c", WRONG], capture_output=True, text=True, check=False)
    function, settings, optional, missing = done.stdout.splitlines()
    assert "'mine' has init=3; give a function" in function
    assert "'mine' has examine=3; give a function or None" in optional
    assert "'mine' has settings=<class 'dict'>; give a subclass of AgentSettings" in settings
    assert "'update'" in missing


def test_a_setting_that_contradicts_the_name_is_refused() -> None:
    assert record_of("crffsac-bonus").choose({"bonus": "true"}).bonus  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match=r"bonus=True contradicts the agent 'crffsac'"):
        record_of("crffsac").choose({"bonus": True})


def test_a_setting_that_nothing_would_read_is_refused() -> None:
    assert record_of("crffsac-bonus").choose({"bonus_scale": 0.5}).bonus_scale == 0.5  # type: ignore[attr-defined]
    refused = r"bonus_scale=0.5 would change nothing: it is read only with bonus=True, and bonus is False"
    with pytest.raises(InvalidInput, match=refused):
        record_of("crffsac").choose({"bonus_scale": 0.5})
    with pytest.raises(
        InvalidInput, match=r"fourier_bandwidth=1.0 .* only with head=fourier, and head is mlp"
    ):
        record_of("crffsac").choose({"fourier_bandwidth": 1})
    record_of("crffsac").choose({"head": "fourier", "fourier_bandwidth": 1})
    for name, given in (
        ("crffsac", {"head": "fourier", "head_layers": 5}),
        ("crffsac", {"head": "fourier", "raw_input": False}),
        ("crffsac", {"head": "fourier", "layer_norm": False}),
        ("td7sac", {"prioritised": False, "priority_power": 0.9}),
        ("td7sac", {"huber_loss": False}),
    ):
        with pytest.raises(InvalidInput, match="would change nothing"):
            record_of(name).choose(given)


@pytest.mark.parametrize("preset", ["default", "plain", "paper"])
def test_a_run_without_the_bonus_is_read_again_from_all_its_settings(preset: str) -> None:
    chosen = record_of("crffsac").choose({"preset": preset})
    assert record_of("crffsac").choose(dataclasses.asdict(chosen)) == chosen


def test_what_another_version_saved_is_read_though_nothing_reads_a_setting_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That setting may have been its default: whoever saved it chose nothing."""
    with monkeypatch.context() as before:
        before.setattr(crffsac.Settings, "NEEDS", {})
        told = TINY | {"bonus_every": 500}
        optac.CRFFSAC("probe/Drifting-v0", **told).learn(40).save(tmp_path / "a")
        train("probe/Drifting-v0", "crffsac", steps=40, settings=told, out=tmp_path / "run")
    with pytest.raises(InvalidInput, match="bonus_every=500 would change nothing"):
        record_of("crffsac").choose(told)
    assert optac.load(tmp_path / "a").learn(10).steps == optac.load(tmp_path / "run").learn(10).steps == 50
    assert resume(tmp_path / "run", steps=50).steps == 50


def test_an_agent_of_ones_own_learns_is_saved_and_loaded_when_it_is_given_again(tmp_path: Path) -> None:
    own = dataclasses.replace(sac.AGENT, name="mine", summary="as sac")
    module = ModuleType("my_agent")
    module.AGENT = own  # type: ignore[attr-defined]
    agent = optac.Agent("probe/Drifting-v0", agent=module, seed=3, **TINY).learn(40)
    assert (
        agent.parameters_sha256 == optac.SAC("probe/Drifting-v0", seed=3, **TINY).learn(40).parameters_sha256
    )
    agent.save(tmp_path / "a.ckpt")
    with pytest.raises(InvalidInput, match=r"a mine agent.*agent="):
        optac.Agent.load(tmp_path / "a.ckpt")
    with pytest.raises(InvalidInput, match="a mine agent, not sac"):
        optac.Agent.load(tmp_path / "a.ckpt", agent="sac")
    loaded = optac.Agent.load(tmp_path / "a.ckpt", agent=own)
    assert loaded.parameters_sha256 == agent.parameters_sha256


@pytest.mark.parametrize("name", OURS)
def test_an_exported_policy_acts_as_the_agent_to_the_last_bit(name: str, tmp_path: Path) -> None:
    agent = optac.Agent("optac/HalfCheetah-v0", agent=name, **(TINY | {"width": 64})).learn(40)
    agent.export(tmp_path / "policy.npz")
    policy = optac.numpy_policy.load(tmp_path / "policy.npz")
    rows = (np.random.default_rng(0).normal(size=(1_000, 17)) * 3).astype(np.float32)
    np.testing.assert_array_equal(policy(rows), agent.predict(rows)[0], strict=True)
    for row in rows:
        np.testing.assert_array_equal(policy(row), agent.predict(row)[0], strict=True)


@pytest.mark.parametrize("hidden", ["jax", "mujoco"])
def test_without_the_extra_one_line_says_what_to_install(hidden: str) -> None:
    code = f"""
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == {hidden!r} else find(name, *more)
from optac.cli import main
sys.exit(main(["train", "Pendulum-v1", "--steps", "10"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"optac: error: agents need {hidden}") and "pip install 'optac[agents]'" in line
