"""Run the first layers of a stack only."""

from dataclasses import dataclass
from typing import ClassVar

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.recorders.edits.edit import EDITS, Count, Edit, check_numbers, check_place


@EDITS.register("layers")
@dataclass(frozen=True, slots=True)
class FirstLayers(Edit):
    """Only the first layers run, of one stack or of all (None); what follows a stack reads their result.

    >>> len(gf.record("zoo/bert", "The cat sleeps.", edits=[gf.FirstLayers(2)]).maps)
    2
    """

    spellings: ClassVar = {"first": {}}

    count: Count
    stack: str | None = None

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "count", optional=False)
        if self.count < 1:
            raise InputError("recorders.edits.no_layers")

    def limit_layers(self, stack: str) -> int | None:
        return self.count if self.stack in (None, stack) else None

    def as_message(self) -> Message:
        if self.stack is None:
            return message("recorders.edits.first_layers_everywhere", count=self.count)
        return message("recorders.edits.first_layers", count=self.count, stack=name_term(self.stack))
