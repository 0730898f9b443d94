"""The tokens of one side: what a map's axis is made of.

In:   decoded pieces of text with ids, character offsets and word numbers; or a count, for patches and frames.
Out:  Tokens, checked and read-only.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.recording.arrays import (
    BOOLEANS,
    LONGS,
    Booleans,
    Rebuilt,
    freeze,
    keep,
    refuse,
    require_text,
)

Side = Literal["source", "target"]
SIDES = ("source", "target")

_DO = "Build the tokens from one tokenizer output."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tokens(Rebuilt):
    """One sequence as the model saw it; `texts` is what to display, `offsets` point into `text`."""

    side: Side
    texts: tuple[str, ...]
    ids: NDArray[np.int64]  # (token,)
    offsets: NDArray[np.int64] | None = None  # (token, 2) first and one past the last character
    text: str | None = None
    special: Booleans = field(
        default_factory=lambda: np.zeros(0, dtype=bool)
    )  # (token,) [CLS], </s> and the like
    words: NDArray[np.int64] | None = None  # (token,) the word each token belongs to, -1 for none

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            refuse(
                f"The side of the tokens is {self.side!r}.",
                "Wanted 'source' or 'target'.",
                "Name one of the two.",
            )
        keep(self, texts=tuple(self.texts))
        count = len(self.texts)
        if not all(issubclass(kind, str) for kind in set(map(type, self.texts))):
            strange = next(text for text in self.texts if not isinstance(text, str))
            refuse(
                f"A token's text is {strange!r}.", "Wanted a string.", "Decode each token before recording."
            )
        if self.text is not None and not isinstance(self.text, str):
            refuse(f"The text is {self.text!r}.", "Wanted a string.", "Leave it out for what is not text.")
        axis = ("token", count)
        keep(self, ids=freeze("Tokens.ids", self.ids, LONGS, [axis], _DO))
        left_out = np.size(self.special) == 0  # then none is special
        special = np.zeros(count, dtype=bool) if left_out else self.special
        keep(self, special=freeze("Tokens.special", special, BOOLEANS, [axis], _DO))
        if self.words is not None:
            keep(self, words=freeze("Tokens.words", self.words, LONGS, [axis], _DO))
            if count and int(self.words.min()) < -1:
                refuse(
                    f"A token's word is {self.words.min()}.", "Wanted -1 (no word) or a word from 0 up.", _DO
                )
        if self.offsets is not None:
            keep(self, offsets=freeze("Tokens.offsets", self.offsets, LONGS, [axis, ("end", 2)], _DO))
            self._check_offsets(self.offsets)

    def _check_offsets(self, offsets: NDArray[np.int64]) -> None:
        if not isinstance(self.text, str):
            refuse(
                "There are character offsets but no text.", "Wanted the text they point into.", "Give text=."
            )
        wrong = (offsets[:, 0] < 0) | (offsets[:, 1] < offsets[:, 0]) | (offsets[:, 1] > len(self.text))
        if wrong.any():
            index = int(wrong.argmax())
            refuse(
                f"Token {index} spans characters {offsets[index].tolist()} of a text of {len(self.text)}.",
                "Wanted 0 <= first <= last <= length of the text.",
                "Give the text that was tokenised, and character (not byte) offsets.",
            )

    @classmethod
    def positional(cls, side: Side, count: int, label: str = "position") -> "Tokens":
        """Tokens of something that is not text: patch 0, patch 1, …"""
        require_text("The label", label, "Call it patch, frame, position or the like.")
        texts = tuple(f"{label} {index}" for index in range(count))
        return cls(side, texts, np.arange(count, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, part: slice) -> "Tokens":
        """The tokens of a slice; offsets still point into the whole text."""
        return Tokens(
            self.side,
            self.texts[part],
            self.ids[part],
            None if self.offsets is None else self.offsets[part],
            self.text,
            self.special[part],
            None if self.words is None else self.words[part],
        )

    def __repr__(self) -> str:
        shown = " ".join(self.texts[:6]) + (" …" if len(self) > 6 else "")
        return f"Tokens({self.side}, {len(self)}: {shown})"
