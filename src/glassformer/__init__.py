"""Glassformer: a Transformer you can see through.

In:   `import glassformer as gf` – cheap: torch and the rest are imported when a name is first used.
Out:  the functions and types of the public API; `help(gf.record)` explains each, with an example.

>>> recording = gf.record("zoo/bert", "The animal didn't cross the street because it was too tired")
>>> gf.score(recording, "entropy").part(layer=-1).values  # one number for each head of the last layer
"""

import importlib
from typing import TYPE_CHECKING

from glassformer import deprecated

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from glassformer.api.app import create_app as create_app
    from glassformer.api.frames import Frame as Frame
    from glassformer.api.frames import decode_frame as decode_frame
    from glassformer.api.frames import dequantise as dequantise
    from glassformer.api.frames import encode_frame as encode_frame
    from glassformer.api.frames import quantise as quantise
    from glassformer.api.library import Library as Library
    from glassformer.atlases import Atlas as Atlas
    from glassformer.atlases import AtlasComparison as AtlasComparison
    from glassformer.atlases import open_atlas as open_atlas
    from glassformer.comparison import Alignment as Alignment
    from glassformer.comparison import Difference as Difference
    from glassformer.comparison import HeadMatching as HeadMatching
    from glassformer.comparison import difference as difference
    from glassformer.config import ModelConfig as ModelConfig
    from glassformer.config import RecurrentConfig as RecurrentConfig
    from glassformer.corpus.atlas.build import atlas as atlas
    from glassformer.corpus.atlas.texts import MarkedText as MarkedText
    from glassformer.corpus.compare import Comparison as Comparison
    from glassformer.corpus.compare import compare as compare
    from glassformer.corpus.sources import TextFiles as TextFiles
    from glassformer.corpus.study import Progress as Progress
    from glassformer.corpus.study import study as study
    from glassformer.corpus.study import study_recordings as study_recordings
    from glassformer.engine.opening import open_engine as open_engine
    from glassformer.lessons.long_text import invent_text as invent_text
    from glassformer.lessons.long_text import open_rotary as open_rotary
    from glassformer.lessons.run import run_topic as run_topic
    from glassformer.lessons.topics import find_topic as find_topic
    from glassformer.lessons.topics import read_parameters as read_parameters
    from glassformer.loaded.model import LoadedModel as LoadedModel
    from glassformer.loaded.opening import load as load
    from glassformer.media import Waveform as Waveform
    from glassformer.media import read_picture as read_picture
    from glassformer.media import read_sound as read_sound
    from glassformer.metrics import METRICS as METRICS
    from glassformer.metrics import Part as Part
    from glassformer.metrics import Score as Score
    from glassformer.metrics import pool as pool
    from glassformer.metrics import score as score
    from glassformer.metrics.dependencies import table_relations as table_relations
    from glassformer.metrics.gold import read_alignments as read_alignments
    from glassformer.metrics.gold import read_conllu as read_conllu
    from glassformer.metrics.words import roll_up_recording as roll_up_recording
    from glassformer.model.generation_settings import GenerationSettings as GenerationSettings
    from glassformer.model.transformer import Transformer as Transformer
    from glassformer.place import Place as Place
    from glassformer.recorders.branch import branch as branch
    from glassformer.recorders.branch import open_hypothesis as open_hypothesis
    from glassformer.recorders.causes.attributions import Attribution as Attribution
    from glassformer.recorders.causes.attributions import attribute as attribute
    from glassformer.recorders.causes.estimates import Estimate as Estimate
    from glassformer.recorders.causes.estimates import estimate as estimate
    from glassformer.recorders.causes.faithfulness import Faithfulness as Faithfulness
    from glassformer.recorders.causes.faithfulness import faithfulness as faithfulness
    from glassformer.recorders.causes.logit_attribution import LogitAttribution as LogitAttribution
    from glassformer.recorders.causes.logit_attribution import attribute_logits as attribute_logits
    from glassformer.recorders.causes.logit_lens import LogitLens as LogitLens
    from glassformer.recorders.causes.logit_lens import logit_lens as logit_lens
    from glassformer.recorders.causes.outcomes import ClassProbability as ClassProbability
    from glassformer.recorders.causes.outcomes import LogitDifference as LogitDifference
    from glassformer.recorders.causes.outcomes import LogProbability as LogProbability
    from glassformer.recorders.causes.outcomes import Loss as Loss
    from glassformer.recorders.causes.outcomes import Rank as Rank
    from glassformer.recorders.causes.outcomes import Similarity as Similarity
    from glassformer.recorders.causes.outcomes import TextScore as TextScore
    from glassformer.recorders.causes.sweep import Sweep as Sweep
    from glassformer.recorders.causes.sweep import all_heads as all_heads
    from glassformer.recorders.causes.sweep import sweep as sweep
    from glassformer.recorders.edits import AblateHead as AblateHead
    from glassformer.recorders.edits import BlockHead as BlockHead
    from glassformer.recorders.edits import CutEdge as CutEdge
    from glassformer.recorders.edits import FirstLayers as FirstLayers
    from glassformer.recorders.edits import PatchHead as PatchHead
    from glassformer.recorders.edits import PatchPath as PatchPath
    from glassformer.recorders.edits import PatchPattern as PatchPattern
    from glassformer.recorders.edits import PatchStates as PatchStates
    from glassformer.recorders.edits import PatchValue as PatchValue
    from glassformer.recorders.edits import ScaleScores as ScaleScores
    from glassformer.recorders.edits import Steer as Steer
    from glassformer.recorders.many import record_many as record_many
    from glassformer.recorders.record import record as record
    from glassformer.recording import AttentionMap as AttentionMap
    from glassformer.recording import Branch as Branch
    from glassformer.recording import Evidence as Evidence
    from glassformer.recording import Generation as Generation
    from glassformer.recording import HeadStatistics as HeadStatistics
    from glassformer.recording import Picture as Picture
    from glassformer.recording import Recording as Recording
    from glassformer.recording import Sound as Sound
    from glassformer.recording import SpokenWord as SpokenWord
    from glassformer.recording import Tokens as Tokens
    from glassformer.recording import from_arrays as from_arrays
    from glassformer.recording import tile as tile
    from glassformer.recording import tree as tree
    from glassformer.recording.axes import name_rows as name_rows
    from glassformer.render.figures import figure as figure
    from glassformer.render.html.export import export as export
    from glassformer.render.notebook.show import show as show
    from glassformer.render.terminal.heatmap import draw_recording as draw_recording
    from glassformer.runlog import RunLog as RunLog
    from glassformer.runlog import find_probes as find_probes
    from glassformer.runlog import open_run as open_run
    from glassformer.runlog import read_run as read_run
    from glassformer.runlog.search import SearchLog as SearchLog
    from glassformer.runlog.search import read_search as read_search
    from glassformer.studies import Study as Study
    from glassformer.studies import open_study as open_study
    from glassformer.studies import pool_studies as pool_studies
    from glassformer.tasks.classification import classify as classify
    from glassformer.tasks.language_modelling import generate as generate
    from glassformer.tasks.long import LongTexts as LongTexts
    from glassformer.tasks.masked_language_modelling import fill as fill
    from glassformer.tasks.regression import predict_numbers as predict_numbers
    from glassformer.tasks.tagging import tag as tag
    from glassformer.tasks.translation import translate as translate
    from glassformer.text.builders import build_words as build_words
    from glassformer.training.recipe import train as train
    from glassformer.training.search.search import search as search
    from glassformer.walk import explain as explain
    from glassformer.walk import make_plan as make_plan
    from glassformer.weights.checkpoint import save_checkpoint as save_checkpoint

