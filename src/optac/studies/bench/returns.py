"""`optac bench returns`: what a user buys, the return after some CPU-minutes on one core, at everybody's own defaults.

Every training is a process of its own, pinned to one core with one thread, that ends when its CPU time is used up
(cpu_training.py says what counts). Nothing compiled before is at hand for any of them. One row a training, written
when it is finished: what is stopped goes on with the trainings that have no row. Seed by seed, so that the comparison
is balanced wherever it stops. CPU time of two processors can't be compared, so a seed's trainings on one task count
where one processor made them all: on another one, what others have begun is begun anew.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from multiprocessing import current_process
from pathlib import Path
from typing import Any, Final

from optac.errors import InvalidInput, RunFailed, installing, require_known
from optac.provenance import all_versions, processor, source_hash
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row
from optac.settings import read
from optac.studies.bench.agents import ONE_THREAD
from optac.studies.bench.cpu_training import Training
from optac.sweeps.cells import Cell, cell, run_study
from optac.terminal import progress, show_table

TASKS: Final = ("HalfCheetah-v5", "Hopper-v5")
MINUTES, SEEDS, EVALUATIONS, EPISODES = 20, 3, 10, 10
MOST_SEEDS: Final = 1_000
DEFAULT_OUT: Final = Path("runs/bench")


@dataclass(frozen=True)
class Contender:
    """Who trains: one of our agents, or a peer's learner that a module of peers/ trains."""

    title: str
    packages: tuple[str, ...] = ()
    module: str = ""
    needs: str = ""

    def is_installed(self) -> bool:
        """Whether its library is."""
        return not self.needs or find_spec(self.needs) is not None


_PEERS: Final = "optac.studies.bench.peers.sb3_learners"
_SBX: Final = ("sbx-rl", "stable-baselines3", "torch", "jax", "flax")
CONTENDERS: Final = {
    "crffsac": Contender("optac cRFFSAC"),
    "sac": Contender("optac SAC"),
    "sbx-crossq": Contender("SBX CrossQ", _SBX, _PEERS, "sbx"),
    "sbx-sac": Contender("SBX SAC", _SBX, _PEERS, "sbx"),
    "sb3-sac": Contender(
        "Stable-Baselines3 SAC", ("stable-baselines3", "torch"), _PEERS, "stable_baselines3"
    ),
}


def cells(
    contenders: Sequence[str],
    tasks: Sequence[str],
    seeds: int,
    rows: Sequence[Mapping[str, Any]] = (),
    **how: Any,
) -> list[Cell]:
    """Every contender on every task once, seed by seed; but for what `rows` have, where one processor made it all."""
    names = dict.fromkeys(contenders)
    whole = {
        where
        for where, made in on_one_processor(rows).items()
        if {row["contender"] for row in made} >= set(names)
    }
    return [
        cell(
            trained,
            f"{task} {name} seed={seed} on {processor()}",
            contender=name,
            task=task,
            seed=seed,
            **how,
        )
        for seed in range(seeds)
        for task in dict.fromkeys(tasks)
        if (task, seed) not in whole
        for name in names
    ]


