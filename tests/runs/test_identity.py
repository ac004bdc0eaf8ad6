"""One run has one id, however it was written; what changes no result changes no id."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.algorithms import opt_ac
from optac.mdp import make_problem
from optac.mdp.families import locks
from optac.runs.command_lines import resume_command
from optac.runs.solving import SolveConfig, prepared_solve
from optac.runs.training_config import training_config, training_id
from optac.settings import run_id
from optac.sweeps.plan import sweep_of

PARAMETERS = {
    "horizon": st.sampled_from([3, "3", 3.0, "3.0", "03"]),
    "actions": st.sampled_from([2, "2", "2e0"]),
    "seed": st.sampled_from([0, "0", None]),
}
SETTINGS = {
    "alpha": st.sampled_from([0.5, "0.5", "0.50", "5e-1", ".5"]),
    "whole_trajectories": st.sampled_from([False, "false", "False", 0, "0"]),
    "eta": st.sampled_from([1, 1.0, "1", "1.0", None]),
    "rank": st.sampled_from(["3", 3, None]),
    "candidates": st.sampled_from([64, "8", None]),
    "keep_members": st.sampled_from([True, "false", None]),
    "model_class": st.sampled_from(["simplex", "optac.models.simplex:SimplexClass", None]),
}
ALGORITHM = st.sampled_from(["opt-ac", "optac.algorithms.opt_ac"])
PROBLEM = st.sampled_from(["combination-lock", "optac.mdp.families.locks:combination_lock"])
ITERATIONS = st.sampled_from([500, None])


def drawn(data: st.DataObject, choices: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """Each value in one of its spellings, in some order, or left out where it is the default."""
    order = data.draw(st.permutations(list(choices)))
    found = {name: data.draw(choices[name]) for name in order}
    return {name: value for name, value in found.items() if value is not None}


def id_of(**arguments: Any) -> str:
    return prepared_solve(SolveConfig("combination-lock", {"horizon": 3, "actions": 2}, **arguments)).id


@given(st.data())
def test_every_spelling_of_a_solve_has_its_one_id_and_its_one_configuration(data: st.DataObject) -> None:
    plainly = prepared_solve(
        SolveConfig(
            "combination-lock",
            {"horizon": 3, "actions": 2},
            settings={"alpha": 0.5, "whole_trajectories": False},
        )
    )
    settings = drawn(data, SETTINGS)
    config = SolveConfig(
        data.draw(PROBLEM),
        drawn(data, PARAMETERS),
        data.draw(ALGORITHM),
        iterations=data.draw(ITERATIONS),
        settings=settings,
    )
    spelt = prepared_solve(config)
    assert spelt.id == plainly.id
    kept = {**spelt.config["settings"]}
    kept.pop("keep_members", None)
    assert {**spelt.config, "settings": kept} == plainly.config


@pytest.mark.parametrize("algorithm", ["ucbvi", "lsvi-ucb", "epsilon-greedy"])
@pytest.mark.parametrize("choice", [{"model_class": "decoder"}, {"rank": 2}])
def test_a_model_class_that_is_not_fitted_makes_no_other_run(algorithm: str, choice: dict[str, Any]) -> None:
    assert id_of(algorithm=algorithm, settings=choice) == id_of(algorithm=algorithm)
    assert id_of(settings=choice) != id_of(), "Opt-AC fits it"


def test_a_sweep_file_names_the_run_as_the_command_does() -> None:
    """The order of tables and values in a file is the command's in none of these."""
    axes = {"algorithms": ["opt-ac"], "problems": ["combination-lock actions=2 horizon=3"], "seeds": [0]}
    (run,) = sweep_of("x", {"sweep": axes, "settings": {"eta": 2, "alpha": 0.25}}).runs
    assert run.id == id_of(settings={"alpha": "0.25", "eta": "2.0"})
    assert run.id.startswith("opt-ac-combination-lock-actions2-horizon3-") and run.id.endswith("-s0")


