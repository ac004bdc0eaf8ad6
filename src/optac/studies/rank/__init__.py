"""What low rank buys."""

from optac.studies.study import Study

STUDY = Study(
    "What low rank buys",
    "episodes until solved for good against S, d and |A| for classes that generalise and for tables",
    __name__,
)
