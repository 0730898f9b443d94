"""Glassformer: a Transformer you can see through.

In:   `import glassformer` – cheap: nothing heavy is loaded until a verb is used.
Out:  the verbs and the few types that make up the public API.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from glassformer.config import ModelConfig as ModelConfig
    from glassformer.metrics import score as score
    from glassformer.recorders.recorder import load as load
    from glassformer.recorders.recorder import record as record
    from glassformer.recording import AttentionMap as AttentionMap
    from glassformer.recording import Recording as Recording

# Where each public name lives; the room is imported when the name is first used.
_ROOMS = {
    "load": "glassformer.recorders.recorder",
    "record": "glassformer.recorders.recorder",
    "score": "glassformer.metrics",
    "Recording": "glassformer.recording",
    "AttentionMap": "glassformer.recording",
    "ModelConfig": "glassformer.config",
}

__all__ = ["AttentionMap", "ModelConfig", "Recording", "__version__", "load", "record", "score"]


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module 'glassformer' has no attribute {name!r}")
    thing = getattr(importlib.import_module(_ROOMS[name]), name)
    globals()[name] = thing  # the next use does not come here
    return thing


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
