"""Model classes for the SL oracle: finite lists of candidates, the simplex class, Fourier features, decoders of rich
observations."""

from optac.models.data import TransitionData
from optac.models.decoder import DecoderClass, linear_class
from optac.models.finite_class import FiniteClass, truth_among_decoys
from optac.models.fourier import ConditionalFourierFeatures, effective_dimension
from optac.models.fourier_size import FourierSize, propose_fourier_size
from optac.models.kernel_class import KernelClass, KernelData, walk_among_decoys
from optac.models.kernel_features import FourierChoice
from optac.models.low_rank import LowRankModel
from optac.models.rich import DecodedPolicy, RichClass, RichData, RichModel
from optac.models.simplex import SimplexClass
from optac.models.transition_counts import TransitionCounts

__all__ = [
    "ConditionalFourierFeatures",
    "DecodedPolicy",
    "DecoderClass",
    "FiniteClass",
    "FourierChoice",
    "FourierSize",
    "KernelClass",
    "KernelData",
    "LowRankModel",
    "RichClass",
    "RichData",
    "RichModel",
    "SimplexClass",
    "TransitionCounts",
    "TransitionData",
    "effective_dimension",
    "linear_class",
    "propose_fourier_size",
    "truth_among_decoys",
    "walk_among_decoys",
]
