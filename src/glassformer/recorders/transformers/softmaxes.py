"""Edits of models off the attention interface: scores and weights are changed at the softmax itself.

In:   a model of transformers that reports its attention, and edits.
Out:  its passes with scores changed before a softmax and weights after it.

Which softmax makes which map is found by comparison: its result equals what the model reports, to the last
bit. A map that no softmax gives as it is reported (a band that is put together later) cannot be edited.
Afterwards the edited weights are compared with the reported ones again.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.errors import InputError, RecordingError
from glassformer.place import Place
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import Index, ScoreTensor, Weights, check_keys_left
from glassformer.recorders.preserve import preserving_state, using_attention
from glassformer.recorders.transformers.inputs import shorten
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.reported import Report, run_eager

SOFTMAXES = (nn.functional.softmax, torch.softmax, Tensor.softmax, torch.special.softmax)
HIDDEN = -1e4  # lower scores are those of masks, which are added or filled in: -65500, -1e30, the least float


class FoundSoftmax(NamedTuple):
    """A softmax whose result is a map."""

    place: Place
    heads: int


Softmax = Callable[[Tensor], Tensor]
Handle = Callable[[int, Tensor, Softmax], Tensor]


class SoftmaxMode(TorchFunctionMode):
    """Calls `handle` instead of each softmax over the last of three or more axes, numbered in each pass."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle
        self.number = 0
        self.thread = threading.get_ident()

    def begin(self, *_: object) -> None:
        """A new pass of the model, in this thread: count from 0 again."""
        if threading.get_ident() == self.thread:
            self.number = 0

    def __torch_function__(
        self, function: Any, types: Any, positional: Any = (), named: dict[str, Any] | None = None
    ) -> Any:
        named = named or {}
        if function not in SOFTMAXES or not positional:
            return function(*positional, **named)
        scores, *rest = positional
        axis = rest[0] if rest else named.get("dim")
        if scores.dim() < 3 or axis not in (-1, scores.dim() - 1):
            return function(*positional, **named)
        number, self.number = self.number, self.number + 1
        return self.handle(number, scores, lambda changed: function(changed, *rest, **named))


class MaskedScores(ScoreTensor):
    """Scores with their mask, as a softmax gets them."""

    def _hide(self, at: Index) -> None:
        super()._hide(at)
        check_keys_left((self.tensor[at[:3]] > self.masked).any(-1), self.place, at)


@contextmanager
def editing_reports(
    model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any], edits: ActiveEdits
) -> Iterator[dict[Place, Tensor]]:
    """Inside this context every pass is edited; gives the edited weights of the last one, by place."""
    if not edits:
        yield {}
        return
    softmaxes, places = find_softmaxes(model, stacks, shorten(inputs))
    mapped = {each.place for each in softmaxes.values()}
    for change in edits.edits:
        lost = next((place for place in places if place not in mapped and change.touches(place)), None)
        if lost is not None:
            name = type(model).__name__
            raise InputError("recorders.edits.no_softmax", model=name, place=lost, edit=change)
    for place in places:
        edits.touch(place)  # named in the error where an edit changes nothing
    found: dict[Place, Tensor] = {}

    def edit(number: int, scores: Tensor, softmax: Softmax) -> Tensor:
        known = softmaxes.get(number)
        if known is None or not edits.touch(known.place):
            return softmax(scores)
        before = MaskedScores(known.place, scores.reshape(-1, known.heads, *scores.shape[-2:]), masked=HIDDEN)
        edits.change_scores(before)
        after = Weights(known.place, softmax(before.tensor.reshape(scores.shape)).reshape(before.shape))
        edits.change_weights(after)
        found[known.place] = after.tensor  # (B, H, T, S)
        return after.tensor.reshape(scores.shape)

    with preserving_state(model), using_attention(model, "eager"), _handling(model, edit):
        yield found
    missed = next((place for place in mapped - found.keys() if edits.touch(place)), None)
    if missed is not None:
        raise RecordingError("recorders.edits.softmax_missed", model=type(model).__name__, place=missed)


def find_softmaxes(
    model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any]
) -> tuple[dict[int, FoundSoftmax], list[Place]]:
    """By number in a pass, softmaxes that are maps: the only ones with a reported result; and all places."""
    results, reports = collect_softmaxes(model, inputs)
    softmaxes, places = {}, []
    for report, weights in reports:
        places.append(stacks.rename(report))
        equal = [number for number, result in enumerate(results) if are_equal(result, weights)]
        if len(equal) == 1:
            softmaxes[equal[0]] = FoundSoftmax(places[-1], weights.shape[1])
    return softmaxes, places


def collect_softmaxes(model: nn.Module, inputs: Mapping[str, Any]) -> tuple[list[Tensor], list[Report]]:
    """The results of all softmaxes of one eager pass, and what the model reports of it."""
    results: list[Tensor] = []

    def collect(_: int, scores: Tensor, softmax: Softmax) -> Tensor:
        results.append(softmax(scores))
        return results[-1]

    with _handling(model, collect):
        return results, run_eager(model, inputs)[1]


def check_reports(found: Mapping[Place, Tensor], stacks: Stacks, reports: Iterable[Report]) -> None:
    """What was edited is what the model reports."""
    reported = {stacks.rename(place): weights for place, weights in reports}
    for place, weights in found.items():
        if place not in reported or not are_equal(weights, reported[place]):
            raise RecordingError("recorders.edits.report_differs", place=place)


@contextmanager
def _handling(model: nn.Module, handle: Handle) -> Iterator[None]:
    mode = SoftmaxMode(handle)
    with model.register_forward_pre_hook(mode.begin), mode:
        yield


def are_equal(result: Tensor, weights: Tensor) -> bool:
    """Whether a softmax, maybe with heads and texts on one axis, gave these weights (B, H, T, S)."""
    if result.shape[-2:] != weights.shape[-2:] or result.numel() != weights.numel():
        return False
    return torch.equal(result.reshape(weights.shape).to(weights.dtype), weights)
