"""Ablate one head: its weights become zero, or every query gets the mean of all rows."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recorders.edits.edit import EDITS, Count, Edit, Queries, Weights, check_numbers


@EDITS.register("ablate")
@dataclass(frozen=True, slots=True)
class AblateHead(Edit):
    """One head ablated after the softmax, so that its rows need not sum to one.

    "zero" takes all weights away; "mean" gives every query the mean of all rows, so that the head contributes
    the same at every position.

    >>> edit = gf.AblateHead("encoder", "self", 2, head=1)
    >>> float(gf.record("zoo/bert", "The cat sleeps.", edits=[edit]).map(layer=2).weights(head=1).max())
    0.0
    """

    spellings: ClassVar = {"zero": {"how": "zero"}, "mean": {"how": "mean"}}

    stack: str
    kind: Kind
    layer: Count
    head: Count
    how: Literal["zero", "mean"] = "zero"

    def __post_init__(self) -> None:
        check_numbers(self, "layer", "head")
        if self.how not in ("zero", "mean"):
            raise InputError("recorders.edits.unknown_ablation", how=str(self.how))

    @classmethod
    def at(cls, place: Place, head: int, how: Literal["zero", "mean"] = "zero") -> "AblateHead":
        """The same by the address of a map."""
        return cls(place.stack, place.kind, place.layer, head, how)

    @property
    def needs(self) -> Queries:
        return "all" if self.how == "mean" else "each"

    def change_weights(self, weights: Weights) -> None:
        if self.how == "zero":
            weights.silence(self.head)
        else:
            weights.replace(self.head, weights.rows(self.head).mean(dim=1, keepdim=True))

    def as_message(self) -> Message:
        place = Place(self.stack, self.kind, self.layer)
        if self.how == "zero":
            return message("recorders.edits.head_silenced", head=self.head, place=place)
        return message("recorders.edits.head_averaged", head=self.head, place=place)
