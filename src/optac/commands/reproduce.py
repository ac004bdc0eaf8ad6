"""`optac reproduce`: studies of many small runs, and of training runs."""

import argparse
import os
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_everywhere, answer, is_quiet
from optac.commands.sweep import add_launching, executor_of, limits_of, show_standing, standing_json, watched
from optac.errors import InvalidInput
from optac.studies.catalogue import studies, study_named
from optac.studies.published_runs import missing_runs, reproduce_runs
from optac.studies.study import Study, TrainingStudy
from optac.sweeps.standing import SweepStanding, run_standing
from optac.terminal import progress

LESS = ("steps", "seeds", "environments", "preset")


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    out = "where its rows or records go (default: results/NAME); trainings are at work in runs/NAME"
    add_everywhere(parser, out=out)
    names = "names from `optac list`, section studies"
    parser.add_argument("studies", nargs="+", metavar="NAME", help=names)
    parser.add_argument("--dry-run", action="store_true", help="list what is missing, and run nothing")
    enough = (
        "start nothing after so many minutes, nor a training that cannot end by then; report what is there"
    )
    parser.add_argument("--minutes", type=float, metavar="M", help=enough)
    add_launching(parser)
    less = parser.add_argument_group("to do less of a study of trainings")
    less.add_argument("--steps", type=int, metavar="N", help="steps of every run (default: the task's)")
    less.add_argument("--seeds", type=int, metavar="N", help="the study's first N seeds (default: all)")
    less.add_argument("--environments", nargs="+", metavar="ENV", help="these tasks (default: all)")
    less.add_argument("--preset", metavar="NAME", help="the agents' preset (default: the study's)")


def run(arguments: argparse.Namespace) -> int:
    """One study after the other."""
    chosen = [study_named(name) for name in arguments.studies]
    if len(chosen) > 1 and (arguments.out or arguments.json):
        raise InvalidInput("--out and --json go with one NAME; run `optac reproduce` once for each")
    for study in chosen:
        for name in (*LESS, "ray", "retries"):
            if isinstance(study, Study) and getattr(arguments, name) is not None:
                trainings = [name for name, one in studies().items() if isinstance(one, TrainingStudy)]
                raise InvalidInput(f"--{name} goes with {', '.join(trainings)}, not with {study.name}")
    codes = [
        _cells(arguments, one) if isinstance(one, Study) else _trainings(arguments, one) for one in chosen
    ]
    return max(codes)


def _list_missing(arguments: argparse.Namespace, name: str, missing: list[str]) -> int:
    lines = [f"{name}: {len(missing)} to run", *(f"  {run}" for run in missing)]
    answer(arguments, {"study": name, "missing": missing}, lambda: print("\n".join(lines)))
    return 0


def _cells(arguments: argparse.Namespace, study: Study) -> int:
    if arguments.dry_run:
        return _list_missing(arguments, study.name, study.missing(arguments.out))
    total, path = len(study.cells()), arguments.out or study.results
    jobs = (os.cpu_count() or 1) if arguments.jobs is None else arguments.jobs
    with progress(study.name, total, quiet=is_quiet(arguments)) as advance:
        rows = study.reproduce(path, jobs=jobs, minutes=arguments.minutes, progress=advance)
    report = study.write_report(rows, total, path)
    said = {"study": study.name, "rows": len(rows), "of": total, "out": str(path), "report": str(report)}
    text = report.read_text(encoding="utf-8")
    answer(arguments, said, lambda: print(f"{text}\nwritten to {path}"))
    return 0


def _trainings(arguments: argparse.Namespace, study: TrainingStudy) -> int:
    """At work in runs/NAME; the records of the finished ones go to results/NAME.

    A run's name does not say how many steps it has, so runs of other lengths have folders of their own.
    """
    less = {name: getattr(arguments, name) for name in LESS if getattr(arguments, name) is not None}
    sweep = study.sweep(**less)
    name = study.folder if arguments.steps is None else f"{study.folder}-{arguments.steps}-steps"
    results, work = arguments.out or Path("results") / name, Path("runs") / name
    if arguments.dry_run:
        return _list_missing(arguments, study.name, missing_runs(sweep, results))
    with watched(work, quiet=is_quiet(arguments)) as watching:
        missing = reproduce_runs(
            sweep, work, results, lambda: executor_of(arguments), watching, **limits_of(arguments)
        )
    standing = _standing(sweep, work, results, missing)
    report = study.report()
    written = report.write_page(results, arguments.steps)
    page = None if written is None else str(written.page)

    def show() -> None:
        show_standing(standing)
        report.show(results, arguments.steps)
        print(
            f"\nthe page with the curves: {page}" if page else "\nno run is finished yet, so there is no page"
        )

    answer(arguments, {"study": study.name, **standing_json(standing), "page": page}, show)
    return 1 if standing.count("failed") else 0


def _standing(sweep: Any, work: Path, results: Path, missing: set[str]) -> SweepStanding:
    """Of a run made here, its folder says more than its record: how many attempts it took."""
    here = {
        run.id for run in sweep.runs if run.id in missing or run_standing(work / run.id).state == "finished"
    }
    return SweepStanding(
        results,
        tuple(
            run_standing((work if run.id in here else results) / run.id, dict(run.config))
            for run in sweep.runs
        ),
    )