def on_one_processor(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    """Of each task and seed the rows of the processor that made most of them."""
    found: dict[tuple[str, int], dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        found.setdefault((row["task"], row["seed"]), {}).setdefault(row["processor"], []).append(row)
    return {where: max(made.values(), key=len) for where, made in found.items()}


def measure(
    *,
    out: Path | None = None,
    minutes: int | float = MINUTES,
    seeds: int = SEEDS,
    tasks: Sequence[str] = TASKS,
    contenders: Sequence[str] = tuple(CONTENDERS),
    jobs: int = 1,
    evaluations: int = EVALUATIONS,
    episodes: int = EPISODES,
    peer_python: str | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """Make the trainings that have no row yet in the folder `returns` of `out`; what all that are there came to."""
    import gymnasium

    import optac.agents  # noqa: F401  says at once what is not installed, before a training fails over it
    from optac.studies.bench.returns_report import draw, summary

    require_known("contender", contenders, CONTENDERS)
    read("seeds", seeds, int, least=1, most=MOST_SEEDS)
    for name, number in (("evaluations", evaluations), ("episodes", episodes)):
        read(name, number, int, least=1, most=1_000)
    read("minutes", minutes, float, above=0, most=1e6)
    for task in tasks:
        try:
            gymnasium.spec(task)
        except gymnasium.error.Error as error:
            raise InvalidInput(f"{task} is no task of Gymnasium's: {error}") from None
    how = {"minutes": float(minutes), "evaluations": evaluations, "episodes": episodes}
    installed = [name for name in contenders if CONTENDERS[name].is_installed()]
    if not installed:
        raise InvalidInput(
            f"no contender of {', '.join(contenders)} is there: {installing('bench')} installs it"
        )
    folder = (out or DEFAULT_OUT) / "returns"
    made = RunFolder.open(folder).rows() if (folder / "config.json").exists() else []
    planned = cells(installed, tasks, seeds, made, **how, code=source_hash())
    config = {"kind": "bench", "bench": "returns", "command": "optac bench returns", **how}
    with progress("trainings", len(planned), quiet=quiet) as advance:
        run_study(
            folder.resolve(), config | {"versions": all_versions()}, planned, jobs=jobs, progress=advance
        )
    rows = RunFolder.open(folder).rows()
    draw(rows, folder / "returns.png")
    return {
        "bench": "returns",
        **how,
        "rows": len(rows),
        "folder": str(folder),
        "missing": [CONTENDERS[name].title for name in contenders if name not in installed],
        "tasks": summary(rows),
    }


def trained(
    contender: str,
    task: str,
    seed: int,
    minutes: float,
    evaluations: int,
    episodes: int,
    settings: Mapping[str, Any] | None = None,
    code: str | None = None,
) -> Row:
    """One training in a process of its own: its row; refused where it ran other code than that of the hash `code`.

    `settings` are beyond the defaults of an agent of ours.
    """
    chosen, core = CONTENDERS[contender], _core()
    training = Training(
        contender,
        task,
        seed,
        cpu_seconds=60 * minutes,
        evaluations=evaluations,
        episodes=episodes,
        settings=dict(settings or {}),
        module=chosen.module,
        packages=chosen.packages,
        parent=os.getpid(),
        core=core,
    )
    load = os.getloadavg()[0]
    # A folder of its own: MuJoCo leaves its log in the working directory of a peer that loads HalfCheetah's file.
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run(
            [sys.executable, "-m", "optac.studies.bench.cpu_training"],
            input=json.dumps(asdict(training)),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            env=fresh_environment(),
            check=False,
        )
        if done.returncode != 0:
            errors.seek(0)
            raise RunFailed(
                f"{contender} on {task}, seed {seed}, ended with exit code {done.returncode}\n{errors.read()[-2000:]}"
            )
    made = json.loads(done.stdout)
    if made.pop("code") != (code or source_hash()):
        raise RunFailed(
            f"the code changed while {contender} was trained on {task}, seed {seed}: measure from a clone that stays"
        )
    row = {"contender": contender, "task": task, "seed": seed}
    return {**row, **made, "load_average": [load, os.getloadavg()[0]], "processor": processor()}


def fresh_environment() -> dict[str, str]:
    """One thread, and no code that an earlier process compiled: each training pays for its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    return {**kept, **ONE_THREAD, "OPTAC_COMPILATION_CACHE": "off"}


def _core() -> int:
    """A core for this process's training, another for each job of a pool."""
    cores = sorted(os.sched_getaffinity(0))
    number = current_process().name.rpartition("-")[2]  # SpawnProcess-2 is the second job
    return cores[(int(number) - 1) % len(cores) if number.isdigit() else 0]


def show(measured: dict[str, Any]) -> None:
    """Print the results of `bench returns`."""
    from optac.studies.bench.returns_report import COLUMNS, lines

    for task, found in measured["tasks"].items():
        title = f"{task}: after {measured['minutes']:g} CPU-minutes on one core, median (least–most) of seeds"
        show_table(title, COLUMNS, lines(found))
        print()
    print(f"rows and the curves against CPU time: {measured['folder']}")
    for name in measured["missing"]:
        print(f"{name} was left out: {installing('bench')} installs it")
