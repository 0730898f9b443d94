"""Atlases: what every head of a model does, found over many texts.

In:   attention weights of batches of texts (corpus/atlas.py runs the model), or a folder with atlas.json.
Out:  `Atlas`: scores of detectors with intervals and chance levels, types, clusters and examples. No torch.
"""

from glassformer.atlases.atlas import Atlas, open_atlas
from glassformer.atlases.comparison import AtlasComparison

__all__ = ["Atlas", "AtlasComparison", "open_atlas"]
