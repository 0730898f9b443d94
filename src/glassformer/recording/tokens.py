"""The tokens of one side: what a map's axis is made of.

In:   decoded pieces of text with ids, character offsets and word numbers; or patches of a picture, frames of
      a sound.
Out:  Tokens, checked and read-only.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import (
    BOOLEANS,
    DOUBLES,
    LONGS,
    Booleans,
    Rebuilt,
    freeze,
    freeze_field,
    keep,
    require_choice,
    require_type,
    wrong_value,
)
from glassformer.recording.media import Picture, Sound

Side = Literal["source", "target"]
SIDES = ("source", "target")
MEDIA = ("picture", "sound")  # fields of what is not text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tokens(Rebuilt):
    """One sequence as the model saw it; `texts` is what to display, `offsets` point into `text`.

    >>> tokens = gf.record("zoo/bert", "The cat sleeps.").source
    >>> tokens.texts[1], tokens.special[:2].tolist()
    ('the', [True, False])
    """

    side: Side
    texts: tuple[str, ...]
    ids: NDArray[np.int64]  # (token,)
    offsets: NDArray[np.int64] | None = None  # (token, 2) first and one past the last character
    text: str | None = None
    special: Booleans = field(default_factory=lambda: np.zeros(0, dtype=bool))  # (token,) [CLS], </s> …
    words: NDArray[np.int64] | None = None  # (token,) the word each token belongs to, -1 for none
    picture: Picture | None = None  # what the tokens were cut from, where that is not a text
    sound: Sound | None = None

    def __post_init__(self) -> None:
        require_choice("Tokens.side", self.side, SIDES)
        keep(self, texts=tuple(self.texts))
        count = len(self.texts)
        if not all(issubclass(kind, str) for kind in set(map(type, self.texts))):
            strange = next(text for text in self.texts if not isinstance(text, str))
            raise wrong_value("Tokens.texts", strange, "string")
        if self.text is not None and not isinstance(self.text, str):
            raise wrong_value("Tokens.text", self.text, "string")
        axis = ("token", count)
        freeze_field(self, "ids", LONGS, [axis])
        if np.size(self.special) == 0:  # then none is special
            keep(self, special=np.zeros(count, dtype=bool))
        freeze_field(self, "special", BOOLEANS, [axis])
        freeze_field(self, "words", LONGS, [axis])
        if self.words is not None and count and int(self.words.min()) < -1:
            raise wrong_value("Tokens.words", int(self.words.min()), "word")
        freeze_field(self, "offsets", LONGS, [axis, ("end", 2)])
        if self.offsets is not None:
            self._check_offsets(self.offsets)
        self._check_media(count)

    def _check_media(self, count: int) -> None:
        if self.picture is not None:
            require_type("Tokens.picture", self.picture, Picture)
            freeze("Picture.cells", self.picture.cells, LONGS, [("token", count)])
        if self.sound is not None:
            require_type("Tokens.sound", self.sound, Sound)
            freeze("Sound.spans", self.sound.spans, DOUBLES, [("token", count), ("end", 2)])

    def _check_offsets(self, offsets: NDArray[np.int64]) -> None:
        if not isinstance(self.text, str):
            raise RecordingError("recording.offsets_without_text")
        wrong = (offsets[:, 0] < 0) | (offsets[:, 1] < offsets[:, 0]) | (offsets[:, 1] > len(self.text))
        if wrong.any():
            index = int(wrong.argmax())
            first, last = offsets[index].tolist()
            raise RecordingError(
                "recording.wrong_offsets", token=index, first=first, last=last, length=len(self.text)
            )

    @classmethod
    def positional(cls, side: Side, count: int) -> "Tokens":
        """Tokens of something that is not text (patches, frames): numbers, the same in every language."""
        return cls(side, tuple(map(str, range(count))), np.arange(count, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, part: slice) -> "Tokens":
        """The tokens of a slice; offsets still point into the whole text."""
        names = ("texts", "ids", "offsets", "special", "words")
        there = {name: values for name in names if (values := getattr(self, name)) is not None}
        media = {name: values.take(part) for name in MEDIA if (values := getattr(self, name)) is not None}
        return replace(self, **{name: values[part] for name, values in there.items()}, **media)

    def __repr__(self) -> str:
        shown = " ".join(self.texts[:6]) + (" …" if len(self) > 6 else "")
        return f"Tokens({self.side}, {len(self)}: {shown})"
