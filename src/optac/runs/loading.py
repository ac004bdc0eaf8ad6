"""`optac.load`: whatever a folder holds, as Python has it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optac import registry
from optac.errors import InvalidInput, RunFailed
from optac.plain_files import is_there, read_plain
from optac.runs.command_lines import solve_command
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row, read_json_object
from optac.runs.kinds import SOLVE, kind_of
from optac.runs.solve_snapshots import FOREIGN, NotPacked, of_npz

if TYPE_CHECKING:
    from optac.algorithms import Result


def load(
    path: Path | str, env: Any = None, *, agent: Any = None, threads: int = 1, trust: bool = False
) -> Any:
    """The agent of a training's folder, of one of its checkpoints or of `agent.save`; the result of a solve's folder.

    An agent comes as its own class (`optac.SAC`, `optac.CRFFSAC`, else `optac.Agent`), and `learn` goes on from where
    it was saved. `env` is needed where it was made for an environment without an id, `agent` (a module or record) where
    it has no registered name. Code that only the folder names is imported with `trust` alone.
    """
    if (Path(path) / "config.json").is_file() and kind_of(RunFolder.open(path).config) is SOLVE:
        if env is not None or agent is not None:
            raise InvalidInput(f"{path} is a solve: it has no env and no agent to choose")
        return read_result(path, trust=trust)
    from optac.agents.agent import Agent

    return Agent.load(path, env, agent=agent, threads=threads, trust=trust)


def read_result(path: Path | str, *, trust: bool = False) -> "Result":
    """The result of a finished solve, as `solve` returned it; its model is the fitted factors alone.

    An algorithm that only the folder names is imported with `trust` alone.
    """
    from optac.algorithms import Result
    from optac.algorithms.protocol import load_algorithm
    from optac.mdp import MixturePolicy
    from optac.runs.solving import RESULT

    folder = RunFolder.open(path)
    config = SOLVE.config_of(folder)
    if not folder.is_finished or not is_there(folder.path / RESULT):
        what = f"has no {RESULT}" if folder.is_finished else "is not finished"
        raise InvalidInput(f"{folder.path} {what}; run it (again): {solve_command(config)}")
    try:
        kept = dict(of_npz(read_plain(folder.path / RESULT)))
    except (*FOREIGN, NotPacked) as error:
        raise RunFailed(f"{folder.path / RESULT} is damaged: {error}; solve again") from error
    with registry.named_by(folder.config_path, trust=trust):
        algorithm = load_algorithm(config["algorithm"])
    try:
        members, mixed = list(kept.pop("members")), kept.pop("mixed")
        return Result(
            **kept,
            policy=MixturePolicy(members, size=mixed, policy=_policy_like(kept["last_policy"])),
            settings=algorithm.Settings(**config["constants"]),
            seconds=read_json_object(folder.path / "result.json")["time/seconds"],
            history=[_returned(row) for row in folder.rows()],
        )
    except (AttributeError, LookupError, TypeError) as error:
        raise RunFailed(
            f"{folder.path} holds no result of this version of optac ({error}); solve again: {solve_command(config)}"
        ) from error


def _policy_like(last: Any) -> Any:
    """What makes a policy of a member: of a table what the last policy is, of one that reads observations itself."""
    from optac.mdp import TabularPolicy
    from optac.mdp.grid import GridPolicy

    if isinstance(last, GridPolicy):
        return partial(GridPolicy, grid=last.grid)
    return TabularPolicy if isinstance(last, TabularPolicy) else lambda member: member


def _returned(row: Row) -> Row:
    return {name if name != "time/seconds" else "seconds": value for name, value in row.items()}
