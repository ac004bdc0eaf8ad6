"""The paper's training curves: the runs of table2, and the same page."""

from optac.studies.study import TrainingStudy

STUDY = TrainingStudy(
    "training-curves",
    "the paper's training curves, from the runs of table2",
    "optac.studies.table2",
)
