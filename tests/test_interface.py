"""The names that users build on are there and do what is said of them; whoever changes one changes this file."""

import json
import re
from dataclasses import fields
from importlib import metadata
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import optac
from optac import registry
from optac.agents.record import record_of
from optac.cli import build_parser, main
from optac.runs.training_result import TrainingResult
from optac.settings import parameters_of
from optac.studies.bench import BENCHES
from optac.studies.catalogue import studies
from tests.random_problems import random_problem

PROBLEMS = {
    "combination-lock": "horizon actions",
    "observed-lock": "horizon actions observations",
    "random-simplex": "states actions horizon rank concentration",
    "river-swim": "horizon",
    "deep-sea": "size stochastic",
    "lower-bound": "horizon rank actions epsilon",
    "smooth-walk": "dim horizon actions kernel misspecification",
    "rich-lock": "horizon actions noise dim distractors shared",
}
ALGORITHMS = [
    "opt-ac",
    "rep-ucb",
    "raffle",
    "flambe",
    "moffle",
    "spanrl",
    "lsvi-ucb",
    "ucbvi",
    "epsilon-greedy",
]
TASKS = ("Ant", "HalfCheetah", "Hopper", "Reacher", "InvertedPendulum", "Pendulum")
COMMANDS = {
    "demo": "--theory",
    "list": "",
    "solve": "--algorithm --iterations --episodes --seed --preset --set",
    "compare": "--algorithms --seeds --preset --set",
    "train": "--agent --steps --seed --env-kwargs --preset --set",
    "resume": "--steps",
    "eval": "--episodes --best",
    "enjoy": "--video",
    "export": "",
    "sweep": "--jobs --ray --dry-run",
    "status": "",
    "tune": "--jobs --ray",
    "reproduce": "--jobs --ray --dry-run --minutes",
    "report": "",
    "bench": "",
}
EVERYWHERE = "--out --json --quiet --path"


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_family_of_problems_takes_its_parameters_and_a_seed(name: str) -> None:
    assert {*PROBLEMS[name].split(), "seed"} <= parameters_of(registry.find("problem", name).load()).keys()


def test_a_problem_says_its_exact_values_and_is_saved_and_played(tmp_path: Path) -> None:
    lock = optac.make_problem("combination-lock", horizon=3, actions=2, seed=0)
    same = optac.LowRankMDP(lock.phi, lock.mu, lock.rewards, initial_state=lock.initial)
    H, S, A = lock.shape
    uniform = np.full((H, S, A), 1 / A)
    assert same.optimal_value == lock.optimal_value and same.value(uniform) == lock.value(uniform)
    assert lock.occupancy(uniform).shape == (H, S) and lock.original(0.5) == 0.5
    facts = "optimal_value uniform_value ranks smallest_singular_values eta_min"
    assert set(facts.split()) <= lock.facts.keys()
    env = lock.as_gymnasium(time=True)
    assert env.observation_space.n == H * S and lock.as_gymnasium(time=False).observation_space.n == S
    lock.save(tmp_path / "mine.npz")
    assert optac.make_problem(tmp_path / "mine.npz").optimal_value == lock.optimal_value
    table = optac.TabularMDP(np.full((2, 2, 2), 0.5), np.eye(2), horizon=20)
    assert table.shape == (20, 2, 2) and table.optimal_value == pytest.approx(20)
    lake = optac.from_gymnasium("FrozenLake-v1", horizon=20)
    assert (lake.horizon, lake.states, lake.actions) == (20, 16, 4)


