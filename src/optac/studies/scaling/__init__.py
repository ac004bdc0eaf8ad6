"""How episodes to ε grow with d, H, |A| and 1/ε."""

from optac.studies.study import Study

STUDY = Study(
    "Scaling",
    "episodes to ε against d, H, |A| and 1/ε beside the theorems' exponents, and the lower-bound instance",
    __name__,
)
