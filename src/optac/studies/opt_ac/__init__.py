"""Opt-AC on every family."""

from optac.studies.study import Study

STUDY = Study(
    "Opt-AC on every family",
    "Opt-AC on every family: episodes until solved, the gap's slope in K, what the certificate is worth",
    __name__,
)
