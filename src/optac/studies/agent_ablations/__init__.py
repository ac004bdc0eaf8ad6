"""What each ingredient of the agents' recipe is worth: taken out of cRFFSAC, and put into SAC."""

from optac.studies.study import TrainingStudy

STUDY = TrainingStudy(
    "agent-ablations",
    "the agents' recipe, one ingredient at a time: taken out of cRFFSAC, put into plain SAC; and two put on top",
    __name__,
)
