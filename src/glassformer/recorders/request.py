"""What `record` asks of a recorder, and what it gets back.

In:   a checked request.
Out:  `Run`: what one pass over the text showed. `record` makes a Recording with its evidence from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import Message
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.call import Kernel
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.store import ArrayStore
from glassformer.recording import AttentionMap, Generation, Output, Tokens
from glassformer.text.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class Request:
    """One recording to be made; everything that does not depend on the library has been checked."""

    source: Encoding | Mapping[str, Any]  # tokens, or a model's own inputs by name
    target: Encoding | None
    decode: GenerationSettings | None
    want: frozenset[str]
    edits: tuple[Edit, ...]
    kernel: Kernel | None  # None: as the length of the text needs
    keep: ArrayStore  # where large arrays go
    model_hash: str


@dataclass(slots=True)
class Run:
    """What one pass over the text showed, and how it was looked at."""

    source: Tokens
    target: Tokens | None
    maps: Sequence[AttentionMap]
    kernel: Message
    exact: bool
    error: float | None  # the largest difference from the reference
    reference: Message | None
    hidden: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    output: Output | None = None
    generation: Generation | None = None
    architecture: Mapping[str, Any] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[Message] = ()


class Recorder(Protocol):
    """Runs one model and collects what is wanted; the model is left exactly as found."""

    def run(self, request: Request) -> Run:
        """One pass over one text, after generating it where that is asked for."""
