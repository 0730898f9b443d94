"""Steer: add a vector to the residual stream before a layer."""

import math
from dataclasses import dataclass
from textwrap import shorten
from typing import Annotated, Any, ClassVar

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.recorders.edits.edit import (
    EDITS,
    Count,
    Edit,
    Part,
    Positions,
    Queries,
    States,
    check_numbers,
    check_place,
    describe_positions,
    read_positions,
)

WIDEST = 1 << 16  # numbers of a vector


class Numbers:
    """For pydantic: the vector of a request is a list of finite numbers; nothing of it is imported here."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        number = {"type": "float", "allow_inf_nan": False}
        return {"type": "list", "items_schema": number, "min_length": 1, "max_length": WIDEST}


@EDITS.register("steer")
@dataclass(frozen=True, slots=True)
class Steer(Edit):
    """A vector (width,) added to what goes into a layer, at some tokens (None: at all, also those generated).

    A direction is often the difference of two hidden states:

    >>> texts = ("I am happy", "I am sad")
    >>> happy, sad = (gf.record("zoo/gpt2", text, want="hidden").hidden["decoder"] for text in texts)
    >>> edit = gf.Steer("decoder", 3, 4 * (happy[3, -1] - sad[3, -1]))
    """

    part: ClassVar[Part] = "residual"

    stack: str
    layer: Count
    vector: Annotated[Any, Numbers()]  # (width,): numbers, an array or a tensor; kept as a tuple
    positions: Positions | None = None

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "layer", optional=False)
        object.__setattr__(self, "vector", _read_vector(self.vector))
        object.__setattr__(self, "positions", read_positions(self.positions))

    @property
    def needs(self) -> Queries:
        return "each" if self.positions is None else "numbered"

    def change_states(self, states: States) -> None:
        import torch

        states.add(torch.tensor(self.vector, dtype=torch.float64), self.positions)

    def as_message(self) -> Message:
        return message(
            "recorders.edits.steered",
            length=math.hypot(*self.vector),
            stack=name_term(self.stack),
            layer=self.layer,
            positions=describe_positions(self.positions),
        )


def _read_vector(given: Any) -> tuple[float, ...]:
    """Numbers of a list, an array or a tensor; InputError where they are not one row of finite numbers."""
    numbers = given.tolist() if hasattr(given, "tolist") else given
    if (
        not isinstance(numbers, list | tuple)
        or not 0 < len(numbers) <= WIDEST
        or not all(type(each) in (int, float) and math.isfinite(each) for each in numbers)
    ):
        raise InputError(
            "recorders.edits.bad_vector", seen=shorten(repr(given), 80, placeholder=" …"), most=WIDEST
        )
    return tuple(map(float, numbers))
