"""Path patching: the change of one part reaches only the parts that are named, and those directly.

In:   a sender (a head, or a feed-forward network), receivers, and another text.
Out:  an edit under which each receiver gets what it would get if the sender alone gave what it gives for the
      other text, and nothing between them had reacted.

Three passes prepare it, as in Wang et al. (2022, "Interpretability in the wild", appendix B) and
Goldowsky-Dill et al. (2023):

1. The other text: what the sender gives.
2. This text, unedited: what every head gives (and, if they are frozen, every feed-forward network).
3. This text: the sender gives what it gave in 1, all other heads what they gave in 2. Norms are computed
   anew, and so are feed-forward networks, unless they are frozen. What each receiver gets is kept.

The recording itself is a pass over this text in which the receivers get what was kept in 3; everything after
them reacts as always.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

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
    Projection,
    Queries,
    ReadOutputs,
    States,
    Text,
    check_head,
    check_numbers,
    check_place,
    describe_positions,
    describe_text,
)
from glassformer.recorders.edits.patch import PatchHead, PatchStates, read_fields

if TYPE_CHECKING:
    from torch import Tensor

Between = Literal["recomputed", "frozen"]
MOST_RECEIVERS = 1000
Key = tuple[str, Kind | None, int, str]  # stack, kind of attention, layer, part
ORDER = ("self", "cross", "feed_forward")  # of the parts of a layer


class Receiver(NamedTuple):
    """What gets the change: queries, keys or values of a head, a feed-forward network, or the last states."""

    stack: str
    kind: Kind | None  # None: not a head
    layer: int | None  # None: the residual stream behind the last layer
    head: int | None
    part: Projection | Part

    @classmethod
    def read(cls, address: object) -> "Receiver":
        """`decoder.self.9.6.queries`, `decoder.9.feed_forward` or `decoder.residual`."""
        parts = address.split(".") if isinstance(address, str) else []
        match parts:
            case [*stack, kind, layer, head, part] if (
                stack
                and kind in get_args(Kind)
                and part in get_args(Projection)
                and layer.isdecimal()
                and head.isdecimal()
            ):
                return cls(".".join(stack), kind, int(layer), int(head), part)  # type: ignore[arg-type]
            case [*stack, layer, "feed_forward"] if stack and layer.isdecimal():
                return cls(".".join(stack), None, int(layer), None, "feed_forward")
            case [*stack, "residual"] if stack and not stack[-1].isdecimal():
                return cls(".".join(stack), None, None, None, "residual")
        raise InputError("recorders.edits.bad_receiver", seen=repr(address)[:80])

    @property
    def place(self) -> Place | None:
        """Where its head is; None: not a head."""
        return None if self.kind is None or self.layer is None else Place(self.stack, self.kind, self.layer)

    def comes_after(self, sender: "PatchPath") -> bool:
        """Whether it is later in a pass than the sender, as far as their places tell."""
        if self.stack != sender.stack:
            return sender.stack != "decoder" or self.stack != "encoder"
        if self.layer is None:
            return True
        own = ORDER.index(self.kind or "feed_forward")
        sent = ORDER.index("feed_forward" if sender.head is None else sender.kind)
        return (self.layer, own) > (sender.layer, sent)


@EDITS.register("patch_path")
@dataclass(frozen=True, slots=True)
class PatchPath(Edit):
    """What one head gives for another text (or, without a head, the feed-forward network of a layer) reaches
    the receivers directly, and nothing else.

    Receivers are written as "decoder.self.9.6.queries" (or keys, or values: stack, kind, layer, head),
    "decoder.9.feed_forward", or "decoder.residual", what comes out of the last layer. Where heads share keys
    and values, these have the number of the key head.

    On the way all other heads are frozen: they give what they give for this text. `feed_forward` networks are
    "recomputed" from what reaches them, or "frozen", too; then nothing but the residual stream and the norms
    are between sender and receivers.

    >>> path = gf.PatchPath("decoder", "self", 1, 3, "The man on the road", ("decoder.self.4.4.queries",))
    >>> clean = "The men on the road"
    >>> sweep = gf.sweep("zoo/gpt2", clean, outcome=gf.LogitDifference(" were", " was"), edits=[path])
    >>> sweep.effects.shape
    (1,)
    """

    stack: str
    kind: Kind
    layer: Count
    head: Count | None
    source: Text
    receivers: tuple[str, ...]
    positions: Positions | None = None
    target: Text | None = None
    feed_forward: Between = "recomputed"

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "layer", optional=False)
        check_numbers(self, "head")
        read_fields(self)
        given = (self.receivers,) if isinstance(self.receivers, str) else self.receivers
        if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_RECEIVERS:
            raise InputError("recorders.edits.bad_receiver", seen=repr(given)[:80])
        object.__setattr__(self, "receivers", tuple(given))
        if self.feed_forward not in get_args(Between):
            known = get_args(Between)
            raise InputError("recorders.edits.unknown_between", seen=repr(self.feed_forward), known=known)
        for address, receiver in zip(self.receivers, self.read_receivers(), strict=True):
            if not receiver.comes_after(self):
                raise InputError("recorders.edits.receiver_before", receiver=address, edit=self)

    def read_receivers(self) -> list[Receiver]:
        """The receivers by their parts."""
        return [Receiver.read(each) for each in self.receivers]

    @property
    def needs(self) -> Queries:
        return "all"

    def prepare(self, text: str, read: ReadOutputs) -> Edit:  # noqa: ARG002
        if self.head is None:
            sender: Edit = PatchStates(self.stack, "feed_forward", self.layer, self.source)
        else:
            sender = PatchHead(self.stack, self.kind, self.layer, self.head, self.source)
        (sent,) = read.at(sender)((self.source,), True, self.target)
        if self.head is not None:
            check_head(self.head, len(sent), Place(self.stack, self.kind, self.layer))
            sent = sent[self.head]
        clean = _Clean(self)
        read.run(clean)
        path = _Path(self, sent, clean)
        read.run(path)
        return _PatchedPath(self, path.kept)

    def as_message(self) -> Message:
        return message(
            "recorders.edits.path_patched",
            sender=message("recorders.edits.sender_head", head=self.head, place=Place(*self._place))
            if self.head is not None
            else message("recorders.edits.sender_layer", stack=name_term(self.stack), layer=self.layer),
            receivers=self.receivers,
            text=describe_text(self.source, self.target),
            positions=describe_positions(self.positions),
            between=name_term(self.feed_forward),
        )

    @property
    def _place(self) -> tuple[str, Kind, int]:
        return self.stack, self.kind, self.layer


@dataclass(slots=True)
class _Pass(Edit):
    """A pass that prepares a path."""

    path: PatchPath

    @property
    def needs(self) -> Queries:
        return "all"

    @property
    def edits_states(self) -> bool:
        path = self.path
        return path.feed_forward == "frozen" or path.head is None or bool(self._list_states())

    def touches(self, place: Place) -> bool:  # noqa: ARG002
        return True

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        if part == "feed_forward" and (self.path.feed_forward == "frozen" or self._sends(stack, layer)):
            return True
        return (stack, part, layer) in self._list_states() or (stack, part, None) in self._list_states()

    def _sends(self, stack: str, layer: int) -> bool:
        return self.path.head is None and (stack, layer) == (self.path.stack, self.path.layer)

    def _list_states(self) -> set[tuple[str, str, int | None]]:
        """Receivers that are no heads."""
        return {
            (each.stack, each.part, each.layer) for each in self.path.read_receivers() if each.kind is None
        }

    def as_message(self) -> Message:
        return self.path.as_message()


@dataclass(slots=True)
class _Clean(_Pass):
    """Collects what heads and feed-forward networks give for this text."""

    heads: dict[Place, "Tensor"] = field(default_factory=dict)  # (batch, head, query, width)
    added: dict[tuple[str, int], "Tensor"] = field(default_factory=dict)  # (batch, token, width)

    def change_outputs(self, outputs: HeadOutputs) -> None:
        self.heads[outputs.place] = outputs.read()

    def change_states(self, states: States) -> None:
        tensor = states.read()
        if states.part == "feed_forward":
            self.added[states.stack, states.layer] = tensor


@dataclass(slots=True)
class _Path(_Pass):
    """The sender gives what it gives for the other text, and all other heads are frozen."""

    sent: "Tensor"  # (token, width)
    clean: _Clean
    kept: "dict[Key, Tensor]" = field(default_factory=dict)

    def change_inputs(self, inputs: HeadInputs) -> None:
        place, tensor = inputs.place, inputs.read()
        if any(each.place == place for each in self.path.read_receivers()):
            self.kept[place.stack, place.kind, place.layer, inputs.part] = tensor[0].detach()

    def change_outputs(self, outputs: HeadOutputs) -> None:
        outputs.used = True
        outputs.tensor = self.clean.heads[outputs.place]
        path = self.path
        if path.head is not None and outputs.place[:3] == (path.stack, path.kind, path.layer):
            outputs.replace(path.head, self.sent, path.positions)

    def change_states(self, states: States) -> None:
        computed = states.read()
        self.kept[states.stack, None, states.layer, states.part] = computed[0].detach()
        if states.part != "feed_forward":
            return
        if self.path.feed_forward == "frozen":
            states.tensor = self.clean.added[states.stack, states.layer]
        if self._sends(states.stack, states.layer):
            states.replace(self.sent, self.path.positions)


@dataclass(frozen=True, slots=True)
class _PatchedPath(Edit):
    """A `PatchPath` whose passes are done: receivers get what they got in the last of them."""

    path: PatchPath
    kept: "dict[Key, Tensor]"

    @property
    def needs(self) -> Queries:
        return "all"

    @property
    def edits_attention(self) -> bool:
        return any(each.kind is not None for each in self.path.read_receivers())

    @property
    def edits_states(self) -> bool:
        return any(each.kind is None for each in self.path.read_receivers())

    def touches(self, place: Place) -> bool:
        return any(each.place == place._replace(step=None) for each in self.path.read_receivers())

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        return self._find_states(stack, part, layer) is not None

    def _find_states(self, stack: str, part: Part, layer: int) -> "Tensor | None":
        known = [key[2] for key in self.kept if (key[0], key[3]) == (stack, part)]
        for each in self.path.read_receivers():
            at = each.layer if each.part != "residual" else max(known, default=None)
            if each.kind is None and (each.stack, each.part, at) == (stack, part, layer):
                return self.kept.get((stack, None, layer, part))
        return None

    def change_inputs(self, inputs: HeadInputs) -> None:
        for each in self.path.read_receivers():
            if each.place == inputs.place._replace(step=None) and each.part == inputs.part:
                assert each.head is not None
                check_head(each.head, inputs.tensor.shape[1], inputs.place)
                found = self.kept[each.stack, each.kind, inputs.place.layer, each.part]
                inputs.replace(each.head, found[each.head])

    def change_states(self, states: States) -> None:
        found = self._find_states(states.stack, states.part, states.layer)
        assert found is not None
        states.replace(found)

    def as_message(self) -> Message:
        return self.path.as_message()
