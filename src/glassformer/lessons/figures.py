"""From tensors to the figures of lessons/schema.py, for topics.

In:   values, tensors, labels.
Out:  figures and their parts. A number that is not finite becomes None: there is nothing to draw.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.lessons.schema import Axis, Matrix, Measure, Numbers, Row, Series
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, as_message, message

DIGITS = 7  # of a number in single precision
MAX_TOKENS = 40  # of a sentence whose matrix is drawn

Text = Message | str  # of a message without parameters its code is enough


def round_number(number: float) -> float | None:
    """A number as JSON can carry it, with the digits that are exact."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def row(values: Tensor | Sequence[float]) -> Row:
    """Numbers in a row."""
    listed: list[float] = values.tolist() if isinstance(values, Tensor) else list(values)
    return tuple(round_number(value) for value in listed)


def format_number(number: float, form: str) -> str:
    """A number for a sentence: a true minus, and no zero in front of an exponent (−0.13, 2.9e−6)."""
    text = format(number, form)
    base, mark, power = text.partition("e")
    return (base + mark + (str(int(power)) if mark else "")).replace("-", "−")


def percent(number: float) -> str:
    """A share for a sentence, with a narrow space as on the rest of the page: 62 %."""
    return f"{100 * number:.0f}\u202f%"


def chain(code: str, parts: Sequence[Message]) -> Message:
    """Messages in a row, joined by the template of a code: "{first} + {rest}"."""
    first, *rest = parts
    return message(code, first=first, rest=chain(code, rest)) if rest else first


def series(name: Text, values: Tensor | Sequence[float], *, dashed: bool = False) -> Series:
    """A named row."""
    return Series(name=as_message(name), values=row(values), dashed=dashed)


def measure(name: Text, value: float, *, unit: str | None = None, good: bool | None = None) -> Measure:
    """A number with a name."""
    return Measure(name=as_message(name), value=round_number(value), unit=unit, good=good)


def numbers(id: str, title: Text, *items: Measure, note: Text | None = None) -> Numbers:
    """A few numbers, large."""
    return Numbers(
        id=id, title=as_message(title), note=None if note is None else as_message(note), items=items
    )


def axis(labels: Sequence[object], title: Text | None = None) -> Axis:
    """The labels beside a matrix."""
    return Axis(title=None if title is None else as_message(title), labels=tuple(map(str, labels)))


def matrix(
    id: str,
    title: Text,
    values: Tensor,
    rows: Axis,
    columns: Axis,
    *,
    ends: tuple[float, float] | None = None,
    note: Text | None = None,
) -> Matrix:
    """Numbers as colours; without `ends` from minus to plus the largest, or from 0 where none is negative."""
    finite = values[torch.isfinite(values)]
    largest = (float(finite.abs().max()) if finite.numel() else 1.0) or 1.0
    lowest = -largest if (finite < 0).any() else 0.0
    low, high = ends or (lowest, largest)
    return Matrix(
        id=id,
        title=as_message(title),
        note=None if note is None else as_message(note),
        rows=rows,
        columns=columns,
        values=tuple(row(line) for line in values),
        scale="sequential" if low == 0 else "diverging",
        low=low,
        high=high,
    )


def flags(id: str, title: Text, values: Tensor, rows: Axis, columns: Axis) -> Matrix:
    """Yes and no as a matrix."""
    made = matrix(id, title, values.double(), rows, columns, ends=(0.0, 1.0))
    return made.model_copy(update={"scale": "flags"})


def read_sentence(model: LoadedModel, text: str) -> tuple[tuple[int, ...], list[str]]:
    """The token ids of a sentence and their labels, without the space that many vocabularies put in front."""
    ids = model.reader.read_source(text, None).ids
    if len(ids) > MAX_TOKENS:
        raise InputError("lessons.sentence_too_long", count=len(ids), most=MAX_TOKENS)
    texts = map(str, ids) if model.tokenizer is None else model.tokenizer.display(ids)
    return ids, [text.strip() or "␣" for text in texts]


def seeded(seed: int) -> torch.Generator:
    """A random generator that can be repeated."""
    return torch.Generator().manual_seed(seed)
