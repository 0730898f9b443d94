"""Requests that measure causes: what each head, layer and edge does to an outcome, and what a patch restores.

In:   the request that made a recording, and what to measure.
Out:  jobs of kind "effects" and "patching"; their events `step` carry the numbers as they come.
"""

from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from glassformer.api.jobs import Job, JobRequest, Text
from glassformer.recorders.edits.edit import Count
from glassformer.schema import Finite, MessageField, RequestModel, ResponseModel

Token = Annotated[str, Field(min_length=1, max_length=200)] | Count  # a text that is one token, or its id


class OutcomeRequest(RequestModel):
    """What is measured: a class where `label` is given, else a token, else the whole text."""

    token: Token | None = None  # its log-probability
    against: Token | None = None  # then the logit of `token` minus that of this one
    position: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] = -1  # after which it is written
    label: Token | None = None  # the probability of a class, by its name or number


class EffectsRequest(RequestModel):
    """What each head, layer and edge does to an outcome."""

    kind: Literal["effects"] = "effects"
    run: JobRequest  # that made the recording; its edits stay
    outcome: OutcomeRequest
    # Ids of the recorded text, of which the model may have written some: a decoder's source, or the target.
    ids: Annotated[tuple[Count, ...], Field(max_length=100_000)] | None = None

    @property
    def model(self) -> str:
        """What a list of jobs shows."""
        return self.run.model

    @property
    def listed(self) -> bool:
        """Whether a recording for the list comes of it."""
        return False


PatchedPart = Literal["residual", "feed_forward", "heads"]


class PatchingRequest(RequestModel):
    """What restores the answer: vectors of one text, put into the pass over another of as many tokens."""

    kind: Literal["patching"] = "patching"
    run: JobRequest  # over the clean text
    corrupted: Text
    outcome: OutcomeRequest
    part: PatchedPart = "residual"

    @property
    def model(self) -> str:
        """What a list of jobs shows."""
        return self.run.model

    @property
    def listed(self) -> bool:
        """Whether a recording for the list comes of it."""
        return False


MeasureRequest = EffectsRequest | PatchingRequest


class HeadEffects(ResponseModel):
    """The effects of the heads of one map, and of all of them together."""

    place: str  # address of the map
    heads: tuple[Finite, ...]
    layer: Finite


class EdgeEffect(ResponseModel):
    """The effect of one cut edge."""

    place: str
    head: int
    query: int
    key: int
    effect: Finite


class EffectsStep(ResponseModel):
    """Effects as they come: estimates of all of them first, then real passes, some heads at a time."""

    confirmed: bool  # by a real pass; False: estimated by one backward pass
    outcome: MessageField
    baseline: Finite  # the outcome without edits
    places: tuple[HeadEffects, ...] = ()
    edges: tuple[EdgeEffect, ...] = ()


class PatchingStep(ResponseModel):
    """One layer of a patching map. Values are those of the outcome, not normalised."""

    outcome: MessageField
    clean: Finite
    corrupted: Finite
    clean_tokens: tuple[str, ...]
    corrupted_tokens: tuple[str, ...]
    layers: int
    stack: str
    layer: int
    values: tuple[Finite, ...]  # by token; of part "heads" by head


@runtime_checkable
class Measuring(Protocol):
    """A workbench that also measures causes; impossible requests raise ApiError."""

    def measure(self, request: MeasureRequest, owner: str | None = None) -> Job:
        """Queue a measurement. Answers at once; refuses (429, "queue_full") when too many wait."""
