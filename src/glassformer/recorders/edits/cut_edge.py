"""Cut an edge: hide one key from one query, or from every other token, before the softmax."""

from dataclasses import dataclass

from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recorders.edits.edit import (
    EDITS,
    Count,
    Edit,
    Queries,
    Scores,
    check_numbers,
    check_place,
    describe_place,
)


@EDITS.register("cut")
@dataclass(frozen=True, slots=True)
class CutEdge(Edit):
    """One key hidden from one query, in one layer and head or in all of them (None).

    What is left of the row is renormalised and still sums to one. A key that the mask hides anyway cannot be
    cut. Without a query, no other token sees the key: a patch, a frame or a word is cut out.

    >>> edit = gf.CutEdge("encoder", "self", 2, head=1, query=3, key=0)
    >>> float(gf.record("zoo/bert", "The cat sleeps.", edits=[edit]).map(layer=2).weights(head=1)[3, 0])
    0.0
    """

    stack: str
    kind: Kind
    layer: Count | None
    head: Count | None
    query: Count | None
    key: Count

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "head", "query")
        check_numbers(self, "key", optional=False)

    @classmethod
    def at(cls, place: Place, head: int | None, query: int | None, key: int) -> "CutEdge":
        """The same by the address of a map."""
        return cls(place.stack, place.kind, place.layer, head, query, key)

    @property
    def needs(self) -> Queries:
        return "each" if self.query is None and self.kind == "cross" else "numbered"

    def change_scores(self, scores: Scores) -> None:
        if self.query is not None or self.kind == "cross":
            scores.hide(head=self.head, query=self.query, key=self.key)
            return
        for others in (slice(0, self.key), slice(self.key + 1, None)):  # a token may see itself
            if len(range(scores.queries)[others]) > 0:
                scores.hide(head=self.head, query=others, key=self.key)

    def as_message(self) -> Message:
        place = describe_place(self.stack, self.kind, self.layer)
        if self.query is None:
            heads = (
                message("recorders.edits.every_head")
                if self.head is None
                else message("recorders.edits.one_head", head=self.head)
            )
            return message("recorders.edits.key_cut", head=heads, place=place, key=self.key)
        if self.head is None:
            return message("recorders.edits.edge_cut_everywhere", query=self.query, key=self.key, place=place)
        return message(
            "recorders.edits.edge_cut", query=self.query, key=self.key, head=self.head, place=place
        )
