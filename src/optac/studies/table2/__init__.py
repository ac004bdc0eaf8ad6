"""The paper's Table 2: six tasks, three agents, four seeds."""

from optac.studies.study import TrainingStudy

STUDY = TrainingStudy(
    "table2",
    "the paper's Table 2: six tasks, three agents, four seeds, ours beside the paper's",
    __name__,
)
