"""Patch: replace what a network computes for this text by what it computes for another, and see what changes.

If the answer of one text comes back although only a few vectors are its own, those vectors carry the answer.
The other text needs as many tokens, so that each has a counterpart. What is patched in is measured in the
unedited model. The decoder of an encoder-decoder reads the target of the recording also after the other text,
unless the patch names another `target`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place, name_term
from glassformer.recorders.edits.edit import (
    EDITS,
    Count,
    Edit,
    HeadOutputs,
    Part,
    Positions,
    Queries,
    ReadOutputs,
    States,
    Text,
    check_head,
    check_numbers,
    check_place,
    describe_positions,
    describe_text,
    read_positions,
    read_text,
)

if TYPE_CHECKING:
    from torch import Tensor


@EDITS.register("patch_head")
@dataclass(frozen=True, slots=True)
class PatchHead(Edit):
    """The output of one head at some tokens (None: at all), replaced by its output for another text.

    >>> print(gf.PatchHead("decoder", "self", 3, 2, "A dog ran", positions=(-1,)))
    head 2 of decoder layer 3, self: output of tokens -1 replaced by that for 'A dog ran'
    """

    stack: str
    kind: Kind
    layer: Count
    head: Count
    source: Text
    positions: Positions | None = None
    target: Text | None = None

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "layer", "head", optional=False)
        _read_fields(self)

    @property
    def needs(self) -> Queries:
        return "each" if self.stack == "encoder" else "all"  # an encoder always reads the whole text

    def prepare(self, text: str, read: ReadOutputs) -> Edit:  # noqa: ARG002
        (outputs,) = read((self.source,), True, self.target)
        check_head(self.head, len(outputs), Place(self.stack, self.kind, self.layer))
        return _PatchedHead(self, outputs[self.head])

    def change_outputs(self, outputs: HeadOutputs) -> None:
        raise NotImplementedError("the other text has not been read")

    def as_message(self) -> Message:
        place = Place(self.stack, self.kind, self.layer)
        return message(
            "recorders.edits.head_patched",
            head=self.head,
            place=place,
            text=describe_text(self.source, self.target),
            positions=describe_positions(self.positions),
        )


@dataclass(frozen=True, slots=True)
class _PatchedHead(Edit):
    """A `PatchHead` whose other text has been read."""

    edit: PatchHead
    outputs: "Tensor"  # (token, width)

    @property
    def needs(self) -> Queries:
        return self.edit.needs

    def touches(self, place: Place) -> bool:
        return self.edit.touches(place)

    def change_outputs(self, outputs: HeadOutputs) -> None:
        outputs.replace(self.edit.head, self.outputs, self.edit.positions)

    def as_message(self) -> Message:
        return self.edit.as_message()


@EDITS.register("patch_states")
@dataclass(frozen=True, slots=True)
class PatchStates(Edit):
    """Vectors of a layer at some tokens (None: at all), replaced by those for another text.

    `part` is "residual", what goes into the layer, or "feed_forward", what its feed-forward network adds.

    >>> print(gf.PatchStates("decoder", "residual", 2, "John and Mary left", positions=(0, 2)))
    residual stream of decoder layer 2: tokens 0, 2 replaced by that for 'John and Mary left'
    """

    stack: str
    part: Part
    layer: Count
    source: Text
    positions: Positions | None = None
    target: Text | None = None

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "layer", optional=False)
        if self.part not in get_args(Part):
            raise InputError("recorders.edits.unknown_part", part=str(self.part), known=get_args(Part))
        _read_fields(self)

    @property
    def needs(self) -> Queries:
        return "each" if self.stack == "encoder" else "all"  # an encoder always reads the whole text

    def prepare(self, text: str, read: ReadOutputs) -> Edit:  # noqa: ARG002
        (states,) = read((self.source,), True, self.target)
        return _PatchedStates(self, states)

    def change_states(self, states: States) -> None:
        raise NotImplementedError("the other text has not been read")

    def as_message(self) -> Message:
        return message(
            "recorders.edits.states_patched",
            part=name_term(self.part),
            stack=name_term(self.stack),
            layer=self.layer,
            text=describe_text(self.source, self.target),
            positions=describe_positions(self.positions),
        )


@dataclass(frozen=True, slots=True)
class _PatchedStates(Edit):
    """A `PatchStates` whose other text has been read."""

    edit: PatchStates
    states: "Tensor"  # (token, width)

    @property
    def needs(self) -> Queries:
        return self.edit.needs

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        return self.edit.touches_states(stack, part, layer)

    def change_states(self, states: States) -> None:
        states.replace(self.states, self.edit.positions)

    def as_message(self) -> Message:
        return self.edit.as_message()


def _read_fields(edit: PatchHead | PatchStates) -> None:
    """Texts and positions of a patch as tuples, checked."""
    object.__setattr__(edit, "source", read_text(edit.source))
    object.__setattr__(edit, "positions", read_positions(edit.positions))
    if edit.target is not None:
        object.__setattr__(edit, "target", read_text(edit.target))
