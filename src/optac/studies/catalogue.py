"""The studies of `optac reproduce`: every folder here whose package says what study it is."""

from importlib import import_module
from pkgutil import iter_modules

import optac.studies
from optac.errors import require_known
from optac.studies.study import Study, TrainingStudy


def studies() -> dict[str, Study | TrainingStudy]:
    """Name → study."""
    names = [
        f"optac.studies.{folder.name}" for folder in iter_modules(optac.studies.__path__) if folder.ispkg
    ]
    found = [getattr(import_module(name), "STUDY", None) for name in names]
    return {study.name: study for study in found if study is not None}


def study_named(name: str) -> Study | TrainingStudy:
    """The study of a name."""
    found = studies()
    require_known("study", [name], found)
    return found[name]
