"""What an edit is: a change to a network for one recording, described without any network.

In:   nothing.
Out:  `Edit`, the base class of every edit, and the operations that it may use: `HeadInputs`, `Scores`,
      `Weights`, `HeadOutputs` and `States`; `EDITS`, those by name that the command line and the server
      offer: they read edits by the fields of their classes.

Three executors carry edits out: native/edits.py (the windows of our networks), transformers/edits.py (the
attention interface) and transformers/softmaxes.py (models off the interface, without `HeadInputs`). Each
offers these operations and can limit the layers of a stack. A new edit is one file in this
folder that uses these operations; a new operation is one method here and its implementation in each executor.

The server imports this folder, and has no torch: import it here for type checkers or inside functions only.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, get_args

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place, name_term
from glassformer.registry import Registry
from glassformer.settings import Limits

if TYPE_CHECKING:
    from torch import Tensor

Target = Literal["inputs", "scores", "weights", "outputs", "states", "layers"]
METHODS: dict[Target, str] = {
    "inputs": "change_inputs",
    "scores": "change_scores",
    "weights": "change_weights",
    "outputs": "change_outputs",
    "states": "change_states",
    "layers": "limit_layers",
}
Part = Literal["residual", "feed_forward"]  # of a layer: what goes in, what its feed-forward network adds
Projection = Literal["queries", "keys", "values"]  # what an attention call is given
Read = Literal["outputs", "weights", "values", "states"]  # what an edit may need to know of another text
Queries = Literal["each", "numbered", "all"]
Index = tuple[Any, ...]  # into (batch, head, query, key)
Count = Annotated[int, Limits(least=0, most=2**31 - 1)]  # of layers; the number of a head or token
Text = str | tuple[int, ...]  # a text, or the ids of its tokens
Positions = tuple[int, ...]  # of tokens; negative ones count from the end
_STACK = re.compile(r"[^\W\d]\w*(\.\w+)*")  # the path of a module
STACKS = ("encoder", "decoder")  # models with more stacks name them by the paths of their modules


class HeadInputs:
    """Queries, keys or values (batch, head, token, width) that one attention call is given, after rotation.
    Keys and values have fewer heads where heads share them."""

    def __init__(self, place: Place, part: Projection, states: "Tensor") -> None:
        self.place = place
        self.part = part
        self.tensor = states
        self.used = False  # whether an edit has read or replaced something

    def read(self) -> "Tensor":
        """Those of all heads."""
        self.used = True
        return self.tensor

    def replace(self, head: int, states: "Tensor", positions: Sequence[int] | None = None) -> None:
        """Give a head other ones (token, width) at these positions; None: at all."""
        check_head(head, self.tensor.shape[1], self.place)
        check_tokens(len(states), self.tensor.shape[2])
        at = slice(None) if positions is None else check_positions(positions, self.tensor.shape[2])
        self.tensor = self.tensor.clone()
        self.tensor[:, head, at] = states.to(self.tensor)[at]
        self.used = True


class Scores(ABC):
    """The scores (batch, head, query, key) of one attention call, before the softmax."""

    def __init__(self, place: Place, shape: tuple[int, ...], queries: int | None = None) -> None:
        self.place = place
        self.shape = shape
        self.queries = shape[2] if queries is None else queries  # of one sequence: beams may be more rows
        self.start = 0  # the position of the first query in the text
        self.changed = False  # whether an operation has taken place
        self.masked_before = False  # whether something was to be hidden that is hidden already
        self.flattened = False  # whether a head looks everywhere alike
        self.hidden: list[Index] = []

    def multiply(self, factor: float) -> None:
        """Multiply all scores: scaled products, soft-capped, with biases; not a sink."""
        self._multiply(factor)
        self.changed = True

    def add(self, bias: "Tensor") -> None:
        """Add a tensor that broadcasts to the scores. What a mask hides stays hidden."""
        self._add(bias)
        self.changed = True

    def hide(
        self, *, head: int | None = None, query: int | slice | None = None, key: int | None = None
    ) -> None:
        """Hide keys from queries; None: all. Nothing happens where there is no such query or key (yet)."""
        if head is not None:
            check_head(head, self.shape[1], self.place)
        first = (query.start if isinstance(query, slice) else query) or 0
        if first >= self.queries or (key or 0) >= self.shape[3]:
            return
        everything = slice(None)
        rows = slice(query, self.shape[2], self.queries) if isinstance(query, int) else query or everything
        at = (everything, everything if head is None else head, rows, everything if key is None else key)
        if not self._sees(at):
            self.masked_before = True
            return
        self._hide(at)
        self.hidden.append(at)
        self.changed = True

    def flatten(self, head: int, positions: Sequence[int] | None = None) -> None:
        """Make scores of a head 0: these queries (None: all) look at every key alike that they may see."""
        check_head(head, self.shape[1], self.place)
        self._flatten(head, slice(None) if positions is None else check_positions(positions, self.shape[2]))
        self.changed = self.flattened = True

    @abstractmethod
    def _sees(self, at: Index) -> bool:
        """Whether any of these keys may be seen: neither the mask nor an edit hides it."""

    @abstractmethod
    def _flatten(self, head: int, rows: slice | list[int]) -> None: ...

    @abstractmethod
    def _multiply(self, factor: float) -> None: ...

    @abstractmethod
    def _add(self, bias: "Tensor") -> None: ...

    @abstractmethod
    def _hide(self, at: Index) -> None: ...


class ScoreTensor(Scores):
    """Scores that an executor holds as a tensor.

    Those up to `masked` are hidden by a mask; `allowed`, where it is known, is a mask that is applied later.
    """

    def __init__(
        self,
        place: Place,
        scores: "Tensor",
        queries: int | None = None,
        *,
        masked: float = -math.inf,
        allowed: "Tensor | None" = None,
    ) -> None:
        super().__init__(place, tuple(scores.shape), queries)
        self.tensor = scores
        self.masked = masked
        self.allowed = allowed

    def _sees(self, at: Index) -> bool:
        seen = self.tensor > self.masked
        if self.allowed is not None:
            seen = seen & self.allowed
        return bool(seen[at].any())

    def _flatten(self, head: int, rows: slice | list[int]) -> None:
        scores = self.tensor[:, head, rows]
        self.tensor = self.tensor.clone()
        self.tensor[:, head, rows] = scores.where(scores <= self.masked, 0.0)

    def _multiply(self, factor: float) -> None:
        self.tensor = self.tensor.where(self.tensor <= self.masked, self.tensor * factor)

    def _add(self, bias: "Tensor") -> None:
        bias = bias.to(self.tensor.device, self.tensor.dtype)
        self.tensor = self.tensor.where(self.tensor <= self.masked, self.tensor + bias)

    def _hide(self, at: Index) -> None:
        self.tensor = self.tensor.clone()
        self.tensor[at] = -math.inf


class Weights:
    """The attention weights (batch, head, query, key) of one attention call, after the softmax."""

    def __init__(self, place: Place, weights: "Tensor") -> None:
        self.place = place
        self.tensor = weights
        self.start = 0  # the position of the first query in the text
        self.replaced: set[int] = set()  # heads whose weights were replaced
        self.silenced: set[int] = set()  # those of them that have no weight left, not even for a sink
        self.used = False  # whether an edit has read or replaced something

    @property
    def heads(self) -> int:
        return self.tensor.shape[1]

    def rows(self, head: int) -> "Tensor":
        """The weights (batch, query, key) of a head."""
        check_head(head, self.heads, self.place)
        return self.tensor[:, head]

    def read(self) -> "Tensor":
        """The weights of all heads."""
        self.used = True
        return self.tensor

    def replace(self, head: int, rows: "Tensor | float") -> None:
        """Give a head other weights, which broadcast to (batch, query, key)."""
        check_head(head, self.heads, self.place)
        self.tensor = self.tensor.clone()
        self.tensor[:, head] = rows
        self.replaced.add(head)
        self.used = True

    def replace_rows(self, head: int, rows: "Tensor", positions: Sequence[int] | None = None) -> None:
        """Give a head other weights (query, key) at these queries; None: at all."""
        for seen, wanted in zip(rows.shape, self.tensor.shape[2:], strict=True):
            check_tokens(seen, wanted)
        at = slice(None) if positions is None else check_positions(positions, self.tensor.shape[2])
        changed = self.rows(head).clone()
        changed[:, at] = rows.to(changed)[at]
        self.replace(head, changed)

    def silence(self, head: int, positions: Sequence[int] | None = None) -> None:
        """Take the weights of a head away at these queries; None: at all."""
        if positions is None:
            self.replace(head, 0.0)
            self.silenced.add(head)
            return
        rows = self.rows(head).clone()
        rows[:, check_positions(positions, rows.shape[1])] = 0.0
        self.replace(head, rows)


class HeadOutputs:
    """What the heads of one attention call give (batch, head, query, width): weights times values, before the
    output projection joins them."""

    def __init__(self, place: Place, outputs: "Tensor") -> None:
        self.place = place
        self.tensor = outputs
        self.used = False  # whether an edit has read or replaced something

    def read(self) -> "Tensor":
        """The outputs of all heads."""
        self.used = True
        return self.tensor

    def replace(self, head: int, outputs: "Tensor", positions: Sequence[int] | None = None) -> None:
        """Give a head other outputs: (query, width), or (1, width) for every query; None: at all queries."""
        check_head(head, self.tensor.shape[1], self.place)
        if outputs.shape[0] not in (1, self.tensor.shape[2]):
            raise InputError(
                "recorders.edits.other_length",
                seen=outputs.shape[0],
                wanted=self.tensor.shape[2],
                place=self.place,
            )
        at = slice(None) if positions is None else check_positions(positions, self.tensor.shape[2])
        self.tensor = self.tensor.clone()
        self.tensor[:, head, at] = outputs.to(self.tensor).expand(self.tensor.shape[2], -1)[at]
        self.used = True


class States:
    """Vectors (batch, token, width) of a layer: what goes in, or what its feed-forward network adds."""

    def __init__(self, stack: str, part: Part, layer: int, states: "Tensor") -> None:
        self.stack = stack
        self.part = part
        self.layer = layer
        self.tensor = states
        self.used = False  # whether an edit has read or changed something

    def read(self) -> "Tensor":
        """The vectors of all tokens."""
        self.used = True
        return self.tensor

    def replace(self, states: "Tensor", positions: Sequence[int] | None = None) -> None:
        """Other vectors (token, width) at these positions; None: at all."""
        check_tokens(len(states), self.tensor.shape[1])
        at = slice(None) if positions is None else check_positions(positions, self.tensor.shape[1])
        self.tensor = self.tensor.clone()
        self.tensor[:, at] = states.to(self.tensor)[at]
        self.used = True

    def add(self, vector: "Tensor", positions: Sequence[int] | None = None) -> None:
        """Add a vector (width,) at these positions; None: at all."""
        if vector.shape != self.tensor.shape[2:]:
            width = self.tensor.shape[2]
            raise InputError("recorders.edits.other_width", seen=str(tuple(vector.shape)), width=width)
        at = slice(None) if positions is None else check_positions(positions, self.tensor.shape[1])
        self.tensor = self.tensor.clone()
        self.tensor[:, at] += vector.to(self.tensor)
        self.used = True


class ReadOutputs(Protocol):
    """What the unedited model gives at the place of an edit, for each of some texts."""

    def __call__(self, texts: Sequence[Text], aligned: bool, target: Text | None = None) -> "list[Tensor]":
        """Outputs (head, token, width) of all heads, or states (token, width) of a layer. The decoder of an
        encoder-decoder reads `target`; without it, if `aligned`, the target of this recording, otherwise
        what the model writes for each text."""

    def at(self, edit: "Edit") -> "ReadOutputs":
        """The same at the place of another edit."""

    def run(self, edit: "Edit") -> None:
        """One pass over the text of this recording, with an edit that collects what it needs to know."""


class Edit(ABC):
    """A change to a network for one recording: a frozen dataclass; `str()` describes it."""

    __slots__ = ()

    changes: ClassVar[frozenset[Target]] = frozenset()  # what its class has a method for
    reads: ClassVar[Read] = "outputs"  # what it needs to know of another text, where it does
    # How the command line writes it where that is not its name in `EDITS`: words, and fields that each sets.
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init_subclass__(cls) -> None:
        own = (target for target, name in METHODS.items() if getattr(cls, name) is not getattr(Edit, name))
        cls.changes = frozenset(own)

    @property
    def needs(self) -> Queries:
        """Which queries it must see: each by itself, by its number in the text, or all of them at once."""
        return "each"

    @property
    def starts(self) -> int:
        """The first query, by its position in the text, that it may change."""
        return 0

    @property
    def relaxes(self) -> bool:
        """Whether rows of weights need not sum to one after it."""
        return "weights" in self.changes

    def prepare(self, text: str, read: ReadOutputs) -> "Edit":  # noqa: ARG002
        """The edit as it is carried out on a text, once it has read what it needs to know of other texts."""
        return self

    def touches(self, place: Place) -> bool:
        """Whether scores or weights at this place are changed: where its fields say; None: everywhere."""
        wanted = (getattr(self, name, None) for name in ("stack", "kind", "layer"))
        return all(mine in (None, seen) for mine, seen in zip(wanted, place[:3], strict=True))

    @property
    def edits_attention(self) -> bool:
        """Whether it changes something inside attention."""
        return bool(self.changes & {"inputs", "scores", "weights", "outputs"})

    @property
    def edits_states(self) -> bool:
        """Whether it changes vectors of layers."""
        return "states" in self.changes

    def change_inputs(self, inputs: HeadInputs) -> None:  # noqa: B027 - an edit may leave inputs alone
        """Change the queries, keys or values of heads."""

    def change_scores(self, scores: Scores) -> None:  # noqa: B027
        """Change scores before the softmax, by the operations that they have."""

    def change_weights(self, weights: Weights) -> None:  # noqa: B027
        """Change weights after the softmax: rows need not sum to one any more."""

    def change_outputs(self, outputs: HeadOutputs) -> None:  # noqa: B027
        """Change what heads give, before the output projection."""

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:
        """Whether it changes the vectors of a part of a layer: where its fields say."""
        wanted = (getattr(self, name, None) for name in ("stack", "part", "layer"))
        return self.edits_states and tuple(wanted) == (stack, part, layer)

    def change_states(self, states: States) -> None:  # noqa: B027
        """Change the vectors of a part of a layer."""

    def limit_layers(self, stack: str) -> int | None:  # noqa: ARG002
        """How many layers of a stack run; None: all."""
        return None

    @abstractmethod
    def as_message(self) -> Message:
        """What it does, for a person."""

    def __str__(self) -> str:
        return str(self.as_message())


EDITS: Registry[type[Edit]] = Registry("edit", "glassformer.recorders.edits")


def needs_numbered_queries(edits: Iterable[Edit]) -> bool:
    """Whether generation has to run without a cache, so that a query's number is its place in the text."""
    return any(edit.needs == "numbered" for edit in edits)


