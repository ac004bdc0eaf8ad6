"""Locks behind rich observations."""

from optac.studies.study import Study

STUDY = Study(
    "Locks behind rich observations",
    "Opt-AC on rich-lock and rich-sea: episodes against the horizon, distractors, dimension and rank, references",
    __name__,
)
