"""Patch: replace what a network computes for this text by what it computes for another, and see what changes.

If the answer of one text comes back although only a few vectors are its own, those vectors carry the answer.
The other text needs as many tokens, so that each has a counterpart. What is patched in is measured in the
unedited model. The decoder of an encoder-decoder reads the target of the recording also after the other text,
unless the patch names another `target`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place, name_term
from glassformer.recorders.edits.edit import (
    EDITS,
    Count,
    Edit,
    HeadInputs,
    HeadOutputs,
    Part,
    Positions,
    Queries,
    Read,
    ReadOutputs,
    States,
    Text,
    Weights,
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


@dataclass(frozen=True, slots=True)
class Patch(Edit):
    """What all patches share."""

    @property
    def needs(self) -> Queries:
        return "each" if getattr(self, "stack", None) == "encoder" else "all"  # an encoder reads a whole text


@dataclass(frozen=True, slots=True)
class _HeadPatch(Patch):
    """A patch of one head."""

    code: ClassVar[str]  # of its description

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
        read_fields(self)

    def prepare(self, text: str, read: ReadOutputs) -> Edit:  # noqa: ARG002
        (found,) = read((self.source,), True, self.target)
        check_head(self.head, len(found), Place(self.stack, self.kind, self.layer))
        return _PREPARED[type(self)](self, found[self.head])

    def as_message(self) -> Message:
        return message(
            self.code,
            head=self.head,
            place=Place(self.stack, self.kind, self.layer),
            text=describe_text(self.source, self.target),
            positions=describe_positions(self.positions),
        )


@EDITS.register("patch_head")
@dataclass(frozen=True, slots=True)
class PatchHead(_HeadPatch):
    """The output of one head at some tokens (None: at all), replaced by its output for another text.

    >>> print(gf.PatchHead("decoder", "self", 3, 2, "A dog ran", positions=(-1,)))
    head 2 of decoder layer 3, self: output of tokens -1 replaced by that for 'A dog ran'
    """

    reads: ClassVar[Read] = "outputs"
    code: ClassVar[str] = "recorders.edits.head_patched"


@EDITS.register("patch_pattern")
@dataclass(frozen=True, slots=True)
class PatchPattern(_HeadPatch):
    """Where one head looks: its weights at some queries (None: at all), replaced by those for another text.

    What it finds there, the values, stays that of this text.

    >>> print(gf.PatchPattern("decoder", "self", 3, 2, "A dog ran", positions=(-1,)))
    head 2 of decoder layer 3, self: attention weights of tokens -1 replaced by that for 'A dog ran'
    """

    reads: ClassVar[Read] = "weights"
    code: ClassVar[str] = "recorders.edits.pattern_patched"


@EDITS.register("patch_value")
@dataclass(frozen=True, slots=True)
class PatchValue(_HeadPatch):
    """What one head finds at some keys (None: at all): its values, replaced by those for another text.

    Where it looks stays that of this text.

    Where heads share keys and values (Llama 3), `head` is the number of the key head, and all heads that read
    it are patched.

    >>> print(gf.PatchValue("decoder", "self", 3, 2, "A dog ran", positions=(0,)))
    head 2 of decoder layer 3, self: values of tokens 0 replaced by that for 'A dog ran'
    """

    reads: ClassVar[Read] = "values"
    code: ClassVar[str] = "recorders.edits.value_patched"


@EDITS.register("patch_states")
@dataclass(frozen=True, slots=True)
class PatchStates(Patch):
    """Vectors of a layer at some tokens (None: at all), replaced by those for another text.

    `part` is "residual", what goes into the layer (into layer n of n layers: what comes out of the last one),
    or "feed_forward", what its feed-forward network adds.

    >>> print(gf.PatchStates("decoder", "residual", 2, "John and Mary left", positions=(0, 2)))
    residual stream of decoder layer 2: tokens 0, 2 replaced by that for 'John and Mary left'
    """

    reads: ClassVar[Read] = "states"

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
        read_fields(self)

    @property
    def edits_states(self) -> bool:
        return True

    def prepare(self, text: str, read: ReadOutputs) -> Edit:  # noqa: ARG002
        (states,) = read((self.source,), True, self.target)
        return _PatchedStates(self, states)

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
class _Prepared(Edit):
    """A patch whose other text has been read."""

    edit: _HeadPatch | PatchStates
    found: "Tensor"

    @property
    def needs(self) -> Queries:
        return self.edit.needs

    def touches(self, place: Place) -> bool:
        return self.edit.touches(place)

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        return self.edit.touches_states(stack, part, layer)

    def as_message(self) -> Message:
        return self.edit.as_message()


@dataclass(frozen=True, slots=True)
class _PatchedHead(_Prepared):
    """`found`: (query, width)"""

    edit: _HeadPatch

    def change_outputs(self, outputs: HeadOutputs) -> None:
        outputs.replace(self.edit.head, self.found, self.edit.positions)


@dataclass(frozen=True, slots=True)
class _PatchedPattern(_Prepared):
    """`found`: (query, key)"""

    edit: _HeadPatch

    def change_weights(self, weights: Weights) -> None:
        weights.replace_rows(self.edit.head, self.found, self.edit.positions)


@dataclass(frozen=True, slots=True)
class _PatchedValue(_Prepared):
    """`found`: (key, width)"""

    edit: _HeadPatch

    def change_inputs(self, inputs: HeadInputs) -> None:
        if inputs.part == "values":
            inputs.replace(self.edit.head, self.found, self.edit.positions)


@dataclass(frozen=True, slots=True)
class _PatchedStates(_Prepared):
    """`found`: (token, width)"""

    def change_states(self, states: States) -> None:
        states.replace(self.found, self.edit.positions)


_PREPARED: dict[type[Edit], type[_Prepared]] = {
    PatchHead: _PatchedHead,
    PatchPattern: _PatchedPattern,
    PatchValue: _PatchedValue,
}


def read_fields(edit: Any) -> None:
    """Texts and positions of a patch as tuples, checked."""
    object.__setattr__(edit, "source", read_text(edit.source))
    object.__setattr__(edit, "positions", read_positions(edit.positions))
    if edit.target is not None:
        object.__setattr__(edit, "target", read_text(edit.target))
