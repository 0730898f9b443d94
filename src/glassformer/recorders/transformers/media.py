"""Names of positions that are not text: patches of a picture, frames of a sound, or plain numbers.

In:   a model of transformers and its inputs, watched during a pass.
Out:  tokens for the axes of each stack, the same ones each time they are asked for.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from glassformer.loaded.transformers import TransformersModel
from glassformer.media import Waveform
from glassformer.messages import Message, message
from glassformer.recorders.transformers.frames import FrameNames
from glassformer.recorders.transformers.patches import PatchNames
from glassformer.recording import Tokens

SENSES = frozenset(
    {"pixel_values", "pixel_values_videos", "input_values", "input_features", "decoder_input_values"}
)


class MediaNames:
    """What one pass showed about the positions of its stacks."""

    def __init__(self, loaded: TransformersModel, inputs: Mapping[str, Any], heard: Waveform | None) -> None:
        """`heard` is the sound that the inputs were made of, if any."""
        self.inputs = inputs
        self.patches = PatchNames(loaded.network, loaded.processor.colours)
        self.frames = FrameNames(loaded.network, loaded.processor, heard)
        named = ("image_token_id", "image_token_index")
        self.place_id = next((id for each in named if (id := getattr(loaded.config, each, None))), None)
        self._named: dict[tuple[str, int], Tokens] = {}
        self._placed: Tokens | None = None
        self.numbered: list[str] = []  # stacks of which it is not known what their positions show

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context a pass is watched; inputs that are only text need no hooks."""
        if not self.inputs.keys() & SENSES:
            yield
            return
        with self.patches.watching(), self.frames.watching():
            yield

    def name(self, path: str, count: int) -> Tokens:
        """The positions of a stack whose blocks are at this path."""
        if (path, count) not in self._named:
            found = self.patches.name(path, count) or self.frames.name(self.inputs, count)
            self._named[path, count] = found or Tokens.positional("source", count)
            if found is None and self.inputs.keys() & SENSES:
                self.numbered.append(path)
        return self._named[path, count]

    def tell(self) -> list[Message]:
        """A note on stacks whose positions have only numbers."""
        return [message("recorders.notes.numbered", stacks=tuple(self.numbered))] if self.numbered else []

    def place(self, tokens: Tokens) -> Tokens:
        """The tokens of a text, with the picture that some of them have a place for."""
        if self.place_id is None or not self.patches.find_grids():
            return tokens
        if self._placed is None or len(self._placed) != len(tokens):
            self._placed = self.patches.place(tokens, self.place_id)
        return self._placed
