"""Architectures off the attention interface: the weights that they report with eager attention, as maps.

In:   a model of transformers, its inputs, and the tokens on both sides.
Out:  the weights that it reports, with their places; bands (a window of keys for each query, global keys
      first) are spread out to whole maps. `AttentionMap`s of weights alone: such a model reports neither
      scores nor vectors, nor which keys its mask allows; a key counts as allowed to a query when some head
      gave it any weight. Reports that are not weights are left out and named.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.errors import RecordingError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place, name_term
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import find_relaxed
from glassformer.recorders.maps import Axes
from glassformer.recorders.preserve import preserving_state, using_attention
from glassformer.recorders.store import Array, as_numbers
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.results import walk_outputs
from glassformer.recording import AttentionMap, measure
from glassformer.rounding import row_tolerance

NOT_MAPS = ("global_attentions", "ngram_attentions")  # parts of bands, and streams that are no stack
ABSENT = ("scores", "queries", "keys", "values")


class Report(NamedTuple):
    """What a model reports for one layer."""

    place: Place
    weights: Tensor  # (B, H, T, S); in a band S is the width of the band


def run_eager(model: nn.Module, inputs: Mapping[str, Any], **settings: Any) -> tuple[Any, list[Report]]:
    """Run with eager attention: the model's outputs, and the weights it reports."""
    with preserving_state(model), using_attention(model, "eager"):
        outputs = model(**inputs, **settings, output_attentions=True)
    return outputs, [
        Report(Place(stack, kind, layer), weights)
        for stack, kind, values in _find_attentions(outputs)
        for layer, weights in enumerate(filter(_is_map, values))
    ]


def find_other_reports(outputs: Any) -> list[Message]:
    """Where a model reports something else than maps of queries and keys: attention in parts of a text."""
    return [
        describe_group(stack, kind)
        for stack, kind, values in _find_attentions(outputs)
        if any(each is not None and not _is_map(each) for each in values)
    ]


def describe_group(stack: str, kind: Kind) -> Message:
    """A stack and a kind of attention, for a person."""
    if not stack:
        return name_term(kind)
    return message("recorders.reports.group", stack=name_term(stack), kind=name_term(kind))


def find_globals(outputs: Any, place: Place) -> Tensor | None:
    """What global tokens of a banded layer attend to (B, H, T, number of global tokens), if any."""
    names = ("encoder_global_attentions", "global_attentions")
    maps = next((outputs[name] for name in names if outputs.get(name) is not None), None)
    return None if maps is None or place.stack == "decoder" else maps[place.layer]


def spread_band(band: Tensor, global_rows: Tensor | None, real: Tensor, place: Place) -> Tensor:
    """A band (H, T, global + 2w + 1) of one text as a whole map (H, T, T): its column c is key query + c - w.

    Rows of global tokens are empty in the band; they stand in `global_rows` (H, T, global). `real` (T,) is
    False at padding, whose rows are empty, too.
    """
    heads, count, width = band.shape
    empty = real & (band.sum(dim=(0, 2)) == 0)
    chosen = empty.nonzero()[:, 0] if global_rows is not None else empty.new_zeros(0, dtype=torch.long)
    reach, odd = divmod(width - len(chosen) - 1, 2)
    if odd or reach < 0:
        raise RecordingError(
            "recorders.reports.no_band", place=place, width=width, count=count, global_tokens=len(chosen)
        )
    whole = band.new_zeros(heads, count, count + 2 * reach)
    places = torch.arange(count)[:, None] + torch.arange(2 * reach + 1)  # (T, 2w + 1), shifted by w
    whole.scatter_(2, places.expand(heads, -1, -1).to(band.device), band[:, :, len(chosen) :])
    beyond = torch.cat((whole[..., :reach], whole[..., reach + count :]), dim=-1)
    whole = whole[..., reach : reach + count]
    if bool(beyond.any()):
        raise RecordingError("recorders.reports.band_beyond_text", place=place)
    if global_rows is not None:
        whole[:, :, chosen] += band[:, :, : len(chosen)]
        whole[:, chosen] = global_rows[:, :count, : len(chosen)].transpose(1, 2)  # beyond: padding of its own
    return whole


def are_weights(weights: Tensor, real: Tensor) -> bool:
    """Whether the rows of real tokens (H, T, S) are not negative and sum to one."""
    rows, tolerance = weights[:, real], row_tolerance(str(weights.dtype).removeprefix("torch."))
    return bool((rows >= 0).all() and ((rows.float().sum(-1) - 1).abs() <= tolerance).all())


def _find_attentions(outputs: Any) -> Iterator[tuple[str, Kind, Sequence[Any]]]:
    """Stack and kind of all attention in a model's outputs, and what is reported of each layer."""
    for part, name, values in walk_outputs(outputs):
        if name.endswith("attentions") and not name.endswith(NOT_MAPS) and isinstance(values, tuple | list):
            if name.startswith("cross"):
                yield part or "decoder", "cross", values
            else:
                yield part or name.removesuffix("attentions").removesuffix("_"), "self", values


def _is_map(reported: Any) -> bool:
    return isinstance(reported, Tensor) and reported.dim() == 4


def make_maps(
    outputs: Any,
    reports: Iterable[Report],
    stacks: Stacks,
    axes: Axes,
    want: Collection[str],
    edits: ActiveEdits,
) -> tuple[list[AttentionMap], list[Message]]:
    """The maps, and notes on them."""
    maps: list[AttentionMap] = []
    notes = [message("recorders.notes.allowed_inferred")]
    absent = [name for name in ABSENT if name in want]
    if absent:
        notes.append(message("recorders.notes.not_reported", names=list(map(name_term, absent))))
    left_out: dict[Message, None] = {}
    for place, weights in reports:
        place = stacks.rename(place)
        if weights.shape[0] != 1:
            raise RecordingError("recorders.reports.several_texts", place=place, count=weights.shape[0])
        whole = weights[0]  # (head, query, key)
        rows = axes.rows(place, whole.shape[1])
        real = torch.from_numpy(rows).to(whole.device)
        if place.kind == "self" and whole.shape[2] != whole.shape[1]:
            found = find_globals(outputs, place)
            whole = spread_band(whole, None if found is None else found[0], real, place)
        relaxed = find_relaxed(edits.edits, place)
        if relaxed is None and not are_weights(whole, real):
            left_out[describe_group(place.stack, place.kind)] = None
            continue
        numbers = as_numbers(whole)
        maps.append(
            AttentionMap(
                place,
                *axes.find(place, *numbers.shape[1:]),
                measure(numbers, _find_allowed(numbers, place, edits), rows),
                dense=numbers if "weights" in want else None,
                dtype=str(weights.dtype).removeprefix("torch."),
                relaxed=relaxed,
            )
        )
    if left_out:
        notes.append(message("recorders.notes.not_weights", places=list(left_out)))
    if not maps:
        raise RecordingError("recorders.reports.no_weights")
    return maps, notes


def _find_allowed(weights: Array, place: Place, edits: ActiveEdits) -> NDArray[np.bool_]:
    """Which keys (head, query, key) a mask allows, as far as weights tell; edited heads tell nothing."""
    edited = sorted(edits.replaced.get(place, ()))
    seen = np.delete(weights, edited, axis=0).max(axis=0, initial=0.0) > 0  # (query, key)
    allowed: NDArray[np.bool_] = np.repeat(seen[None], len(weights), axis=0)
    for head in edited:
        allowed[head] |= weights[head] > 0  # an edit may put weight anywhere
    for at in edits.hidden.get(place, ()):
        allowed[at[1:]] = False
    return allowed
