"""The hierarchy of oracles, measured."""

from optac.studies.study import Study

STUDY = Study(
    "The hierarchy of oracles, measured",
    "the hierarchy of oracles measured: PE convex, PP not, CP exponential, how errors grow",
    __name__,
)
