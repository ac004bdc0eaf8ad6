"""What a checkpoint or a snapshot keeps of config.json, to tell later whether it is still the same run."""

from collections.abc import Mapping
from typing import Any, Final

from optac.errors import RunFailed
from optac.runs.folder import CIRCUMSTANCES, RunFolder
from optac.runs.json_files import Row

ASKED: Final = "steps_asked"
"""config.json, once more steps were asked for: every number of steps that was, in order"""

STOP: Final = "stop_on_reward"
"""config.json: the mean return of an evaluation at which the training stops; `optac resume` may change it"""
_OPEN: Final = (*CIRCUMSTANCES, "command", ASKED, STOP)


def sealed_config(config: Mapping[str, Any]) -> Row:
    """All of a configuration that decides what is run."""
    return {name: value for name, value in config.items() if name not in _OPEN}


def refuse_changed(folder: RunFolder, saved: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """RunFailed where config.json is not the one that the run was saved with: both values are named."""
    then, now = _flat(saved), _flat(sealed_config(config))
    for name in [*then, *(name for name in now if name not in then)]:
        before, after = _said(name, then), _said(name, now)
        if before != after:
            more = " more steps are asked for by `optac resume DIR --steps N`;" if name == "steps" else ""
            raise RunFailed(
                f"{folder.config_path} says {after}, but the run was saved with {before};{more} put it back, or start "
                f"another run with `optac {config['kind']}`"
            )


def _flat(config: Mapping[str, Any]) -> Row:
    settings = {f"settings.{name}": value for name, value in config["settings"].items()}
    return {**{name: value for name, value in config.items() if name != "settings"}, **settings}


def _said(name: str, config: Row) -> str:
    return f"{name.removeprefix('settings.')}={config[name]!r}" if name in config else f"no {name}"
