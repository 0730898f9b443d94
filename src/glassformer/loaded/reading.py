"""Text, token ids and languages as a model reads them, and the same as a recording keeps them.

In:   what a person gives: text, a second text, token ids in any form, a language; or the ids that a network
      wrote.
Out:  `Encoding` for the network, `Tokens` for the recording.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from typing_extensions import TypeAliasType

from glassformer.errors import InputError
from glassformer.loaded.perceiving import Percept, is_percept
from glassformer.media import Waveform
from glassformer.messages import Message, message
from glassformer.recording import Picture, Side, Sound, Tokens
from glassformer.text.languages import find_language
from glassformer.text.tokenizer import Encoding, Tokenizer

# A text; token ids as a list, array or tensor, also as a batch of one row; or inputs by name, such as what a
# tokenizer of transformers returns (input_ids, attention_mask, token_type_ids).
Ids = Sequence[int] | Sequence[Sequence[int]] | NDArray[np.integer[Any]] | Tensor
# Where a model looks or listens: a path, pixels, a picture of Pillow, a `Waveform`, or what a recording kept.
Inputs = TypeAliasType(  # has a name, which `help` shows instead of all this
    "Inputs",
    str
    | Encoding
    | Ids
    | Mapping[str, Any]
    | os.PathLike[str]
    | Waveform
    | Picture
    | Sound
    | Tokens
    | NDArray[np.uint8],
)

IDS = range(2**31)  # numbers that a vocabulary could have
LONG = 1024  # tokens
LEAST = 0.9  # of a model's vocabulary should be its tokenizer's


@dataclass(frozen=True, slots=True)
class Reader:
    """A tokenizer, or none: then only ids are read, and tokens are shown as numbers."""

    name: str  # of the model, for errors
    tokenizer: Tokenizer | None

    def show(self, ids: Iterable[int]) -> tuple[str, ...]:
        """What to display for each id."""
        return spell_numbers(tuple(ids)) if self.tokenizer is None else self.tokenizer.display(ids)

    def tell_size(self, known: int | None) -> list[Message]:
        """A note on a tokenizer whose vocabulary is not of about the size that the network knows.

        Where every id is known, nothing else tells that it belongs to another model. Tables have some room.
        """
        size = known if self.tokenizer is None else self.tokenizer.size
        if known is None or size is None or LEAST * known <= size <= known:
            return []
        return [message("loaded.reading.sizes_differ", size=size, known=known)]

    def read_source(
        self, inputs: Inputs, second_text: str | None = None, target_language: str | None = None
    ) -> Encoding:
        """What a network is given to read; the language to translate into is named in front."""
        encoding = self.read(inputs, second_text)
        if all(encoding.special) and (isinstance(inputs, str | Encoding) or not encoding.ids):
            raise InputError("loaded.reading.empty_text")
        if target_language is None:
            return encoding
        return self.prepend(find_language(self.tokenizer, target_language), encoding)

    def read(self, inputs: Inputs, second_text: str | None = None, *, target: bool = False) -> Encoding:
        """A text as its tokenizer splits it, or ids as they are; a target is without special tokens."""
        if isinstance(inputs, str):
            if self.tokenizer is None:
                raise InputError("loaded.cannot.reads_text", name=self.name)
            return self.tokenizer.encode(inputs, second_text, special=not target, target=target)
        if second_text is not None:
            raise InputError("loaded.reading.second_text_beside_ids")
        if type(inputs) is Encoding:  # read before, together with others; patches and frames are no text
            return inputs
        if is_percept(inputs):
            raise InputError("loaded.reading.no_text", name=self.name, kind=type(inputs).__name__)
        ids, segments = _read_mapping(inputs) if isinstance(inputs, Mapping) else (_read_ids(inputs), None)
        special = (False,) * len(ids)
        if self.tokenizer is not None:
            special = tuple(map(self.tokenizer.is_special, ids))
        texts = self.show(ids)
        return Encoding(ids, texts, special, segments or (0,) * len(ids), "".join(texts))

    def recognise(self, ids: tuple[int, ...], *, target: bool) -> Encoding:
        """Ids that a network wrote, with offsets where the tokenizer would split their text the same way."""
        if self.tokenizer is None or not ids:
            return self.read(ids)
        text = self.tokenizer.decode(ids)
        for special in (False, not target):  # what was read first may be framed by special tokens
            again = self.tokenizer.encode(text, special=special, target=target)
            if again.ids == ids:
                return again
        return replace(self.read(ids), text=text)

    def prepend(self, token_id: int, encoding: Encoding) -> Encoding:
        """A special token in front: a language, or what a decoder is given before the first word."""
        return Encoding(
            (token_id, *encoding.ids),
            (*self.show([token_id]), *encoding.texts),
            (True, *encoding.special),
            (0, *encoding.segments),
            encoding.text,
            None if encoding.offsets is None else ((0, 0), *encoding.offsets),
            None if encoding.words is None else (-1, *encoding.words),
        )


def spell_numbers(ids: tuple[int, ...]) -> tuple[str, ...]:
    """Ids, none of them negative, as numerals; those of a long text are looked up, which is faster."""
    if len(ids) < LONG:
        return tuple(map(str, ids))
    try:
        spelled: tuple[str, ...] = itemgetter(*ids)(_list_numerals())
    except IndexError:  # larger than most vocabularies
        return tuple(map(str, ids))
    return spelled


@cache
def _list_numerals() -> tuple[str, ...]:
    return tuple(map(str, range(1 << 16)))


def _read_mapping(inputs: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Token ids and segments of a tokenizer's output; masked tokens and other inputs are refused by name."""
    if "input_ids" not in inputs:
        raise InputError("loaded.reading.no_input_ids", names=[str(name) for name in inputs])
    ids = _read_ids(inputs["input_ids"])
    known = {name: _read_ids(inputs[name]) for name in ("attention_mask", "token_type_ids") if name in inputs}
    for name in inputs:
        if name != "input_ids" and name not in known:
            raise InputError("loaded.reading.unknown_input", input=str(name))
    for name, values in known.items():
        if len(values) != len(ids):
            raise InputError("loaded.reading.unequal_lengths", input=name, count=len(values), ids=len(ids))
    if not all(known.get("attention_mask", ())):
        raise InputError("loaded.reading.masked_tokens")
    return ids, known.get("token_type_ids")


