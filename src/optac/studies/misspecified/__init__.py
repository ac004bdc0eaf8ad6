"""Opt-AC where the model is only approximately low-rank."""

from optac.studies.study import Study

STUDY = Study(
    "Opt-AC where the model is approximately low-rank",
    "Opt-AC on smooth-walk: the gap against ζ, the effective dimension, episodes to ε with ζ tied to it",
    __name__,
)
