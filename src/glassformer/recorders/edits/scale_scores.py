"""Multiply scores before the softmax: sharper or flatter attention."""

import warnings
from dataclasses import dataclass

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recorders.edits.edit import EDITS, Count, Edit, Scores, check_place, describe_place

LARGEST_FACTOR = 1e6  # one key has all the weight long before, and single precision overflows beyond


@EDITS.register("scale")
@dataclass(frozen=True, slots=True)
class ScaleScores(Edit):
    """Scores multiplied by a factor, in the given stack, kind and layer or in all of them (None).

    What the softmax is given is multiplied: scaled products, soft-capped, with biases; not a sink.

    >>> flat = gf.record("zoo/bert", "The cat sleeps.", edits=[gf.ScaleScores(0.0)])
    >>> bool(np.allclose(flat.tensor("encoder"), 1 / len(flat.source)))  # every head looks everywhere
    True
    """

    factor: float
    stack: str | None = None
    kind: Kind | None = None
    layer: Count | None = None

    def __post_init__(self) -> None:
        if isinstance(self.stack, int):  # the former order: factor, layer, stack, kind
            warnings.warn(
                "ScaleScores takes factor, stack, kind, layer; name the layer: ScaleScores(2.0, layer=3).",
                DeprecationWarning,
                stacklevel=3,
            )
            for name, value in zip(
                ("layer", "stack", "kind"), (self.stack, self.kind, self.layer), strict=True
            ):
                object.__setattr__(self, name, value)
        check_place(self)
        number = isinstance(self.factor, int | float) and not isinstance(self.factor, bool)
        if not number or not abs(self.factor) <= LARGEST_FACTOR:
            raise InputError("recorders.edits.bad_factor", factor=repr(self.factor)[:40], most=LARGEST_FACTOR)

    @classmethod
    def at(cls, place: Place, factor: float) -> "ScaleScores":
        """The same by the address of a map."""
        return cls(factor, place.stack, place.kind, place.layer)

    def change_scores(self, scores: Scores) -> None:
        scores.multiply(self.factor)

    def as_message(self) -> Message:
        place = describe_place(self.stack, self.kind, self.layer)
        return message("recorders.edits.scores_scaled", factor=self.factor, place=place)
