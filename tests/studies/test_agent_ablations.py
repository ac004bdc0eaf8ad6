"""The recipe one ingredient at a time: what is run, and what is said of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from optac.agents import crffsac
from optac.agents.settings import AgentSettings
from optac.cli import main
from optac.studies.agent_ablations.cells import STEPS, sweep, variants
from optac.studies.agent_ablations.report import TABLE, effects_markdown


def test_every_ingredient_is_taken_out_of_one_agent_and_put_into_the_other() -> None:
    runs = [run for run in sweep(seeds=1).runs if run.config["environment"] == "optac/Hopper-v0"]
    whole = crffsac.Settings()
    out = [run.config["changed"] for run in runs if run.config["settings"]["preset"] == "default"]
    ingredients = {name for name in crffsac.Settings.PRESETS["plain"] if not name.startswith("bonus")}
    assert {name for changed in out for name in changed} == ingredients | {
        *("feature_learning_rate", "n_step", "target_entropy")
    }
    assert all(len(changed) <= 1 for changed in out)
    for name, value in ((name, value) for changed in out for name, value in changed.items()):
        assert value != getattr(whole, name), f"{name} is not changed"
    into = [run.config["changed"] for run in runs if run.config["settings"]["preset"] == "plain"]
    added = {name: value for changed in into for name, value in changed.items()}
    assert added == {name: getattr(AgentSettings(), name) for name in AgentSettings.PRESETS["plain"]}
    assert len(runs) == len(list(variants())) == len({run.id for run in runs})
    assert {run.config["environment"]: run.total for run in sweep().runs} == STEPS
    assert {run.config["seed"] for run in sweep().runs} == {50, 51}, "seeds the recipe was not chosen on"
    plain = [run.id for run in sweep(seeds=1, environments=["optac/Hopper-v0"], preset="plain").runs]
    assert len(plain) == len(set(plain)) == 5, "whole and without it are the same runs there"


def test_a_run_of_it_is_a_line_of_its_table(
    published: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    plan = sweep(environments=["optac/InvertedPendulum-v0"], seeds=1)
    for run, level in zip(plan.runs[:2], (-0.05, -3.0), strict=True):
        results = published(run, [-200.0, -100.0, -0.05, -0.05, -0.05, -0.05, level])
    out = str(results)
    assert main(["reproduce", "agent-ablations", "--out", out, "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["missing"]) == len(sweep().runs) - 2
    assert TABLE.write_page(results) is not None
    (first, second) = (results / "report" / "agent-ablations.md").read_text().splitlines()[2:]
    assert first.startswith("| InvertedPendulum | cRFFSAC | default |") and "0 of 6 (1 run)" in first
    assert second.startswith("| InvertedPendulum | cRFFSAC | plain |") and "1 of 6 (1 run)" in second
    assert "One ingredient at a time" in (results / "report.html").read_text()


def test_a_change_is_held_against_the_same_agent_without_it_on_the_seeds_that_both_have(
    published: Callable[..., Path],
) -> None:
    """By hand: seed 51 of the whole recipe is not there, so that n_step's is held against nothing."""
    levels = {
        ("crffsac", "default", ()): {
            "optac/Hopper-v0": {50: 100.0},
            "optac/InvertedPendulum-v0": {50: -2.0, 51: -1.0},
        },
        ("crffsac", "default", ("n_step",)): {"optac/Hopper-v0": {50: 90.0, 51: 900.0}},
        ("crffsac", "default", ("normalise",)): {
            "optac/Hopper-v0": {50: 130.0},
            "optac/InvertedPendulum-v0": {50: -2.5, 51: -1.25},
        },
        ("sac", "default", ()): {"optac/Hopper-v0": {50: 60.0}},
        ("sac", "plain", ()): {"optac/Hopper-v0": {50: 40.0, 51: 50.0}},
        ("sac", "plain", ("huber_loss",)): {"optac/Hopper-v0": {50: 30.0, 51: 70.0}},
    }
    for run in sweep().runs:
        config = run.config
        variant = config["agent"], config["settings"]["preset"], tuple(config["changed"])
        level = levels.get(variant, {}).get(config["environment"], {}).get(config["seed"])
        if level is not None:
            results = published(run, [level - 5.0, level + 5.0])
    assert effects_markdown(TABLE.groups(results)).splitlines()[2:] == [
        "| cRFFSAC | n_step=3 |  | −10 |  | 1 of 1 |",
        "| cRFFSAC | no φ: SAC with the recipe |  | −40 |  | 1 of 1 |",
        "| cRFFSAC | normalise=False |  | +30 | −0.38 | 2 of 3 |",
        "| SAC | huber_loss=True |  | +5 |  | 1 of 2 |",
        "| SAC | the whole recipe: preset=default |  | +20 |  | 0 of 1 |",
    ]
