"""The command that makes a run again, from its config.json alone; loads no JAX.

A configuration is read from disk and may hold anything, so every word is quoted for a shell.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from optac.errors import InvalidInput


def train_command(config: Mapping[str, Any]) -> str:
    """`optac train …` with the settings that are not the preset's own."""
    settings = config.get("settings", {})
    preset = settings.get("preset", "default")
    words = ["optac", "train", config["environment"], "--agent", config["agent"]]
    words += ["--steps", config["steps"], "--seed", config["seed"]]
    if preset != "default":
        words += ["--preset", preset]
    return _line(words + _assignments(changed_settings(config["agent"], settings)) + _paths(config))


def changed_settings(agent: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from the preset's; all of them where this version does not know them."""
    from optac.agents.record import record_of

    given = {name: value for name, value in settings.items() if name != "preset"}
    try:
        usual = asdict(record_of(agent).choose({"preset": settings.get("preset", "default")}))
    except InvalidInput:
        return given
    return {name: value for name, value in given.items() if name not in usual or usual[name] != value}


def solve_command(config: Mapping[str, Any]) -> str:
    """`optac solve …`."""
    words = ["optac", "solve", config["problem"], *_parameters(config)]
    words += ["--algorithm", config["algorithm"], "--seed", config["seed"]]
    for name in ("iterations", "episodes"):
        if config.get(name) is not None:
            words += [f"--{name}", config[name]]
    return _line(words + _preset(config) + _assignments(config.get("settings", {})) + _paths(config))


def compare_command(config: Mapping[str, Any]) -> str:
    """`optac compare …`."""
    words = ["optac", "compare", config["problem"], *_parameters(config)]
    words += ["--algorithms", *config["algorithms"], "--seeds", config["seeds"]]
    words += ["--episodes", config["episodes"], "--epsilon", config["epsilon"]]
    return _line(words + _preset(config) + _assignments(config.get("settings", {})) + _paths(config))


def _preset(config: Mapping[str, Any]) -> list[Any]:
    preset = config.get("preset", "practical")
    return [] if preset == "practical" else ["--preset", preset]


def _parameters(config: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in config.get("parameters", {}).items()]


def _assignments(settings: Mapping[str, Any]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def _paths(config: Mapping[str, Any]) -> list[Any]:
    return [word for folder in config.get("path", []) for word in ("--path", folder)]


def _line(words: Iterable[Any]) -> str:
    return shlex.join(str(word) for word in words)
