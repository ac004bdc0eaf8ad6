"""What the bonus is for: two tasks whose reward says nothing until something is found."""

from optac.studies.study import TrainingStudy

STUDY = TrainingStudy(
    "exploration",
    "the bonus where exploration is the problem: two sparse tasks, with it, without it, and SAC",
    __name__,
)
