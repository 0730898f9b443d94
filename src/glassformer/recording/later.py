"""Arrays of a recording that are on a GPU, or not computed yet, until they are read.

In:   a `Later` in place of an array of vectors or weights.
Out:  the whole array when its field is read; one head, without the others, by `read_head`.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.recording.arrays import AnyArray, Axis, Floats, Rebuilt, freeze, freeze_field, keep


class Later(ABC):
    """Vectors (head, token, width) or weights (head, query, key) in float32 that were not read yet."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.checked: set[int] = set()  # query heads whose rows were found to sum to one

    @property
    def memory(self) -> int:
        """Bytes of this machine's memory that it holds; what is elsewhere does not count."""
        return 0

    @abstractmethod
    def read_head(self, head: int) -> Floats:
        """Those of one head (token, width) or (query, key)."""

    @abstractmethod
    def read(self) -> Floats:
        """All of them; from now on they are an ordinary array, the same one at every call."""


class Lazy(Rebuilt):
    """A frozen dataclass, some of whose arrays may be given as `Later`; read, such a field is an array."""

    __slots__ = ("_later",)

    def freeze_later(self, name: str, kinds: tuple[str, ...], axes: list[Axis]) -> None:
        """As `freeze_field`; a `Later` is checked by its shape, and its field is empty until it is read."""
        value = getattr(self, name)
        if not isinstance(value, Later):
            freeze_field(self, name, kinds, axes)
            return
        stand_in = np.broadcast_to(np.float32(0), value.shape)  # takes no memory
        freeze(f"{type(self).__name__}.{name}", stand_in, kinds, axes)
        keep(self, _later={**self._waiting(), name: value})
        object.__delattr__(self, name)  # so that reading it leads to __getattr__

    def peek(self, name: str) -> Any:
        """A field as it is: an array, or the `Later` that it was given as; nothing is fetched."""
        return self._waiting().get(name) or getattr(self, name)

    def read_head(self, name: str, head: int) -> AnyArray:
        """One head of a field (token, width), without fetching the others."""
        later = self._waiting().get(name)
        found: AnyArray = getattr(self, name)[head] if later is None else later.read_head(head)
        return found

    def _waiting(self) -> dict[str, Later]:
        try:
            found: dict[str, Later] = object.__getattribute__(self, "_later")
        except AttributeError:  # no field was given as `Later`
            return {}
        return found

    if not TYPE_CHECKING:  # type checkers know every field

        def __getattr__(self, name: str) -> Any:
            later = self._waiting().get(name)
            if later is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            array = later.read().view()
            array.flags.writeable = False
            keep(self, **{name: array})
            return array
