"""How recorded arrays are checked and made read-only.

In:   arrays from a recorder or a bundle, and the axes they should have.
Out:  the same memory, read-only; or a RecordingError.
"""

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.messages import Message, literal
from glassformer.messages.message import LONGEST_QUOTE

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.signedinteger[Any]]
Booleans = NDArray[np.bool_]
AnyArray = NDArray[Any]
Axis = tuple[str, int | None]  # the name of an axis, and its length where it is known

# The types an array may keep; anything else of the same family becomes the first of them.
SINGLE = ("float32",)
FLOATS = ("float32", "float16", "float64")
DOUBLES = ("float64",)
LONGS = ("int64",)
INTEGERS = ("int64", "int32")
BOOLEANS = ("bool",)

LARGEST_COUNT = 2**53 - 1  # every reader of JSON has such numbers

_LARGEST_TABLE = 1 << 22  # numbers; no vocabulary is larger
_FAMILIES = {"f": "fiu", "i": "iu", "u": "u", "b": "b"}


class Rebuilt:
    """Copied and pickled by its constructor, which checks and freezes again what comes out."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        thing: Any = self
        values = (getattr(self, each.name) for each in fields(thing))
        return type(self), tuple(dict(value) if isinstance(value, Mapping) else value for value in values)


def wrong_value(name: str, value: Any, wanted: str, /, **details: Any) -> RecordingError:
    """The error for a field whose value cannot be; `wanted` is a code below recording.wanted."""
    plain = isinstance(value, (str, int, float)) or value is None
    shown = value if plain else literal(repr(value)[:LONGEST_QUOTE])
    expected = Message(f"recording.wanted.{wanted}", details)
    return RecordingError("recording.wrong_value", name=name, value=shown, wanted=expected)


def freeze(name: str, value: Any, kinds: Sequence[str], axes: Sequence[Axis]) -> AnyArray:
    """A read-only view of `value`, which stays as it is; copied only if its type is not among `kinds`."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise RecordingError("recording.no_array", name=name, axes=_list_axes(axes)) from None
    if array.dtype.name not in kinds:
        family = _FAMILIES[np.dtype(kinds[0]).kind]
        if array.dtype.kind not in family and array.size > 0:
            dtype = array.dtype.name
            raise RecordingError("recording.wrong_dtype", name=name, dtype=dtype, wanted=tuple(kinds))
        array = array.astype(kinds[0])
    fits = array.ndim == len(axes) and all(
        length is None or length == seen for (_, length), seen in zip(axes, array.shape, strict=True)
    )
    if not fits:
        shape, wanted = str(array.shape), _list_axes(axes)
        raise RecordingError("recording.wrong_shape", name=name, shape=shape, axes=wanted)
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def freeze_field(thing: Any, name: str, kinds: Sequence[str], axes: Sequence[Axis]) -> None:
    """The same for a field of a frozen dataclass while it is being constructed; a default of None stays."""
    value = getattr(thing, name)
    if value is not None or type(thing).__dataclass_fields__[name].default is not None:
        keep(thing, **{name: freeze(f"{type(thing).__name__}.{name}", value, kinds, axes)})


def is_mapped(array: AnyArray) -> bool:
    """Whether the memory belongs to a file: such arrays are checked by samples, to open them lazily."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return isinstance(owner, mmap.mmap) or (
        isinstance(owner, memoryview) and isinstance(owner.obj, mmap.mmap)
    )


def distinct(numbers: Integers) -> Integers:
    """The numbers that occur, in order; ids of tokens through a table, which is faster than sorting them."""
    if numbers.size == 0 or not 0 <= numbers.min() <= numbers.max() < _LARGEST_TABLE:
        return np.unique(numbers)
    present = np.zeros(int(numbers.max()) + 1, dtype=bool)
    present[numbers.ravel()] = True
    return np.flatnonzero(present)


def choose(count: int, limit: int) -> NDArray[np.int64]:
    """At most `limit` indices spread evenly over `count`, the last always among them."""
    if count <= limit:
        return np.arange(count)
    return np.linspace(count - 1, 0, limit).astype(np.int64)[::-1]


def require_text(name: str, value: Any) -> None:
    """Refuse anything but a non-empty string."""
    if not isinstance(value, str) or not value:
        raise wrong_value(name, value, "text")


def require_count(name: str, value: Any) -> None:
    """Refuse anything but a whole number from 0 to LARGEST_COUNT (a bool is not a number here)."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_COUNT:
        raise wrong_value(name, value, "count")


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse anything but one of a few words."""
    if value not in choices:
        raise wrong_value(name, value, "choice", choices=choices)


def require_type(name: str, value: Any, wanted: type) -> None:
    """Refuse anything but an instance of a class."""
    if not isinstance(value, wanted):
        raise wrong_value(name, value, "type", type=wanted.__name__)


def keep(thing: Any, **fields: Any) -> None:
    """Set checked fields of a frozen dataclass while it is being constructed."""
    for name, value in fields.items():
        object.__setattr__(thing, name, value)


def _list_axes(axes: Sequence[Axis]) -> str:
    return "(" + ", ".join(name if length is None else f"{name} {length}" for name, length in axes) + ")"
