"""Rich observations: decoders fitted by the likelihood of what surrounds an observation, without a density."""

from optac.models.rich.data import RichData
from optac.models.rich.decoder_class import RichClass, RichModel
from optac.models.rich.decoders import DecodedPolicy, Decoders

__all__ = ["DecodedPolicy", "Decoders", "RichClass", "RichData", "RichModel"]
