"""Everything that determines a training run, as config.json holds it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from optac import registry
from optac.settings import LARGEST, changed, read, run_id, whole


def training_config(
    environment: str, agent: str, *, steps: int, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The configuration with its full settings; bad input is refused."""
    from optac.agents.record import record_of
    from optac.environments import environment_name

    agent = registry.find("agent", agent).name
    record = record_of(agent)
    full = asdict(record.choose(settings))
    usual = asdict(record.choose({"preset": full["preset"]}))
    return {
        "kind": "train",
        "agent": agent,
        "environment": environment_name(environment),
        "steps": whole("steps", steps),
        "seed": read("seed", seed, int, least=0, most=LARGEST),
        "settings": full,
        "changed": changed(full, usual),
        "path": registry.paths(),
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
