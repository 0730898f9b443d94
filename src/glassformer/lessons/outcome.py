"""What a topic works with: parameters by kind, models by shape, and the way from tensors to pictures.

In:   values, tensors, labels.
Out:  the forms of lessons/schema.py. What is not finite becomes None: there is nothing to draw.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from glassformer.lessons.schema import Axis, Figure, Matrix, Range, Row, Series, Value
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.model.transformer import Transformer

DIGITS = 7  # that single precision has


@dataclass(frozen=True, slots=True)
class Words:
    """Parameters that were checked, by kind."""

    values: Mapping[str, Value]

    def integer(self, name: str) -> int:
        return int(self.values[name])

    def number(self, name: str) -> float:
        return float(self.values[name])

    def text(self, name: str) -> str:
        return str(self.values[name])

    def flag(self, name: str) -> bool:
        return bool(self.values[name])


class Models(Protocol):
    """The models that ship; a topic that wants real numbers takes one."""

    def find(self, fits: Callable[[Transformer], bool], what: str) -> LoadedModel:
        """The first whose network fits; InputError where none does."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a topic found."""

    found: Message
    figures: Sequence[Figure]
    model: str | None = None
    used: Mapping[str, Value] = field(default_factory=dict)  # where a parameter was more than there is
    ranges: Mapping[str, Range] = field(default_factory=dict)  # how far parameters can go with this text


def chain(code: str, parts: Sequence[Message]) -> Message:
    """Messages in a row, joined by the template of a code: "{first} + {rest}"."""
    first, *rest = parts
    return message(code, first=first, rest=chain(code, rest)) if rest else first


def plain(number: float) -> float | None:
    """A number as JSON can carry it, no longer than it is exact."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def row(values: Tensor | Sequence[float]) -> Row:
    """Numbers in a row."""
    listed: list[float] = values.tolist() if isinstance(values, Tensor) else list(values)
    return tuple(plain(value) for value in listed)


def write(number: float, form: str) -> str:
    """A number for a sentence: a true minus, and no zero in front of an exponent (−0.13, 2.9e−6)."""
    text = format(number, form)
    base, mark, power = text.partition("e")
    return (base + mark + (str(int(power)) if mark else "")).replace("-", "−")


def percent(number: float) -> str:
    """A part of a whole for a sentence: 62 %, in one piece, as the page writes it everywhere."""
    return f"{100 * number:.0f}\u202f%"


def series(name: Message, values: Tensor | Sequence[float], *, dashed: bool = False) -> Series:
    """A named row."""
    return Series(name=name, values=row(values), dashed=dashed)


def axis(labels: Sequence[object], title: Message | None = None) -> Axis:
    """What stands beside a matrix."""
    return Axis(title=title, labels=tuple(str(label) for label in labels))


def matrix(
    id: str,
    title: Message,
    values: Tensor,
    rows: Axis,
    columns: Axis,
    *,
    ends: tuple[float, float] | None = None,
    note: Message | None = None,
) -> Matrix:
    """Numbers as colours; without `ends` from minus to plus the largest, or from 0 where none is below."""
    finite = values[torch.isfinite(values)]
    largest = (float(finite.abs().max()) if finite.numel() else 1.0) or 1.0
    lowest = -largest if (finite < 0).any() else 0.0
    low, high = ends or (lowest, largest)
    return Matrix(
        id=id,
        title=title,
        note=note,
        rows=rows,
        columns=columns,
        values=tuple(row(line) for line in values),
        scale="sequential" if low == 0 else "diverging",
        low=low,
        high=high,
    )


def label_tokens(model: LoadedModel, ids: Sequence[int]) -> list[str]:
    """Tokens as short labels: without the space in front that many vocabularies spell."""
    tokenizer = model.tokenizer
    if tokenizer is None:
        return [str(id) for id in ids]
    return [text.strip() or "␣" for text in tokenizer.display(ids)]


def flags(id: str, title: Message, values: Tensor, rows: Axis, columns: Axis) -> Matrix:
    """Yes and no as a matrix."""
    made = matrix(id, title, values.double(), rows, columns, ends=(0.0, 1.0))
    return made.model_copy(update={"scale": "flags"})


def seeded(seed: int) -> torch.Generator:
    """Chance that can be repeated."""
    return torch.Generator().manual_seed(seed)
