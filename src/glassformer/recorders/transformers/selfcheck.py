"""Self-check of a model of transformers, once, on a few tokens of the first text.

In:   a model of transformers and inputs for it.
Out:  a `Verdict`: whether its attention goes through the interface, and how far recorded maps are from those
      that it reports with eager attention. A model without attention is refused.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.errors import RecordingError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recorders.call import Call, Masks, form_scores, repeat_heads
from glassformer.recorders.comparison import Comparison, find_largest, tolerance_of
from glassformer.recorders.maps import Axes, MapMaker
from glassformer.recorders.transformers.inputs import shorten
from glassformer.recorders.transformers.interface import Capture, capturing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.reported import Report, find_other_reports, run_eager
from glassformer.recorders.transformers.softmaxes import are_equal, collect_softmaxes, find_unreported

EAGER = message("recorders.references.eager")

Group = tuple[str, Kind]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a self-check."""

    routed: bool  # attention goes through the interface
    comparison: Comparison
    notes: tuple[Message, ...]
    layers: Mapping[str, int]  # by stack, how often self-attention was called
    standard: bool = False  # standard eager functions computed here gave the same to the last bit


def check_model(model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any]) -> Verdict:
    """Run a few tokens twice, eager and recorded; compare, and name the model's stacks."""
    short = shorten(inputs)
    reference, reports = run_eager(model, short)
    (calls, outputs, left_out), standard = _collect_standard(model, stacks, short, reference, reports)
    others = find_other_reports(reference)
    if others and not calls and not reports:
        raise RecordingError("recorders.reports.no_maps", model=type(model).__name__, places=others)
    if not calls and not reports:
        raise RecordingError("recorders.reports.no_attention", model=type(model).__name__)
    groups = _group((call.place, call.weights) for call in calls if call.weights is not None)
    pairs = pair(groups, _group(reports))
    note: Message | None = None
    missing = (message("recorders.notes.not_maps", places=others),) if others else ()
    if pairs is not None:
        differences = [float((ours - theirs).abs().max()) for ours, theirs in pairs]
        error = find_largest(differences) if differences else None
        moved = difference(outputs, reference)
        tolerance = tolerance_of(model, _find_largest_score(calls))
        if find_largest((error or 0.0, moved or 0.0)) <= tolerance:
            stacks.name_stacks(_causality(groups))
            if error is None:
                comparison = Comparison(moved, message("recorders.references.eager_outputs"), tolerance)
            else:
                comparison = Comparison(error, EAGER, tolerance)
            if len(pairs) < len(calls):
                some = message("recorders.notes.some_checked", checked=len(pairs), recorded=len(calls))
                missing = (some, *missing)
            places = (*(call.place for call in calls), *left_out)
            layers = _count(stacks.rename(place) for place in places)
            return Verdict(True, comparison, missing, layers, standard)
        note = message("recorders.notes.interface_differs", weights=error or 0.0, outputs=moved or 0.0)
    if not reports:
        assert note is not None, "without reports there is nothing that maps could fail to match"
        raise RecordingError("recorders.reports.computes_other", model=type(model).__name__, reason=note)
    stacks.name_stacks(_causality(_group(reports)))
    comparison, coverage = _check_reports(model, short)
    unreported = find_unreported(model, stacks, short)
    if unreported:
        missing = (message("recorders.notes.unreported", places=unreported), *missing)
    notes = (*([] if note is None else [note]), *coverage, *missing)
    return Verdict(False, comparison, notes, _count(stacks.rename(each.place) for each in reports))


def _check_reports(model: nn.Module, inputs: Mapping[str, Any]) -> tuple[Comparison, tuple[Message, ...]]:
    """Compare reported weights with what the softmaxes of the same pass gave: equal to the last bit, or not
    comparable (a band that is put together later)."""
    results, reports = collect_softmaxes(model, inputs)
    equal = sum(any(are_equal(result, weights) for result in results) for _, weights in reports)
    if 0 < equal == len(reports):
        return Comparison(0.0, message("recorders.references.softmaxes")), ()
    return Comparison(), (message("recorders.notes.some_equal", equal=equal, reported=len(reports)),)


def check_fast(model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any]) -> Comparison:
    """Compare weights from queries and keys with those of the exact kernel."""
    short = shorten(inputs)
    calls, exact, _ = _collect(model, stacks, short)
    maker = MapMaker(Axes({}, {}), ("weights",))
    with maker, capturing(model, Capture(stacks, "fast", maker.receive)):
        fast = model(**short)
    errors = [difference(fast, exact) or 0.0]
    for call, attention_map in zip(calls, maker.finish(), strict=True):
        assert call.weights is not None
        rows = attention_map.statistics.allowed[0] > 0
        exactly = call.weights[0].float().cpu().numpy()
        errors.append(float(np.abs(exactly - attention_map.weights())[:, rows].max()))
    return Comparison(find_largest(errors), EAGER, tolerance_of(model, _find_largest_score(calls)))


