"""What a model did with a text, as NumPy arrays that check themselves.

In:   arrays from a recorder (or a bundle file).
Out:  Recording, AttentionMap, Tokens and their parts; tile arithmetic. Torch is never imported here.
"""

from glassformer.place import Kind
from glassformer.recording.attention_map import AttentionMap
from glassformer.recording.evidence import Evidence
from glassformer.recording.factors import Factors
from glassformer.recording.from_arrays import from_arrays
from glassformer.recording.generation import Alternative, Generation, Output, Step
from glassformer.recording.pooling import count_pixels, pool_max, pool_mean
from glassformer.recording.recording import LONGEST_TRACE, Recording
from glassformer.recording.statistics import (
    BINS,
    THRESHOLD,
    Content,
    HeadStatistics,
    Pyramid,
    measure,
    measure_signed,
    thumbnail_level,
)
from glassformer.recording.tiles import count_levels, tile
from glassformer.recording.tokens import Side, Tokens

__all__ = [
    "BINS",
    "LONGEST_TRACE",
    "THRESHOLD",
    "Alternative",
    "AttentionMap",
    "Content",
    "Evidence",
    "Factors",
    "Generation",
    "HeadStatistics",
    "Kind",
    "Output",
    "Pyramid",
    "Recording",
    "Side",
    "Step",
    "Tokens",
    "count_levels",
    "count_pixels",
    "from_arrays",
    "measure",
    "measure_signed",
    "pool_max",
    "pool_mean",
    "thumbnail_level",
    "tile",
]