def check_generation(edits: Iterable[Edit]) -> None:
    """Refuse edits that need all queries at once: generation computes them one by one."""
    for edit in edits:
        if edit.needs == "all":
            raise InputError("recorders.edits.needs_whole_text", edit=edit)


def find_relaxed(edits: Iterable[Edit], place: Place) -> Message | None:
    """Why the rows of a map need not sum to one: edits of its weights. None: they must."""
    here = [edit for edit in edits if edit.relaxes and edit.touches(place)]
    if not here:
        return None
    return here[0].as_message() if len(here) == 1 else message("recorders.edits.several", edits=here)


def check_head(head: int, heads: int, place: Place) -> None:
    """Refuse a head that an attention does not have."""
    if head >= heads:
        raise InputError("recorders.edits.unknown_head", head=head, place=place, last=heads - 1)


def check_positions(positions: Sequence[int], count: int) -> list[int]:
    """Positions from the front; InputError where the text has none such."""
    for position in positions:
        if not -count <= position < count:
            raise InputError("recorders.causes.no_position", position=position, last=count - 1)
    return [position % count for position in positions]


def check_tokens(seen: int, wanted: int) -> None:
    """Refuse another text that does not have as many tokens."""
    if seen != wanted:
        raise InputError("recorders.edits.other_tokens", seen=seen, wanted=wanted)


