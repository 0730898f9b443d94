"""Two recordings compared: tokens aligned, maps and metrics subtracted, heads of two models matched.

In:   recordings: of two models or checkpoints, of two texts, or before and after an edit.
Out:  Alignment, Difference, HeadMatching. Torch is never imported here.
"""

from glassformer.comparison.alignment import Alignment, Pair, align
from glassformer.comparison.difference import Difference, Edge, difference
from glassformer.comparison.matching import HeadMatching, Match, match_heads

__all__ = [
    "Alignment",
    "Difference",
    "Edge",
    "HeadMatching",
    "Match",
    "Pair",
    "align",
    "difference",
    "match_heads",
]
