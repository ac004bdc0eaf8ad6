"""What the SL oracle fits: finite lists of candidates and the simplex (latent-variable) class."""

from optac.models.data import TransitionData
from optac.models.finite_class import FiniteClass, truth_among_decoys
from optac.models.low_rank import LowRankModel
from optac.models.simplex import SimplexClass

__all__ = ["FiniteClass", "LowRankModel", "SimplexClass", "TransitionData", "truth_among_decoys"]
