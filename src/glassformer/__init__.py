"""Glassformer: a Transformer you can see through.

In:   `import glassformer` – cheap: torch and the rest are imported when a function is first used.
Out:  the functions and the few types that make up the public API.
"""

import importlib
from typing import TYPE_CHECKING

from glassformer import deprecated

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from glassformer.config import ModelConfig as ModelConfig
    from glassformer.loaded.model import LoadedModel as LoadedModel
    from glassformer.loaded.opening import load as load
    from glassformer.metrics import difference as difference
    from glassformer.metrics import score as score
    from glassformer.model.generation_settings import GenerationSettings as GenerationSettings
    from glassformer.model.transformer import Transformer as Transformer
    from glassformer.place import Place as Place
    from glassformer.recorders.edits import AblateHead as AblateHead
    from glassformer.recorders.edits import CutEdge as CutEdge
    from glassformer.recorders.edits import FirstLayers as FirstLayers
    from glassformer.recorders.edits import ScaleScores as ScaleScores
    from glassformer.recorders.record import record as record
    from glassformer.recording import AttentionMap as AttentionMap
    from glassformer.recording import Recording as Recording
    from glassformer.recording import from_arrays as from_arrays
    from glassformer.render.figures import figure as figure
    from glassformer.render.html.export import export as export
    from glassformer.render.notebook.show import show as show
    from glassformer.tasks.classification import classify as classify
    from glassformer.tasks.language_modelling import generate as generate
    from glassformer.tasks.masked_language_modelling import fill as fill
    from glassformer.tasks.translation import translate as translate
    from glassformer.text.builders import build_words as build_words
    from glassformer.training.recipe import train as train

# The module of each public name, imported when the name is first used.
_MODULES = {
    "load": "glassformer.loaded.opening",
    "record": "glassformer.recorders.record",
    "score": "glassformer.metrics",
    "difference": "glassformer.metrics",
    "show": "glassformer.render.notebook.show",
    "export": "glassformer.render.html.export",
    "figure": "glassformer.render.figures",
    "translate": "glassformer.tasks.translation",
    "generate": "glassformer.tasks.language_modelling",
    "classify": "glassformer.tasks.classification",
    "fill": "glassformer.tasks.masked_language_modelling",
    "train": "glassformer.training.recipe",
    "from_arrays": "glassformer.recording",
    "Recording": "glassformer.recording",
    "AttentionMap": "glassformer.recording",
    "ModelConfig": "glassformer.config",
    "GenerationSettings": "glassformer.model.generation_settings",
    "Transformer": "glassformer.model.transformer",
    "build_words": "glassformer.text.builders",
    "LoadedModel": "glassformer.loaded.model",
    "Place": "glassformer.place",
    "AblateHead": "glassformer.recorders.edits",
    "CutEdge": "glassformer.recorders.edits",
    "FirstLayers": "glassformer.recorders.edits",
    "ScaleScores": "glassformer.recorders.edits",
}

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
