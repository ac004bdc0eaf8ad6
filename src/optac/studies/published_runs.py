"""A study's training runs: which there are, and running those that its records do not hold yet.

They are a sweep whose finished runs are published as they end.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from optac.errors import require_known
from optac.runs.publishing import is_published, publish
from optac.settings import read
from optac.sweeps.launcher import Watching, run_sweep
from optac.sweeps.local_executor import Executor
from optac.sweeps.plan import MOST_RUNS, Sweep, SweptRun, sweep_of
from optac.sweeps.standing import run_standing


def planned(
    name: str,
    lengths: Mapping[str, int],
    variants: Iterable[tuple[str, Mapping[str, Any]]],
    *,
    environments: Sequence[str] | None,
    seeds: int,
    steps: int | None,
    first: int = 0,
) -> Sweep:
    """Every variant, an agent with settings, in every task: seed by seed, so that it is balanced wherever it stops.

    `lengths` has the tasks with their steps; `environments`, `seeds` and `steps` ask for fewer of them. Seeds are
    `first` and those after it.
    """
    chosen = list(lengths) if environments is None else list(environments)
    require_known(f"task of {name}", chosen, lengths)
    read("seeds", seeds, int, least=1, most=MOST_RUNS)
    variants, runs = list(variants), list[SweptRun]()
    numbers = list(range(first, first + seeds))
    for environment in chosen:
        length = lengths[environment] if steps is None else steps
        for agent, settings in variants:
            axes = {"environments": [environment], "agents": [agent], "seeds": numbers, "steps": length}
            runs += sweep_of(name, {"sweep": axes, "settings": dict(settings)}).runs
    once = {run.id: run for run in runs}.values()  # two variants may come to the same settings
    given = {"environments": chosen, "seeds": seeds, "steps": steps}
    return Sweep(name, {"study": given}, tuple(sorted(once, key=lambda run: int(run.config["seed"]))))


def missing_runs(sweep: Sweep, results: Path) -> list[str]:
    """The ids of the runs that have no record in `results`."""
    return [run.id for run in sweep.runs if not is_published(run.id, results, _determining(run.config))]


def reproduce_runs(
    sweep: Sweep,
    work: Path,
    results: Path,
    executor: Callable[[], Executor],
    watching: Watching | None = None,
    *,
    retries: int = 2,
    minutes: int | float | None = None,
) -> set[str]:
    """Run in `work` what has no record in `results` yet, and publish each run as it ends; the ids still missing."""
    work, results = work.resolve(), results.resolve()
    for name in missing_runs(sweep, results):
        if run_standing(work / name).state == "finished":  # killed before it was published
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


def _determining(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a run's result depends on."""
    from optac.agents.record import record_of

    names = record_of(config["agent"]).settings.determining_names()
    return {name: value for name, value in config["settings"].items() if name in names}


def _published(run: Path, results: Path, watching: Watching) -> None:
    watching.finished(run)
    watching.say(f"published as {publish(run, results)}")