# The public names of each module, which is imported when one of them is first used.
_NAMES = {
    "glassformer.api.app": "create_app",
    "glassformer.api.frames": "Frame, decode_frame, dequantise, encode_frame, quantise",
    "glassformer.api.library": "Library",
    "glassformer.atlases": "Atlas, AtlasComparison, open_atlas",
    "glassformer.comparison": "Alignment, Difference, HeadMatching, difference",
    "glassformer.config": "ModelConfig, RecurrentConfig",
    "glassformer.corpus.atlas.build": "atlas",
    "glassformer.corpus.atlas.texts": "MarkedText",
    "glassformer.corpus.compare": "Comparison, compare",
    "glassformer.corpus.sources": "TextFiles",
    "glassformer.corpus.study": "Progress, study, study_recordings",
    "glassformer.engine.opening": "open_engine",
    "glassformer.lessons.long_text": "invent_text, open_rotary",
    "glassformer.lessons.run": "run_topic",
    "glassformer.lessons.topics": "find_topic, read_parameters",
    "glassformer.loaded.model": "LoadedModel",
    "glassformer.loaded.opening": "load",
    "glassformer.media": "Waveform, read_picture, read_sound",
    "glassformer.metrics": "METRICS, Part, Score, pool, score",
    "glassformer.metrics.dependencies": "table_relations",
    "glassformer.metrics.gold": "read_alignments, read_conllu",
    "glassformer.metrics.words": "roll_up_recording",
    "glassformer.model.generation_settings": "GenerationSettings",
    "glassformer.model.transformer": "Transformer",
    "glassformer.place": "Place",
    "glassformer.recorders.causes.attributions": "Attribution, attribute",
    "glassformer.recorders.causes.estimates": "Estimate, estimate",
    "glassformer.recorders.causes.faithfulness": "Faithfulness, faithfulness",
    "glassformer.recorders.causes.logit_attribution": "LogitAttribution, attribute_logits",
    "glassformer.recorders.causes.logit_lens": "LogitLens, logit_lens",
    "glassformer.recorders.branch": "branch, open_hypothesis",
    "glassformer.recorders.causes.outcomes": "ClassProbability, LogitDifference, LogProbability, "
    "Loss, Rank, Similarity, TextScore",
    "glassformer.recorders.causes.sweep": "Sweep, all_heads, sweep",
    "glassformer.recorders.edits": "AblateHead, BlockHead, CutEdge, FirstLayers, PatchHead, PatchPath, "
    "PatchPattern, PatchStates, PatchValue, ScaleScores, Steer",
    "glassformer.recorders.many": "record_many",
    "glassformer.recorders.record": "record",
    "glassformer.recording": "AttentionMap, Branch, Evidence, Generation, HeadStatistics, Picture, "
    "Recording, Sound, SpokenWord, Tokens, from_arrays, tile, tree",
    "glassformer.recording.axes": "name_rows",
    "glassformer.render.figures": "figure",
    "glassformer.render.html.export": "export",
    "glassformer.render.notebook.show": "show",
    "glassformer.render.terminal.heatmap": "draw_recording",
    "glassformer.runlog": "RunLog, find_probes, open_run, read_run",
    "glassformer.runlog.search": "SearchLog, read_search",
    "glassformer.studies": "Study, open_study, pool_studies",
    "glassformer.tasks.classification": "classify",
    "glassformer.tasks.language_modelling": "generate",
    "glassformer.tasks.long": "LongTexts",
    "glassformer.tasks.masked_language_modelling": "fill",
    "glassformer.tasks.regression": "predict_numbers",
    "glassformer.tasks.tagging": "tag",
    "glassformer.tasks.translation": "translate",
    "glassformer.text.builders": "build_words",
    "glassformer.training.recipe": "train",
    "glassformer.training.search.search": "search",
    "glassformer.walk": "explain, make_plan",
    "glassformer.weights.checkpoint": "save_checkpoint",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split(", ")}

__all__ = ["__version__", *_MODULES]


deprecated.install()


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'glassformer' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value  # the next use does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