def check_keys_left(seen: "Tensor", place: Place, hidden: Index) -> None:
    """Refuse to hide keys so that some row sees none; `seen`: for each row whether it sees a key."""
    if not bool(seen.all()):
        query = hidden[2].start or 0
        raise InputError("recorders.edits.no_key_left", query=query, place=place)


def check_place(edit: Edit) -> None:
    """Refuse a stack, a kind or a layer that no model has, where the edit has such fields."""
    stack, kind = getattr(edit, "stack", None), getattr(edit, "kind", None)
    if kind is not None and kind not in get_args(Kind):
        raise InputError("recorders.edits.unknown_kind", kind=repr(kind))
    if stack is not None:
        if not isinstance(stack, str) or not _STACK.fullmatch(stack):
            raise InputError("recorders.edits.unknown_stack", stack=repr(stack))
        near = get_close_matches(stack.lower(), STACKS, n=1, cutoff=0.8)
        if near and stack not in STACKS:
            raise InputError("recorders.edits.misspelt_stack", stack=stack, near=near[0])
    check_numbers(edit, "layer")


def read_text(given: object) -> Text:
    """A text, or token ids as a tuple; InputError where it is neither."""
    if isinstance(given, str) and given.strip():
        return given
    if isinstance(given, list | tuple) and given and all(type(each) is int and each >= 0 for each in given):
        return tuple(given)
    raise InputError("recorders.edits.bad_text", seen=repr(given)[:80])


