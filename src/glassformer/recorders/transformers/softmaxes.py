"""Edits of models off the attention interface: scores and weights are changed at the softmax itself.

In:   a model of transformers that reports its attention, and edits.
Out:  its passes with scores changed before a softmax and weights after it.

Which softmax makes which map is found by comparison: its result equals what the model reports, to the last
bit. A map that no softmax gives as it is reported (a band that is put together later) cannot be edited.
Afterwards the edited weights are compared with the reported ones again.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.errors import InputError, RecordingError
from glassformer.place import Place
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import HeadOutputs, Index, ScoreTensor, Weights, check_keys_left
from glassformer.recorders.preserve import preserving_state, using_attention
from glassformer.recorders.transformers.inputs import shorten
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.reported import Report, run_eager

PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm)
SOFTMAXES = (nn.functional.softmax, torch.softmax, Tensor.softmax, torch.special.softmax)
HIDDEN = -1e4  # lower scores are those of masks, which are added or filled in: -65500, -1e30, the least float


PLAIN = "...qk,...kd->...qd"  # the equation of a product of matrices


class FoundSoftmax(NamedTuple):
    """A softmax whose result is a map."""

    place: Place
    heads: int


Softmax = Callable[[Tensor], Tensor]
Handle = Callable[[int, Tensor, Softmax], Tensor]
Finish = Callable[[Tensor, str, Tensor], Tensor]  # of a product: its first factor, its equation, its result


class SoftmaxMode(TorchFunctionMode):
    """Calls `handle` instead of each softmax over the last of three or more axes, numbered in each pass, and
    `finish` after each product of tensors."""

    def __init__(self, handle: Handle, finish: Finish | None = None) -> None:
        super().__init__()
        self.handle = handle
        self.finish = finish
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
        if self.finish is not None and len(positional) >= 2:
            if function in PRODUCTS and isinstance(positional[0], Tensor):
                return self.finish(positional[0], PLAIN, function(*positional, **named))
            if function is torch.einsum and isinstance(positional[0], str) and len(positional) == 3:
                return self.finish(positional[1], positional[0], function(*positional, **named))
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
        if "inputs" in change.changes:
            raise InputError("recorders.edits.no_inputs", model=type(model).__name__, edit=change)
        lost = next((place for place in places if place not in mapped and change.touches(place)), None)
        if lost is not None:
            name = type(model).__name__
            raise InputError("recorders.edits.no_softmax", model=name, place=lost, edit=change)
    for place in places:
        edits.touch(place)  # named in the error where an edit changes nothing
    found: dict[Place, Tensor] = {}
    products = _Products(edits)

    def edit(number: int, scores: Tensor, softmax: Softmax) -> Tensor:
        known = softmaxes.get(number)
        if known is None or not edits.touch(known.place):
            return softmax(scores)
        before = MaskedScores(known.place, scores.reshape(-1, known.heads, *scores.shape[-2:]), masked=HIDDEN)
        edits.change_scores(before)
        after = Weights(known.place, softmax(before.tensor.reshape(scores.shape)).reshape(before.shape))
        edits.change_weights(after)
        found[known.place] = after.tensor  # (B, H, T, S)
        products.expect(known.place, after.tensor)
        return after.tensor.reshape(scores.shape)

    finish = products.finish if any("outputs" in each.changes for each in edits.edits) else None
    with preserving_state(model), using_attention(model, "eager"), _handling(model, edit, finish):
        yield found
    for place in products.waiting:
        raise InputError("recorders.edits.no_product", model=type(model).__name__, place=place)
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


def find_unreported(model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any]) -> list[str]:
    """Paths of blocks that compute a softmax over keys, but of which the model reports nothing: the text
    decoder of BLIP. Empty where it cannot be told, since no report of another part equals its softmax."""
    inside: list[str] = []  # paths of the modules that run now
    found: list[tuple[str, Tensor]] = []

    def collect(_: int, scores: Tensor, softmax: Softmax) -> Tensor:
        found.append((inside[-1], softmax(scores)))
        return found[-1][1]

    def leave(*_: object) -> None:
        inside.pop()

    with ExitStack() as hooks:
        for module, path in stacks.paths.items():
            hooks.enter_context(module.register_forward_pre_hook(lambda *_, path=path: inside.append(path)))
            hooks.enter_context(module.register_forward_hook(leave))
        with _handling(model, collect):
            reports = run_eager(model, inputs)[1]
    equal = {path for path, result in found if any(are_equal(result, each.weights) for each in reports)}
    named = {each.place.stack for each in reports}
    others = dict.fromkeys(path for path, _ in found if path not in equal and not named & {*path.split(".")})
    return [path for path in others if path] if equal else []


def check_reports(found: Mapping[Place, Tensor], stacks: Stacks, reports: Iterable[Report]) -> None:
    """What was edited is what the model reports."""
    reported = {stacks.rename(place): weights for place, weights in reports}
    for place, weights in found.items():
        if place not in reported or not are_equal(weights, reported[place]):
            raise RecordingError("recorders.edits.report_differs", place=place)


class _Products:
    """The products of weights and values: what heads give."""

    def __init__(self, edits: ActiveEdits) -> None:
        self.edits = edits
        self.waiting: dict[Place, Tensor] = {}  # weights whose product is still to come

    def expect(self, place: Place, weights: Tensor) -> None:
        """Wait for a product with these weights (B, H, T, S) where an edit changes what it gives."""
        if self.edits.changes(place, "outputs"):
            self.waiting[place] = weights

    def finish(self, factor: Tensor, equation: str, result: Tensor) -> Tensor:
        """The result of a product, changed where its first factor are weights that are waited for."""
        place = next((each for each, weights in self.waiting.items() if are_equal(factor, weights)), None)
        arranged = None if place is None else _arrange(equation, result, self.waiting[place].shape[1])
        if place is None or arranged is None:
            return result
        del self.waiting[place]
        outputs = HeadOutputs(place, arranged)
        self.edits.change_outputs(outputs)
        return _arrange_back(equation, outputs.tensor, result)


def _arrange(equation: str, result: Tensor, heads: int) -> Tensor | None:
    """The product of weights and values as (B, H, T, V); None where it is not known which axis is which."""
    if equation == PLAIN:
        return result.reshape(-1, heads, *result.shape[-2:])
    order = _find_axes(equation)
    return None if order is None else result.permute(order)


def _arrange_back(equation: str, outputs: Tensor, like: Tensor) -> Tensor:
    """What `_arrange` made, as it was."""
    if equation == PLAIN:
        return outputs.reshape(like.shape)
    order = _find_axes(equation)
    assert order is not None
    return outputs.permute([order.index(axis) for axis in range(4)])


def _find_axes(equation: str) -> list[int] | None:
    """Of an equation such as bnij,jbnd->ibnd, where batch, head, query and width are in the result."""
    inputs, _, result = equation.replace(" ", "").partition("->")
    weights, _, values = inputs.partition(",")
    width = set(values) - set(weights)
    if len(weights) != 4 or len(result) != 4 or len(width) != 1 or set(result) != {*weights[:3], *width}:
        return None
    return [result.index(each) for each in (*weights[:3], *width)]


@contextmanager
def _handling(model: nn.Module, handle: Handle, finish: Finish | None = None) -> Iterator[None]:
    mode = SoftmaxMode(handle, finish)
    with model.register_forward_pre_hook(mode.begin), mode:
        yield


def are_equal(result: Tensor, weights: Tensor) -> bool:
    """Whether a softmax, maybe with heads and texts on one axis, gave these weights (B, H, T, S)."""
    if result.shape[-2:] != weights.shape[-2:] or result.numel() != weights.numel():
        return False
    return torch.equal(result.reshape(weights.shape).to(weights.dtype), weights)
