"""Ablate one head: take its output away, or replace it by one that does not depend on this text.

The output of a head is what it hands to the output projection: its weights times its values, one vector for
each query. Zero ablation makes it 0. Mean ablation replaces it by its mean over all tokens of a reference
set, resample ablation by its output for another text, token by token; both are measured in the unedited
model. "uniform" keeps the values of this text and takes away the choice between them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recorders.edits.edit import (
    EDITS,
    Count,
    Edit,
    HeadOutputs,
    Positions,
    Queries,
    ReadOutputs,
    Scores,
    Text,
    Weights,
    check_head,
    check_numbers,
    check_place,
    describe_positions,
    read_positions,
    read_text,
)
from glassformer.recorders.edits.reference_texts import choose_sentences

if TYPE_CHECKING:
    from torch import Tensor

How = Literal["zero", "uniform", "mean", "resample"]
MOST_TEXTS = 1000  # of a reference set
FORMER_MEAN = "recorders.edits.head_averaged"  # in recordings of versions whose "mean" averaged weights


@EDITS.register("ablate")
@dataclass(frozen=True, slots=True)
class AblateHead(Edit):
    """One head ablated, in one of four ways:

    "zero"      its weights, and so its output, become 0; the rows of its map no longer sum to one
    "uniform"   it gives the same weight to every key that the mask lets a query see
    "mean"      its output is replaced by its mean over all tokens of the texts in `reference`; without any,
                over sentences that come with Glassformer
    "resample"  its output at each token is replaced by that for another text of as many tokens, the only one
                in `reference`

    With `positions` it is ablated at these tokens alone. Output means weights times values, before the output
    projection. With "mean" and "resample" the map still
    shows where the head looks, but what it gives is replaced. A decoder that reads a source reads, with a
    text of "mean", what the model writes for it, and with that of "resample" the target of the recording
    itself.

    >>> edit = gf.AblateHead("encoder", "self", 2, head=1)
    >>> float(gf.record("zoo/bert", "The cat sleeps.", edits=[edit]).map(layer=2).weights(head=1).max())
    0.0
    >>> edit = gf.AblateHead("encoder", "self", 2, head=1, how="mean", reference=["It rained.", "She left."])
    >>> print(gf.record("zoo/bert", "The cat sleeps.", edits=[edit]).evidence.edits[0])
    head 1 of encoder layer 2, self: output replaced by its mean over 2 given texts, the first: 'It rained.'
    """

    spellings: ClassVar = {
        "zero": {"how": "zero", "reference": ()},
        "uniform": {"how": "uniform", "reference": ()},
        "mean": {"how": "mean", "positions": None},
        "resample": {"how": "resample", "positions": None},
    }

    stack: str
    kind: Kind
    layer: Count
    head: Count
    how: How = "zero"
    reference: tuple[Text, ...] = ()
    positions: Positions | None = None

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "layer", "head", optional=False)
        if self.how not in get_args(How):
            raise InputError("recorders.edits.unknown_ablation", how=str(self.how), known=get_args(How))
        object.__setattr__(self, "reference", _read_texts(self.reference))
        object.__setattr__(self, "positions", read_positions(self.positions))
        if self.how in ("zero", "uniform") and self.reference:
            raise InputError("recorders.edits.needless_reference", how=self.how)
        if self.how == "resample" and len(self.reference) != 1:
            raise InputError("recorders.edits.one_reference", count=len(self.reference))

    @classmethod
    def at(cls, place: Place, head: int, how: How = "zero", reference: tuple[Text, ...] = ()) -> "AblateHead":
        """The same by the address of a map."""
        return cls(place.stack, place.kind, place.layer, head, how, reference)

    @property
    def place(self) -> Place:
        """Where the head is."""
        return Place(self.stack, self.kind, self.layer)

    @property
    def needs(self) -> Queries:
        whole = self.how == "resample" or self.positions is not None
        return "all" if whole and self.stack != "encoder" else "each"

    @property
    def relaxes(self) -> bool:
        return self.how == "zero"

    def prepare(self, text: str, read: ReadOutputs) -> Edit:
        if self.how in ("zero", "uniform"):
            return self
        import torch

        if self.how == "resample":
            (other,) = read(self.reference, True)  # (head, token, width)
            return self._replace_by(other[self._check(len(other))], self.as_message())
        sentences = choose_sentences(text)
        texts = self.reference or sentences.texts
        outputs = read(texts, False)
        head = self._check(len(outputs[0]))
        mean = torch.cat([each[head] for each in outputs]).double().mean(dim=0, keepdim=True)
        described = self._describe() if self.reference else self._describe_mean(sentences.as_message())
        return self._replace_by(mean, self._limit(described))

    def _check(self, heads: int) -> int:
        check_head(self.head, heads, self.place)
        return self.head

    def _replace_by(self, outputs: "Tensor", described: Message) -> Edit:
        return ReplacedOutput(self.place, self.head, outputs, described, self.needs, self.positions)

    def change_scores(self, scores: Scores) -> None:
        if self.how == "uniform":
            scores.flatten(self.head, self.positions)

    def change_weights(self, weights: Weights) -> None:
        if self.how == "zero":
            weights.silence(self.head, self.positions)

    def as_message(self) -> Message:
        return self._limit(self._describe())

    def _limit(self, described: Message) -> Message:
        """With the tokens, where it does not act on all."""
        if self.positions is None:
            return described
        positions = describe_positions(self.positions)
        return message("recorders.edits.only_at", edit=described, positions=positions)

    def _describe(self) -> Message:
        if self.how == "zero":
            return message("recorders.edits.head_silenced", head=self.head, place=self.place)
        if self.how == "uniform":
            return message("recorders.edits.head_uniform", head=self.head, place=self.place)
        if self.how == "mean" and not self.reference:
            return self._describe_mean(message("recorders.edits.reference_sentences"))
        first = self.reference[0]
        shown = first if isinstance(first, str) else " ".join(map(str, first))
        if self.how == "resample":
            return message("recorders.edits.head_resampled", head=self.head, place=self.place, text=shown)
        count = len(self.reference)
        return self._describe_mean(message("recorders.edits.given_texts", count=count, text=shown))

    def _describe_mean(self, reference: Message) -> Message:
        return message("recorders.edits.head_mean", head=self.head, place=self.place, reference=reference)


@dataclass(frozen=True, slots=True)
class ReplacedOutput(Edit):
    """A head whose output is replaced by a known one: an `AblateHead` whose reference has been read."""

    place: Place
    head: int
    outputs: "Tensor"  # (query or 1, width)
    description: Message
    queries: Queries
    positions: Positions | None = None

    @property
    def needs(self) -> Queries:
        return self.queries

    def touches(self, place: Place) -> bool:
        return place[:3] == self.place[:3]

    def change_outputs(self, outputs: HeadOutputs) -> None:
        outputs.replace(self.head, self.outputs, self.positions)

    def as_message(self) -> Message:
        return self.description


def _read_texts(given: object) -> tuple[Text, ...]:
    """The texts of a reference set; a single text is one, too."""
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or len(texts) > MOST_TEXTS:
        raise InputError("recorders.edits.bad_reference", seen=repr(given)[:80], most=MOST_TEXTS)
    return tuple(read_text(each) for each in texts)