def difference(outputs: Any, reference: Any) -> float | None:
    """The largest difference between the first tensors of two outputs, relative where these are large.

    None where the outputs hold no tensor of numbers."""
    for name, value in outputs.items():
        if isinstance(value, Tensor) and value.is_floating_point() and value.dim() > 0:
            largest = max(1.0, float(reference[name].abs().max()))
            return float((value - reference[name]).abs().max()) / largest
    return None


def _find_largest_score(calls: Iterable[Call]) -> float:
    masks = Masks()
    scores = (form_scores(call, masks.score(call)) for call in calls)
    finite = (torch.where(each.isfinite(), each, 0.0) for each in scores if each.numel() > 0)
    return max((float(each.abs().amax()) for each in finite), default=1.0)


def pair(
    ours: Mapping[Group, Sequence[Tensor]], theirs: Mapping[Group, Sequence[Tensor]]
) -> list[tuple[Tensor, Tensor]] | None:
    """Our maps beside those that a model reports; None where it reports some that we do not have."""
    pairs: list[tuple[Tensor, Tensor]] = []
    left = dict(ours)
    for (stack, kind), reported in theirs.items():
        fitting = {}
        for group, mine in left.items():
            found = _match(mine, reported) if group[1] == kind else None
            if found is not None:
                away = find_largest([float((a - b).abs().max()) for a, b in found])
                fitting[group] = (not group[0].startswith(stack), away, found)  # of the same name first
        if not fitting:
            return None
        nearest = min(fitting, key=lambda group: fitting[group][:2])
        pairs += fitting[nearest][2]
        del left[nearest]
    return pairs


def _match(mine: Sequence[Tensor], reported: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]] | None:
    """Each reported map beside one of ours of the same shape; None where that is not possible."""
    if len(mine) < len(reported):
        return None
    if len(mine) > len(reported):
        return _thin(mine, reported)
    pairs = list(zip(mine, reported, strict=True))
    return None if any(a.shape != b.shape for a, b in pairs) else pairs


def _thin(mine: Sequence[Tensor], reported: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]] | None:
    """A model that reports some layers only (the last of each stage): each beside the map nearest to it."""
    pairs = []
    for theirs in reported:
        same = [each for each in mine if each.shape == theirs.shape]
        if not same:
            return None
        nearest = min(same, key=lambda each: float((each - theirs).abs().max()))
        pairs.append((nearest, theirs))
    return pairs


class _Collected(NamedTuple):
    """What a pass with the exact kernel gave."""

    calls: list[Call]
    outputs: Any
    left_out: Collection[Place]  # computed in parts, too long to be put together


def _collect(model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any]) -> _Collected:
    calls: list[Call] = []
    capture = Capture(stacks, "exact", calls.append)
    with capturing(model, capture):
        outputs = model(**inputs)
    return _Collected(calls, outputs, capture.left_out)


def _collect_standard(
    model: nn.Module, stacks: Stacks, inputs: Mapping[str, Any], reference: Any, reports: Sequence[Report]
) -> tuple[_Collected, bool]:
    """Calls and outputs; and whether standard eager functions, computed here, gave the same to the last bit.
    If not, the calls are those of the model's own functions."""
    calls: list[Call] = []
    computed: list[Call] = []

    def compute(call: Call) -> Tensor | None:
        if call.queries.device.type != "cpu":
            return None
        output = _attend(call)
        calls.append(call)
        computed.append(call)
        return output

    capture = Capture(stacks, "exact", calls.append, compute=compute)
    with capturing(model, capture):
        outputs = model(**inputs)
    found = _Collected(calls, outputs, capture.left_out)
    if not computed:
        return found, False
    pairs = pair(
        _group((call.place, call.weights) for call in calls if call.weights is not None), _group(reports)
    )
    same = pairs is not None and difference(outputs, reference) in (None, 0.0)
    if same and pairs and all(torch.equal(ours, theirs) for ours, theirs in pairs):
        return found, True
    return _collect(model, stacks, inputs), False


def _attend(call: Call) -> Tensor:
    """What the standard eager functions compute: sets the weights, returns the output (B, T, H, V)."""
    heads = call.queries.shape[1]
    keys, values = (repeat_heads(each, heads) for each in (call.keys, call.values))
    scores = torch.matmul(call.queries, keys.transpose(2, 3)) * call.scale
    call.weights = (scores if call.mask is None else scores + call.mask).softmax(-1)
    return torch.matmul(call.weights, values).transpose(1, 2).contiguous()


def _group(maps: Iterable[Report | tuple[Place, Tensor]]) -> dict[Group, list[Tensor]]:
    groups: dict[Group, list[Tensor]] = {}
    for place, weights in maps:
        groups.setdefault((place.stack, place.kind), []).append(weights)
    return groups


def _causality(groups: Mapping[Group, Sequence[Tensor]]) -> dict[str, bool]:
    """For each stack, whether no query of its self-attention looks ahead."""
    return {
        stack: all(each.shape[-1] == each.shape[-2] > 1 and not bool(each.triu(1).any()) for each in maps)
        for (stack, kind), maps in groups.items()
        if kind == "self"
    }


def _count(places: Iterable[Place]) -> dict[str, int]:
    """How many places of self-attention each stack has."""
    return Counter(place.stack for place in places if place.kind == "self")
