"""The command that makes a run again, from its config.json alone.

A configuration is read from disk and may hold anything, so every word is quoted for a shell.
"""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from optac.registry import entries
from optac.runs.sealed_config import STOP


def train_command(config: Mapping[str, Any]) -> str:
    """`optac train …` with the settings that are not the preset's own; all of them where those are not recorded."""
    settings = config.get("settings", {})
    words = ["optac", "train", config["environment"], "--agent", config["agent"]]
    words += ["--steps", config["steps"], "--seed", config["seed"]]
    if STOP in config:
        words += [f"--stop-on-reward={config[STOP]}"]  # one word: it may begin with a minus
    given = {name: value for name, value in config.get("changed", settings).items() if name != "preset"}
    return _line(words + _preset(settings, "default") + _assignments(given) + _paths(config))


def resume_command(folder: Path, config: Mapping[str, Any]) -> str:
    """`optac resume …`, with the folders of a user's own code, and the word that it is trusted."""
    if config.get("kind") == "solve":
        own = ":" in config["problem"] or config["algorithm"] not in entries("algorithm")
    else:
        own = ":" in config["environment"] or config["agent"] not in entries("agent")
    return _line(["optac", "resume", folder, *_paths(config), *(["--trust"] if own else [])])


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


def _preset(chosen: Mapping[str, Any], usual: str = "practical") -> list[Any]:
    preset = chosen.get("preset", usual)
    return [] if preset == usual else ["--preset", preset]


def _parameters(config: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in config.get("parameters", {}).items()]


def _assignments(settings: Mapping[str, Any]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def _paths(config: Mapping[str, Any]) -> list[Any]:
    return [word for folder in config.get("path", []) for word in ("--path", folder)]


def _line(words: Iterable[Any]) -> str:
    return shlex.join(str(word) for word in words)
