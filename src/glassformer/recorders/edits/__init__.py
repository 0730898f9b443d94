"""Changes to a network for one recording: ablate a head, cut an edge, scale scores, run fewer layers.

In:   values that say what to change and where: `record(…, edits=[AblateHead("decoder", "self", 3, 5)])`.
Out:  a second Recording, whose evidence names the edits.

One file holds one edit; edit.py says what an edit is and which operations executors offer.
"""

from glassformer.recorders.edits.ablate_head import AblateHead
from glassformer.recorders.edits.block import BlockHead
from glassformer.recorders.edits.cut_edge import CutEdge
from glassformer.recorders.edits.edit import EDITS, Edit, HeadOutputs, Scores, Weights
from glassformer.recorders.edits.first_layers import FirstLayers
from glassformer.recorders.edits.patch import PatchHead, PatchPattern, PatchStates, PatchValue
from glassformer.recorders.edits.patch_path import PatchPath
from glassformer.recorders.edits.scale_scores import ScaleScores
from glassformer.recorders.edits.steer import Steer

__all__ = [
    "EDITS", "AblateHead", "BlockHead", "CutEdge", "Edit", "FirstLayers", "HeadOutputs", "PatchHead",
    "PatchPath", "PatchPattern", "PatchStates", "PatchValue", "ScaleScores", "Scores", "Steer", "Weights",
]  # fmt: skip
