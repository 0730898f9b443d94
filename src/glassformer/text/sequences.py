"""Many token sequences in one array, and a few of them as a padded rectangle.

In:   token ids and where each text begins, such as arrays of the cache; or rows.
Out:  `Sequences`: millions of short texts without millions of objects.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import InputError
from glassformer.text.encoder import Ids as Ids
from glassformer.text.tokenizer import Tokenizer

Text = TypeVar("Text")  # a text, or a row of several


@dataclass(frozen=True, slots=True)
class Sequences:
    """Token ids of many texts, one behind the other."""

    ids: Ids
    starts: NDArray[np.int64]  # where each begins, and where the last ends

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> Ids:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each."""
        return np.diff(self.starts)

    def pad(
        self, indices: NDArray[np.int64], padding: int, *, left: int = 0, right: int = 0
    ) -> NDArray[np.int64]:
        """Some of them in one rectangle, with `left` and `right` free columns around the longest."""
        lengths = self.starts[indices + 1] - self.starts[indices]
        ends = np.cumsum(lengths)
        flat = np.repeat(self.starts[indices] - ends + lengths, lengths) + np.arange(ends[-1])
        rows = np.full((len(indices), left + int(lengths.max()) + right), padding, dtype=np.int64)
        columns = np.arange(rows.shape[1]) - left
        rows[(columns >= 0) & (columns < lengths[:, None])] = self.ids[flat]
        return rows


def in_chunks(texts: Iterable[Text], size: int) -> Iterator[list[Text]]:
    """As many texts at a time; the last chunk may have fewer."""
    rest = iter(require_many(texts))
    while chunk := list(islice(rest, size)):
        yield chunk


def require_many(texts: Iterable[Text]) -> Iterable[Text]:
    """The same texts; but no single one, whose letters would be taken for texts."""
    if isinstance(texts, str):
        raise InputError("text.one_text")
    return texts


def find_frame(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens that a tokenizer puts before and after a text."""
    encoding = tokenizer.encode("a")
    words = [place for place, special in enumerate(encoding.special) if not special]
    if not words:
        return (), encoding.ids
    return encoding.ids[: words[0]], encoding.ids[words[-1] + 1 :]


def pad_rows(rows: Sequence[Sequence[int] | Ids], padding: int) -> tuple[Tensor, Tensor | None]:
    """Rows in one rectangle, padded on the right; and where they are real, None where there is no padding."""
    lengths = np.array([len(row) for row in rows])
    real = np.arange(lengths.max()) < lengths[:, None]  # (B, S)
    ids = np.full(real.shape, padding, dtype=np.int64)
    ids[real] = np.concatenate([np.asarray(row) for row in rows])
    return torch.from_numpy(ids), None if real.all() else torch.from_numpy(real)
