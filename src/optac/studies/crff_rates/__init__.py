"""The error of conditional Fourier features."""

from optac.studies.study import Study

STUDY = Study(
    "Errors of conditional Fourier features",
    "the error of conditional Fourier features against W, d and N, each term apart, then together",
    __name__,
)
