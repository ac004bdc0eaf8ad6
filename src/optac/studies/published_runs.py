"""Running what a study's records do not hold yet: a sweep whose finished runs are published as they end."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from optac.runs.publishing import is_published, publish
from optac.sweeps.launcher import Watching, run_sweep
from optac.sweeps.local_executor import Executor
from optac.sweeps.plan import Sweep
from optac.sweeps.standing import run_standing


def missing_runs(sweep: Sweep, results: Path) -> list[str]:
    """The ids of the runs that have no record in `results`."""
    return [run.id for run in sweep.runs if not is_published(run.id, results)]


def reproduce_runs(
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
    for name in missing_runs(sweep, results):
        if (
            run_standing(work / name).state == "finished"
        ):  # finished before, and killed before it was published
            publish(work / name, results)
    missing = missing_runs(sweep, results)
    if missing:
        watching = watching or Watching()
        run_sweep(
            replace(sweep, runs=tuple(run for run in sweep.runs if run.id in missing)),
            work,
            executor(),
            retries=retries,
            minutes=minutes,
            watching=replace(watching, finished=lambda path: _published(path, results, watching)),
            measured=[results / run.id for run in sweep.runs],
        )
    return set(missing_runs(sweep, results))


def _published(run: Path, results: Path, watching: Watching) -> None:
    watching.finished(run)
    watching.say(f"published as {publish(run, results)}")