def read_positions(given: object) -> Positions | None:
    """Positions as a tuple; InputError where they are no whole numbers. None: all."""
    if given is None:
        return None
    if not isinstance(given, Sequence) or not given or not all(type(each) is int for each in given):
        raise InputError("recorders.edits.bad_positions", seen=repr(given)[:80])
    return tuple(given)


def check_numbers(edit: Edit, *names: str, optional: bool = True) -> None:
    """Refuse fields that are not whole numbers from 0 up; None is allowed where it means all of them."""
    for name in names:
        value = getattr(edit, name, None)
        if value is None and optional:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError("recorders.edits.not_a_number", name=name, value=repr(value))


def describe_positions(positions: Sequence[int] | None) -> Message:
    """Which tokens an edit changes."""
    if positions is None:
        return message("recorders.edits.every_token")
    return message("recorders.edits.tokens", positions=tuple(map(str, positions)))


def describe_text(text: Text, target: Text | None = None) -> Message:
    """The other text of an edit, and what a decoder reads with it."""
    shown, read = (" ".join(map(str, each)) if isinstance(each, tuple) else each for each in (text, target))
    if read is None:
        return message("recorders.edits.other_text", text=shown)
    return message("recorders.edits.other_texts", text=shown, target=read)


def describe_place(stack: str | None, kind: Kind | None, layer: int | None) -> Message:
    """Where an edit acts; None: everywhere."""
    if stack is not None and kind is not None and layer is not None:
        return Place(stack, kind, layer).as_message()
    if stack is None and kind is None and layer is None:
        return message("recorders.edits.every_layer")
    return message(
        "recorders.edits.places",
        stack=message("recorders.edits.every_stack") if stack is None else name_term(stack),
        kind=message("recorders.edits.every_kind") if kind is None else name_term(kind),
        layer=message("recorders.edits.every_layer")
        if layer is None
        else message("recorders.edits.layer", layer=layer),
    )
