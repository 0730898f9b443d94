"""Glassformer: a Transformer you can see through.

In:   `import glassformer` – cheap: nothing heavy is loaded until a verb is used.
Out:  the verbs and the few types that make up the public API.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from glassformer.config import ModelConfig as ModelConfig
    from glassformer.metrics import difference as difference
    from glassformer.metrics import score as score
    from glassformer.recorders.recorder import load as load
    from glassformer.recorders.recorder import record as record
    from glassformer.recording import AttentionMap as AttentionMap
    from glassformer.recording import Recording as Recording
    from glassformer.show.figures import figure as figure
    from glassformer.show.html import export as export
    from glassformer.show.widget import show as show
    from glassformer.tasks.classification import classify as classify
    from glassformer.tasks.language_modelling import generate as generate
    from glassformer.tasks.masked_language_modelling import fill as fill
    from glassformer.tasks.translation import translate as translate
    from glassformer.train.recipe import run_recipe as train

# Where each public name lives; the room is imported when the name is first used.
_ROOMS = {
    "load": "glassformer.recorders.recorder",
    "record": "glassformer.recorders.recorder",
    "score": "glassformer.metrics",
    "difference": "glassformer.metrics",
    "show": "glassformer.show",  # the room itself, which can be called
    "export": "glassformer.show.html",
    "figure": "glassformer.show.figures",
    "translate": "glassformer.tasks.translation",
    "generate": "glassformer.tasks.language_modelling",
    "classify": "glassformer.tasks.classification",
    "fill": "glassformer.tasks.masked_language_modelling",
    "train": "glassformer.train",  # so can this one
    "Recording": "glassformer.recording",
    "AttentionMap": "glassformer.recording",
    "ModelConfig": "glassformer.config",
}

__all__ = [
    "AttentionMap",
    "ModelConfig",
    "Recording",
    "__version__",
    "classify",
    "difference",
    "export",
    "figure",
    "fill",
    "generate",
    "load",
    "record",
    "score",
    "show",
    "train",
    "translate",
]


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module 'glassformer' has no attribute {name!r}")
    room = importlib.import_module(_ROOMS[name])
    thing = room if name in ("train", "show") else getattr(room, name)
    globals()[name] = thing  # the next use does not come here
    return thing


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
