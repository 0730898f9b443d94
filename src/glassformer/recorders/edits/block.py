"""Block a head, or one key of it, from a query on: what a generation does from some step on."""

from dataclasses import dataclass, replace

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recorders.edits.edit import (
    EDITS,
    Count,
    Edit,
    Scores,
    Weights,
    check_numbers,
    check_place,
    describe_place,
)


@EDITS.register("block")
@dataclass(frozen=True, slots=True)
class BlockHead(Edit):
    """A head of a decoder that gives nothing from query `first` on; or, with `key`, does not see this key.

    Queries before `first` are left as they are, and so are the words that they wrote. `gf.branch` sets
    `first` to the query that writes the word of its step. None: every head, every layer.

    >>> edit = gf.BlockHead("decoder", "self", 2, head=1, key=0, first=3)
    >>> recording = gf.record("zoo/gpt2", "The cat sat on the mat", edits=[edit])
    >>> (recording.map(layer=2).weights(head=1)[:, 0] == 0).tolist()
    [False, False, False, True, True, True]
    """

    stack: str
    kind: Kind
    layer: Count | None
    head: Count | None
    key: Count | None = None  # None: the whole head is silenced
    first: Count = 0

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "head", "key")
        check_numbers(self, "first", optional=False)
        if self.stack == "encoder":
            raise InputError("recorders.edits.block_encoder")

    @classmethod
    def at(cls, place: Place, head: int | None, key: int | None = None, first: int = 0) -> "BlockHead":
        """The same by the address of a map."""
        return cls(place.stack, place.kind, place.layer, head, key, first)

    def starting(self, first: int) -> "BlockHead":
        """The same from another query on."""
        return replace(self, first=first)

    @property
    def starts(self) -> int:
        return self.first

    @property
    def relaxes(self) -> bool:
        return self.key is None

    def change_scores(self, scores: Scores) -> None:
        row = max(0, self.first - scores.start)
        if self.key is None or row >= scores.queries:
            return
        seen = scores.start + scores.queries
        if self.kind == "self" and scores.shape[3] < seen:  # a cache has dropped the first keys
            raise InputError("recorders.edits.block_window", edit=self)
        scores.hide(head=self.head, query=slice(row, None), key=self.key)

    def change_weights(self, weights: Weights) -> None:
        row = max(0, self.first - weights.start)
        if self.key is not None or row >= weights.tensor.shape[2]:
            return
        for head in range(weights.heads) if self.head is None else (self.head,):
            if row == 0:
                weights.silence(head)
                continue
            rows = weights.rows(head).clone()
            rows[:, row:] = 0.0
            weights.replace(head, rows)

    def as_message(self) -> Message:
        place = describe_place(self.stack, self.kind, self.layer)
        heads = (
            message("recorders.edits.every_head")
            if self.head is None
            else message("recorders.edits.one_head", head=self.head)
        )
        if self.key is None:
            return message("recorders.edits.head_blocked", head=heads, place=place, first=self.first)
        return message("recorders.edits.key_blocked", head=heads, place=place, key=self.key, first=self.first)
