"""The paper's Table 2 and training curves as a sweep: six tasks, the most telling first, three agents, four seeds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from optac.errors import InvalidInput, unknown_name
from optac.runs.publishing import is_published, publish
from optac.sweeps.launcher import Watching, run_sweep
from optac.sweeps.local_executor import Executor
from optac.sweeps.plan import Sweep, SweptRun, training_sweep
from optac.sweeps.standing import run_standing

AGENTS: Final = ("sac", "crffsac", "crffsac-bonus")
SEEDS: Final = 4
STEPS: Final = {
    "optac/HalfCheetah-v0": 200_000,
    "optac/Reacher-v0": 200_000,
    "optac/Hopper-v0": 200_000,
    "optac/Ant-v0": 200_000,
    "optac/Pendulum-v0": 50_000,
    "optac/InvertedPendulum-v0": 50_000,
}
"""The two pendulums are learnt long before: a quarter of the steps shows it."""


def table2_sweep(
    *,
    environments: Sequence[str] | None = None,
    seeds: int = SEEDS,
    steps: int | None = None,
    preset: str = "default",
) -> Sweep:
    """All of it, or less: these tasks, seeds 0 … seeds − 1, so many steps."""
    chosen = list(STEPS) if environments is None else list(environments)
    for environment in chosen:
        if environment not in STEPS:
            raise unknown_name("task of Table 2", environment, STEPS)
    if seeds < 1:
        raise InvalidInput(f"seeds={seeds} is not valid; seeds must be at least 1")
    runs: list[SweptRun] = []
    for environment in chosen:
        runs += training_sweep(
            "table2",
            environments=[environment],
            agents=AGENTS,
            seeds=range(seeds),
            steps=STEPS[environment] if steps is None else steps,
            settings={"preset": preset},
        ).runs
    given = {"environments": chosen, "seeds": seeds, "steps": steps, "preset": preset}
    return Sweep("table2", {"experiment": given}, tuple(runs))


def reproduce_table2(
    sweep: Sweep,
    work: Path,
    results: Path,
    executor: Callable[[], Executor],
    *,
    retries: int = 2,
    minutes: int | float | None = None,
    watching: Watching | None = None,
) -> set[str]:
    """Run in `work` what has no record in `results` yet, and publish each run as it ends; the ids still missing."""
    for run in sweep.runs:
        # Finished before, and killed before it was published.
        if not is_published(run.id, results) and run_standing(work / run.id).state == "finished":
            publish(work / run.id, results)
    missing = tuple(run for run in sweep.runs if not is_published(run.id, results))
    if missing:
        watching = watching or Watching()
        run_sweep(
            replace(sweep, runs=missing),
            work,
            executor(),
            retries=retries,
            minutes=minutes,
            watching=replace(watching, finished=lambda path: _published(path, results, watching)),
            measured=[results / run.id for run in sweep.runs],
        )
    return {run.id for run in sweep.runs if not is_published(run.id, results)}


def _published(run: Path, results: Path, watching: Watching) -> None:
    watching.finished(run)
    watching.say(f"published as {publish(run, results)}")
