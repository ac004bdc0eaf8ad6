"""Taking up a training: the configuration is the one it was saved with, and more steps are asked for openly."""

from collections.abc import Mapping
from typing import Any

from optac.agents.record import record_of
from optac.agents.training import checkpoint
from optac.agents.training.callbacks import best_score, require_evaluations
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.loop import ends_like_a_longer_run
from optac.errors import InvalidInput, RunFailed
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row, write_json
from optac.runs.sealed_config import ASKED, STOP, refuse_changed
from optac.settings import read, whole


def refuse_another(folder: RunFolder, config: Mapping[str, Any], found: Checkpoint | None) -> None:
    """RunFailed where config.json is not the one that the checkpoint was made with: both values are named."""
    asked, stop = config.get(ASKED, []), config.get(STOP, 0.0)
    if type(stop) not in (int, float) or stop != stop:
        raise RunFailed(f"{folder.config_path} is damaged: its {STOP} is {stop!r}, no number")
    if not isinstance(asked, list) or not all(type(one) is int for one in asked) or sorted({*asked}) != asked:
        raise RunFailed(
            f"{folder.config_path} is damaged: its {ASKED} is {asked!r}, no list of more and more"
        )
    if found is None:
        return
    with checkpoint.read_as_ours(found):
        then = dict(found.meta["config"])
        if then["steps"] in asked[:-1] and asked[-1] == config["steps"]:
            then["steps"] = config["steps"]
        refuse_changed(folder, then, config)


def with_stop(folder: RunFolder, config: Row, reward: float | None, found: Checkpoint | None) -> Row:
    """The configuration that stops at this mean return, or still where it did.

    What an evaluation up to the checkpoint that was found has reached has stopped the run, and does so no more.
    """
    if reward is not None:
        require_evaluations(reward, record_of(config["agent"]).choose(config["settings"], recorded=True))
    rows = [] if found is None else _rows_up_to(found, folder)
    used_up = STOP in config and best_score(rows) >= config[STOP]
    kept = {name: value for name, value in config.items() if name != STOP or not used_up}
    return kept | stop_of(reward)


def _rows_up_to(found: Checkpoint, folder: RunFolder) -> list[Row]:
    with checkpoint.read_as_ours(found):
        step = int(found.meta["step"])
    return [row for row in folder.rows() if step_of(row, folder) <= step]


def stop_of(reward: float | None) -> Row:
    """What config.json says of it."""
    return {} if reward is None else {STOP: read(STOP, reward, float)}


def with_more_steps(folder: RunFolder, config: Row, steps: int) -> Row:
    """The configuration that goes on to `steps`."""
    whole("steps", steps)
    old = config["steps"]
    if steps == old:
        return config
    if steps < old:
        raise InvalidInput(
            f"--steps {steps}: {folder.path} was asked for {old} steps; give a number above that"
        )
    return {**config, "steps": steps, ASKED: [*config.get(ASKED, [old]), steps]}


def is_dead_end(found: Checkpoint, config: Row) -> bool:
    """Whether a checkpoint is at the end of a run that was taken further since, where a longer run has none.

    There a block was cut short, or a row was not due: from an earlier one the run ends as if it had been asked for all
    its steps at once.
    """
    asked = config.get(ASKED)
    with checkpoint.read_as_ours(found):
        step, end = int(found.meta["step"]), found.meta["config"]["steps"]
    if step != end or not isinstance(asked, list) or step not in asked[:-1]:
        return False
    settings = record_of(config["agent"]).choose(config["settings"], recorded=True)
    return not ends_like_a_longer_run(settings, step)


def record_asked(folder: RunFolder, config: Row) -> None:
    """Have config.json say what is asked for now; a run that was finished no longer is."""
    if config != folder.config:
        folder.check()
        folder.set_status("interrupted", "it was asked for more, and has not begun with it")
        write_json(folder.config_path, config)


def step_of(row: Row, folder: RunFolder) -> int:
    """The step of a row of metrics; RunFailed where it is no number."""
    step = row.get("time/total_timesteps")
    if type(step) is not int:
        raise RunFailed(
            f"{folder.metrics_path} is damaged: a row has time/total_timesteps={step!r}; remove that row and the ones "
            "after it, then resume"
        )
    return step