def _read_ids(inputs: Any) -> tuple[int, ...]:
    """Token ids of one text: whole numbers, in a list, an array or a tensor; or a batch of one row."""
    numbers = inputs.tolist() if hasattr(inputs, "tolist") else inputs
    if not isinstance(numbers, Iterable) or isinstance(numbers, str | bytes | bytearray | Mapping):
        raise InputError("loaded.reading.not_a_text", kind=type(inputs).__name__)
    ids = tuple(numbers)
    if ids and isinstance(ids[0], list | tuple | np.ndarray | Tensor):
        if len(ids) > 1:
            raise InputError("loaded.reading.several_rows", count=len(ids))
        return _read_ids(ids[0])
    if set(map(type, ids)) == {int} and _are_ids(ids):
        return ids  # as usual: no need to look at each
    for each in ids:
        if not isinstance(each, int | np.integer) or isinstance(each, bool):
            raise InputError("loaded.reading.not_an_id", seen=str(each)[:60])
        if each not in IDS:
            raise InputError("loaded.reading.impossible_id", id=int(each))
    return tuple(map(int, ids))


def _are_ids(numbers: tuple[int, ...]) -> bool:
    try:
        array = as_array(numbers)
    except OverflowError:
        return False
    return int(array.min()) in IDS and int(array.max()) in IDS


def as_array(numbers: Sequence[int]) -> NDArray[np.int64]:
    """Whole numbers (count,); faster than to ask NumPy what they might be."""
    return np.fromiter(numbers, np.int64, len(numbers))


def as_tokens(side: Side, encoding: Encoding, ids: NDArray[np.int64] | None = None) -> Tokens:
    """An encoding as a recording keeps it; `ids` are its own, where they are an array already."""
    return Tokens(
        side,
        encoding.texts,
        as_array(encoding.ids) if ids is None else ids,
        None if encoding.offsets is None else np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2),
        encoding.text,
        np.fromiter(encoding.special, bool, len(encoding.special)),
        None if encoding.words is None else np.array(encoding.words, dtype=np.int64),
        *((encoding.picture, encoding.sound) if isinstance(encoding, Percept) else ()),
    )
