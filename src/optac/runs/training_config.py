"""Everything that determines a training run, as config.json holds it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from optac.errors import InvalidInput
from optac.runs.identity import run_id
from optac.settings import changed


def training_config(
    environment: str, agent: str, *, steps: int, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The configuration with its full settings; bad input is refused."""
    from optac.agents.record import record_of

    if steps < 1:
        raise InvalidInput(f"steps={steps} must be at least 1")
    if seed < 0:
        raise InvalidInput(f"seed={seed} must be at least 0")
    return {
        "kind": "train",
        "agent": agent,
        "environment": environment,
        "steps": steps,
        "seed": seed,
        "settings": asdict(record_of(agent).choose(settings)),
    }


def training_id(config: Mapping[str, Any]) -> str:
    """The readable name of a run with this configuration, however far it goes."""
    from optac.agents.record import record_of

    agent, preset = config["agent"], config["settings"]["preset"]
    usual = record_of(agent).choose({"preset": preset})
    determining = changed(config["settings"], asdict(usual), type(usual))
    if preset != "default":
        determining["preset"] = preset
    return run_id(agent, config["environment"], determining, config["seed"])