def test_a_result_says_what_was_learnt_and_what_it_cost() -> None:
    assert list(registry.ours("algorithm"))[: len(ALGORITHMS)] == ALGORITHMS
    problem = random_problem(0, horizon=2, states=3)
    result = optac.solve(problem, "opt-ac", iterations=5, rank=3, seed=0)  # a table: one start per fit
    assert result.gap == pytest.approx(result.optimal_value - result.value) and result.last_gap >= 0
    assert result.episodes == 5 * 2 and result.seconds > 0
    assert result.certificate is None or result.certificate >= result.gap
    bill = result.bill.asdict()
    assert (bill["SL"], bill["PE"], bill["PP"], bill["CP"]) == (10, 5, 0, 0) and "accuracy" in bill
    assert result.last_policy.probabilities.shape == problem.shape and result.coverage is not None
    rng = np.random.default_rng(0)
    assert result.last_policy.act(0, 0, rng) in range(problem.actions)
    assert result.policy.sample(rng).act(1, 0, rng) in range(problem.actions)
    assert {"iteration", "episodes", "gap", "last_gap", "seconds"} <= result.history[-1].keys()
    free = optac.solve(problem, "flambe", episodes=200, seed=0)
    assert free.plan(problem.rewards).probabilities.shape == problem.shape and free.gap == free.last_gap


def test_fourier_features_have_their_shapes() -> None:
    features = optac.ConditionalFourierFeatures(state_dim=1, frequencies=8, radius=4.0, seed=0)
    samples, states = np.zeros((3, 5, 1)), np.zeros((2, 1))
    assert features.mu(states).shape == (2, 16) and features.phi(samples).shape == (3, 16)
    assert features.density(samples, states).shape == (3, 2)


def test_agents_and_tasks_have_their_names_settings_and_methods() -> None:
    assert list(registry.ours("agent")) == ["sac", "crffsac", "crffsac-bonus", "td7sac"]
    for name in registry.ours("agent"):
        settings = record_of(name).settings
        known = {field.name for field in fields(settings)}
        wanted = "preset learning_starts batch_size width eval_every eval_episodes checkpoint_every"
        assert set(wanted.split()) <= known and {"default", "plain", "paper"} <= settings.PRESETS.keys()
    for kind in (optac.Agent, optac.SAC, optac.CRFFSAC):
        for method in ("learn", "predict", "evaluate", "save", "load", "export", "plot"):
            assert callable(getattr(kind, method))
    for task in TASKS:
        assert gymnasium.spec(f"optac/{task}-v0").id == f"optac/{task}-v0"
    assert callable(optac.load) and callable(optac.numpy_policy.load)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_its_options(name: str) -> None:
    (commands,) = [one.choices for one in build_parser()._actions if isinstance(one.choices, dict)]
    assert set(commands) == set(COMMANDS)
    known = {option for action in commands[name]._actions for option in action.option_strings}
    assert {*EVERYWHERE.split(), *COMMANDS[name].split()} <= known


def test_studies_and_benches_have_their_names() -> None:
    known = "opt-ac rank table1 scaling oracles crff-rates misspecified rich-lock table2 training-curves"
    assert set(known.split()) <= studies().keys()
    assert {"theory", "agents", "sweep", "start"} <= BENCHES.keys()


def test_packages_register_their_parts_under_the_documented_groups() -> None:
    kinds = {
        "problem": "problems",
        "model class": "model_classes",
        "algorithm": "algorithms",
        "agent": "agents",
    }
    for kind, group in kinds.items():
        assert registry.GROUPS[kind] == f"optac.{group}"


def test_json_has_the_keys_that_scripts_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "combination-lock", "horizon=2", "actions=2", "--iterations", "2"]
    assert main([*words, "--out", str(tmp_path / "run"), "--json"]) == 0
    solved = "problem algorithm seed episodes optimal_value value gap last_gap certificate bill seconds"
    assert set(solved.split()) <= json.loads(capsys.readouterr().out).keys()
    assert {"config.json", "metrics.jsonl", "checkpoints", "status.json"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }
    trained = "agent environment seed steps mean_reward std_reward episodes parameters_sha256 exact steps_per_second"
    assert set(trained.split()) <= {field.name for field in fields(TrainingResult)}
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0 and re.fullmatch(r"optac \d+\.\d+\.\d+\n", capsys.readouterr().out)
    assert metadata.version("optac")
