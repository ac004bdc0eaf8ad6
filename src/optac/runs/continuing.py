"""Taking up a training: the configuration is the one it was saved with, and more steps are asked for openly."""

from collections.abc import Mapping
from typing import Any, Final

from optac.agents.record import record_of
from optac.agents.training import checkpoint, checkpoints
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.loop import ends_like_a_longer_run
from optac.errors import InvalidInput, RunFailed
from optac.runs.folder import CIRCUMSTANCES, RunFolder
from optac.runs.json_files import Row, write_json
from optac.settings import read

ASKED: Final = "steps_asked"
"""config.json, once more steps were asked for: every number of steps that was, in order"""


def sealed_config(config: Mapping[str, Any]) -> Row:
    """All of a configuration that a checkpoint keeps, to tell later whether it is still the same."""
    return {name: value for name, value in config.items() if name not in (*CIRCUMSTANCES, "command", ASKED)}


def refuse_another(folder: RunFolder, config: Mapping[str, Any], found: Checkpoint | None) -> None:
    """RunFailed where config.json is not the one that the checkpoint was made with: both values are named."""
    if found is None:
        return
    with checkpoint.read_as_ours(found):
        then = _flat(found.meta["config"])
    now = _flat(sealed_config(config))
    if then["steps"] in config.get(ASKED, [])[:-1] and config[ASKED][-1] == config["steps"]:
        then["steps"] = now["steps"]
    for name in [*then, *(name for name in now if name not in then)]:
        before, after = _said(name, then), _said(name, now)
        if before != after:
            more = " more steps are asked for by `optac resume DIR --steps N`;" if name == "steps" else ""
            raise RunFailed(
                f"{folder.config_path} says {after}, but the run was saved with {before};{more} put it back, or start "
                "another run with `optac train`"
            )


def with_more_steps(folder: RunFolder, config: Row, steps: int) -> Row:
    """The configuration that goes on to `steps`, recorded in the folder.

    A checkpoint at the old end that a longer run would not have come by (a block cut short, a row that was not due) is
    put out of the way, so that the run ends as one that was asked for `steps` at once.
    """
    read("steps", steps, int, least=1)
    old = config["steps"]
    if steps == old:
        return config
    if steps < old:
        raise InvalidInput(
            f"--steps {steps}: {folder.path} was asked for {old} steps; give a number above that"
        )
    settings = record_of(config["agent"]).choose(config["settings"])
    if not ends_like_a_longer_run(settings, old):
        checkpoints.put_away(checkpoints.checkpoint_path(folder.checkpoints, old))
    longer = {**config, "steps": steps, ASKED: [*config.get(ASKED, [old]), steps]}
    folder.check()
    write_json(folder.config_path, longer)
    return longer


def _flat(config: Mapping[str, Any]) -> Row:
    settings = {f"settings.{name}": value for name, value in config["settings"].items()}
    return {**{name: value for name, value in config.items() if name != "settings"}, **settings}


def _said(name: str, config: Row) -> str:
    return f"{name.removeprefix('settings.')}={config[name]!r}" if name in config else f"no {name}"
