"""The parts of atlas.json.

In:   JSON.
Out:  models without NaN: where a detector finds nothing to measure, its score is null with a reason.
"""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from glassformer.errors import GlassformerError
from glassformer.place import Place
from glassformer.schema import MessageField, ResponseModel

Number = Annotated[float, Field(allow_inf_nan=False)]
# What a score is compared with: the same head on the same text with its words shuffled, at the positions of
# the original; or a query that looks at all visible keys alike, where shuffling words changes nothing.
Null = Literal["shuffled", "uniform"]


class AtlasModel(ResponseModel):
    """Whose heads these are."""

    name: str
    identity: str  # hash of the weights


class AtlasCorpus(ResponseModel):
    """The texts that were read."""

    name: str
    texts: int
    tokens: int
    skipped: int  # texts that could not be read
    null: str = "shuffled words"


class AtlasPlace(ResponseModel):
    """One attention layer."""

    place: str  # the address of a Place: decoder.self.0
    heads: int


class Detector(ResponseModel):
    """One behaviour that was looked for. Its words are in the catalogues: atlases.detectors.FAMILY."""

    name: str  # previous_token; with a detail: offset:-2, dependent:obj
    family: str
    detail: str | None = None
    threshold: Number  # mean − null of a head has to be at least this
    null: Null
    baseline: Number | None = None  # the best fixed offset (or the diagonal) on the same texts
    offset: int | None = None  # that offset
    applies: tuple[str, ...]  # "decoder.self", "decoder.cross" …
    texts: int  # texts in which it had something to measure


class Interval(ResponseModel):
    """A mean over texts with its 95 % interval (bootstrap over texts)."""

    mean: Number
    low: Number | None  # None: of one text the interval is not known
    high: Number | None


class HeadScore(Interval):
    """What one detector found in one head, over several texts."""

    low: Number
    high: Number
    null: Number  # the chance level
    null_high: Number  # the upper end of its interval
    texts: int
    p: Number  # of "mean is not above null", adjusted for all heads and detectors (Benjamini–Hochberg)


class Cost(Interval):
    """How much the loss grows when the head is silenced, in nats; see `corpus/atlas/costs.py`."""

    texts: int


class ByPosition(ResponseModel):
    """Means by the position of the query, in bins; `edges` has one number more. Empty: not measured."""

    entropy: tuple[Number | None, ...]  # a share of the largest possible
    edges: tuple[int, ...]
    distance: tuple[Number | None, ...] = ()  # tokens; of self-attention
    first_token: tuple[Number | None, ...] = ()  # the weight on the first key
    self_token: tuple[Number | None, ...] = ()  # the weight on the query itself; of self-attention


class Example(ResponseModel):
    """One edge of an example text that the head is strong at."""

    bundle: int  # examples/<bundle>.bundle
    query: int
    key: int
    detector: str | None  # None: the strongest weight of a head that has no type
    value: Number  # the weight


class AtlasHead(ResponseModel):
    """The card of a head."""

    place: str
    head: int
    type: str | None  # the most specific of `types`
    types: tuple[str, ...]  # all detectors that it passes
    scores: dict[str, HeadScore | None]
    measures: dict[str, Interval | None]  # entropy (share of the largest possible), distance, first_token
    by_position: ByPosition
    cluster: int
    point: Annotated[tuple[Number, ...], Field(min_length=2, max_length=2)]
    cost: Cost | None
    examples: tuple[Example, ...]

    @property
    def layer(self) -> int:
        """Its layer, counted within stack and kind."""
        return Place.parse(self.place).layer


class Cluster(ResponseModel):
    """Heads that behave alike."""

    number: int
    heads: int
    types: dict[str, int]  # how many heads of each type


class AtlasBody(ResponseModel):
    """atlas.json."""

    format: Literal["glassformer-atlas"] = "glassformer-atlas"
    version: Literal[1] = 1
    model: AtlasModel
    corpus: AtlasCorpus
    places: tuple[AtlasPlace, ...]
    detectors: tuple[Detector, ...]
    heads: tuple[AtlasHead, ...]
    clusters: tuple[Cluster, ...]
    notes: tuple[MessageField, ...] = ()  # why something is missing: no costs, a detector without texts …

    @model_validator(mode="after")
    def _fit(self) -> Self:
        """Every place has all its heads, once; what a head passes was measured."""
        for each in self.places:
            _parse(each.place)
        wanted = [(each.place, head) for each in self.places for head in range(each.heads)]
        found = [(each.place, each.head) for each in self.heads]
        for place, head in (Counter(wanted) - Counter(found)) + (Counter(found) - Counter(wanted)):
            raise _refuse(f"{place}, head {head}")
        known = {each.name for each in self.detectors}
        for card in self.heads:
            measured = {name for name, score in card.scores.items() if score is not None}
            passed = set(card.types) | ({card.type} - {None})
            for name in sorted((measured - known) | (passed - measured), key=str):
                raise _refuse(f"{card.place}, head {card.head}, {name}")
        return self


def _parse(address: str) -> None:
    try:
        Place.parse(address)
    except (GlassformerError, ValueError):
        raise _refuse(address) from None


def _refuse(what: str) -> PydanticCustomError:
    return PydanticCustomError("inconsistent", "does not fit the rest: {expected}", {"expected": what})
