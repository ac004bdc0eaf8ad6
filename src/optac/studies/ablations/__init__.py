"""What each part of Opt-AC does."""

from optac.studies.study import Study

STUDY = Study(
    "What each part of Opt-AC does",
    "Opt-AC with one thing changed (no bonus, ties, rank S, one transition a roll-in), its last policy and its mixture",
    __name__,
)
