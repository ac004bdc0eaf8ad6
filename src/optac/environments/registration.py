"""The ids of the paper's six tasks and of a sparse one, and how an environment is made from its id."""

import copy
import json
import os
import re
import sys
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from optac.errors import InvalidInput, OptacError, unknown_name
from optac.registry import imported
from optac.settings import assignments
from optac.words import parted, plain, quoted


@dataclass(frozen=True)
class TaskEntry:
    """A task: the module and class here, how long an episode lasts, and one line about it."""

    place: str
    episode_steps: int
    summary: str


TASKS = {
    "optac/Ant-v0": TaskEntry(
        "mujoco_tasks:Ant", 1000, "run forward on four legs; falling does not end the episode"
    ),
    "optac/HalfCheetah-v0": TaskEntry("mujoco_tasks:HalfCheetah", 1000, "run forward on two legs"),
    "optac/Hopper-v0": TaskEntry(
        "mujoco_tasks:Hopper", 1000, "hop forward on one leg; falling does not end the episode"
    ),
    "optac/Reacher-v0": TaskEntry(
        "mujoco_tasks:Reacher", 50, "bring a two-link arm's fingertip to a random target"
    ),
    "optac/InvertedPendulum-v0": TaskEntry("mujoco_tasks:InvertedPendulum", 100, "balance a pole on a cart"),
    "optac/Pendulum-v0": TaskEntry(
        "pendulum:Pendulum", 200, "bring a swinging pendulum to rest, hanging down"
    ),
}

SPARSE = {
    "optac/SparseSwingUp-v0": TaskEntry(
        "pendulum:SparseSwingUp", 200, "swing a hanging pendulum up; nothing is paid before it is there"
    ),
}
"""not the paper's: where a bonus is to show what it is for"""

# Gymnasium ids whose model file makes MuJoCo 4 warn and write MUJOCO_LOG.TXT into the working directory.
_CLEAN = {"HalfCheetah-v4": "HalfCheetahV4", "HalfCheetah-v5": "HalfCheetahV5"}


def register_tasks() -> None:
    """Make the ids known to Gymnasium; doing it again changes nothing."""
    for name, task in (TASKS | SPARSE).items():
        if name not in gymnasium.registry:
            entry_point = f"optac.environments.{task.place}"
            gymnasium.register(name, entry_point=entry_point, max_episode_steps=task.episode_steps)


def environment_name(words: str) -> str:
    """An environment in its one form: its id, then its arguments `name=value` in the order of their names."""
    name, kwargs = _parted(words)
    texts = {key: _quoted(value) if isinstance(value, str) else _text(value) for key, value in kwargs.items()}
    return " ".join([name, *(f"{key}={texts[key]}" for key in sorted(texts))])


def make(words: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    """`gymnasium.make(id, **arguments)` of `words`, an id that `name=value` may follow: "Pendulum-v1 g=9.0".

    With optac's errors and without HalfCheetah's model warning. As there, `module:id` imports the module first, which
    is to register the id. A value is true, false, none, a number, a list in brackets without spaces, or text.
    """
    register_tasks()
    name, kwargs = _parted(words)
    settings |= kwargs
    module, _, name = name.rpartition(":")
    if module:
        imported(module, f"the module that is to register {name!r}")
    try:
        spec = gymnasium.spec(name)
        env = gymnasium.make(_clean(spec), **settings)
    except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound) as error:
        raise unknown_name("environment", name, gymnasium.registry) from error
    except (gymnasium.error.Error, ImportError) as error:
        raise InvalidInput(f"environment {name!r} cannot be made: {error}") from error
    except OptacError:
        raise
    except (Exception, SystemExit) as error:  # whatever an environment's own code may raise
        # Importing MuJoCo already loads the graphics library that MUJOCO_GL names.
        if "MUJOCO_GL" in os.environ and "mujoco" not in sys.modules:
            raise InvalidInput(
                f"MuJoCo does not load with MUJOCO_GL={os.environ['MUJOCO_GL']} ({error}); unset it "
                "or install that graphics library (on Debian libegl1 for egl, libosmesa6 for osmesa)."
            ) from error
        raise InvalidInput(
            f"environment {name!r} cannot be made: it raised {type(error).__name__}: {error}"
        ) from error
    if "mujoco" in sys.modules:
        from optac.environments.clean_model import keep_log_on_the_console

        keep_log_on_the_console()
    return env


def _parted(words: str) -> tuple[str, dict[str, Any]]:
    """The id, and the arguments that follow it."""
    name, *given = parted(words)
    kwargs = assignments(given, "parameter of an environment")
    return name, {key: _value(value) for key, value in kwargs.items()}


def _quoted(text: str) -> str:
    """Text as it is, in quotes where it would else be parted or read as something else."""
    if plain(text) == text and not re.search(r"[\s'\"]|^\[", text):
        return text
    return quoted(text)


def _text(value: Any) -> str:
    """The one way to write a value that is not text."""
    return "none" if value is None else json.dumps(value, separators=(",", ":"))


def _value(text: str) -> Any:
    """The value of an argument; what begins as a list in JSON is one."""
    if not text.startswith("["):
        return plain(text)
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not a list ({error}); write one as [1.0,2.0]") from error


def _clean(spec: EnvSpec) -> EnvSpec:
    if spec.id not in _CLEAN:
        return spec
    clean = copy.deepcopy(spec)
    clean.entry_point = f"optac.environments.clean_cheetah:{_CLEAN[spec.id]}"
    return clean
