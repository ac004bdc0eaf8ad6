"""The paper's Table 1, measured."""

from optac.studies.study import Study

STUDY = Study(
    "Table 1 with measured columns",
    "the paper's Table 1 with measured columns: oracle calls, episodes to ε, seconds",
    __name__,
)