@pytest.mark.parametrize(
    "other",
    [
        {"settings": {"alpha": 0.25}},
        {"settings": {"alpha": 0.25, "model_class": "finite"}},
        {"settings": {"alpha": 0.25, "model_class": "finite", "candidates": 8}},
        {"settings": {"alpha": 0.25, "rank": 2}},
        {"preset": "theory"},
        {"iterations": 7},
        {"episodes": 21},
        {"seed": 1},
        {"algorithm": "rep-ucb"},
    ],
)
def test_what_determines_the_result_is_in_the_id(other: dict[str, Any]) -> None:
    ids = {id_of(), id_of(settings={"alpha": 0.75}), id_of(**other)}
    assert len(ids) == 3


def test_a_new_setting_with_a_neutral_default_changes_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    before = id_of(settings={"alpha": 0.25})

    @dataclasses.dataclass(frozen=True)
    class Grown(opt_ac.Settings):
        novelty: float = 0.0

    def grown(sizes: Any) -> Grown:
        return Grown(**dataclasses.asdict(opt_ac.practical(sizes)))

    monkeypatch.setattr(opt_ac, "Settings", Grown)
    monkeypatch.setattr(opt_ac, "PRESETS", {**opt_ac.PRESETS, "practical": grown})
    assert id_of(settings={"alpha": 0.25}) == id_of(settings={"alpha": 0.25, "novelty": 0}) == before
    assert id_of(settings={"alpha": 0.25, "novelty": 1}) != before


def test_a_new_parameter_with_a_neutral_default_changes_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    before, lock = id_of(), locks.combination_lock

    def grown(*, horizon: int = 6, actions: int = 10, dials: int = 1, seed: int = 0) -> Any:
        return lock(horizon=horizon, actions=actions, seed=seed)

    monkeypatch.setattr(locks, "combination_lock", grown)
    assert id_of() == before


def test_a_file_is_known_by_what_it_holds_and_not_by_where_it_lies(tmp_path: Path) -> None:
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        (tmp_path / folder).mkdir()
        make_problem("combination-lock", horizon=2, actions=2, seed=seed).save(tmp_path / folder / "lock.npz")
    one, same, other = (prepared_solve(SolveConfig(str(tmp_path / x / "lock.npz"))).id for x in "abc")
    assert one == same != other and one.startswith("opt-ac-lock-")


def test_ids_are_names_that_any_file_system_takes() -> None:
    name = run_id("my_package.agent", "my_envs:my/Crane-v0", {"batch_size": 256}, 3)
    assert name.startswith("my-package.agent-my-envs-my-Crane-v0-") and name.endswith("-s3")


TRAINING = {
    "batch_size": st.sampled_from([64, "64", 64.0, "6.4e1"]),
    "learning_rate": st.sampled_from([1e-3, "0.001", "1e-3"]),
    "preset": st.sampled_from(["default", None]),
    "width": st.sampled_from([256, "256", None]),
    "target_entropy": st.sampled_from(["none", None]),
    "log_every": st.sampled_from([1_000, "10", None]),
    "step_timeout": st.sampled_from([300, "0", None]),
}


@given(st.data())
def test_every_spelling_of_a_training_has_its_one_id_however_far_it_goes(data: st.DataObject) -> None:
    given_plainly = {"learning_rate": 1e-3, "batch_size": 64}
    plainly = training_config("Pendulum-v1", "sac", steps=100, seed=1, settings=given_plainly)
    spelt = training_config(
        "Pendulum-v1",
        data.draw(st.sampled_from(["sac", "optac.agents.sac"])),
        steps=data.draw(st.sampled_from([1, 100, 50_000])),
        seed=1,
        settings=drawn(data, TRAINING),
    )
    assert training_id(spelt) == training_id(plainly)
    for other in ({"batch_size": 32}, {"preset": "paper"}, {"eval_episodes": 3}):
        config = training_config("Pendulum-v1", "sac", steps=100, seed=1, settings={**given_plainly, **other})
        assert training_id(config) != training_id(plainly)


def test_the_command_that_resumes_a_run_names_the_users_own_code() -> None:
    ours = {"environment": "Pendulum-v1", "agent": "sac", "path": []}
    assert resume_command(Path("runs/a b"), ours) == "optac resume 'runs/a b'"
    own = {"environment": "my_envs:my/Crane-v0", "agent": "sac", "path": ["/home/me/code"]}
    assert resume_command(Path("runs/a"), own) == "optac resume runs/a --path /home/me/code --trust"
    for module in ("mine.agent", "mine"):
        assert resume_command(Path("a"), ours | {"agent": module}) == "optac resume a --trust"
