"""Architectures off the attention interface: what they report themselves when eager attention is asked for.

In:   a model of transformers and its inputs.
Out:  the weights that it reports, with their places. Bands (a window of keys for each query, global keys in
      front) are spread out to whole maps.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recorders.preserve import on_loan, switched
from glassformer.recording import Kind

TOLERANCE = 1e-3  # how far a row may be from one before it is no row of weights
NOT_MAPS = ("global_attentions", "ngram_attentions")  # parts of bands, and streams that are no stack


class Report(NamedTuple):
    """What a model said it attended to in one layer."""

    place: Place
    weights: Tensor  # (B, H, T, S); in a band S is the width of the band


def ask(model: nn.Module, inputs: Mapping[str, Any], **words: Any) -> tuple[Any, list[Report]]:
    """Run with eager attention: the model's outputs, and the weights it reports."""
    with on_loan(model), switched(model, "eager"):
        outputs = model(**inputs, **words, output_attentions=True)
    return outputs, list(read_reports(outputs))


def read_reports(outputs: Any) -> Iterator[Report]:
    """The attentions in a model's outputs, also in the outputs of its parts."""
    for (stack, kind), values in _find_attentions(outputs):
        for layer, weights in enumerate(each for each in values if _is_map(each)):
            yield Report(Place(stack, kind, layer), weights)


def tell_others(outputs: Any) -> list[str]:
    """Where a model reports what is no map of queries and keys: attention within pieces of a text."""
    return [
        f"{stack} {kind}".strip()
        for (stack, kind), values in _find_attentions(outputs)
        if any(each is not None and not _is_map(each) for each in values)
    ]


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
            f"The model reports {width} columns for {count} tokens in {place}, and {len(chosen)} global "
            "tokens; that is no band which can be spread out. Record a model that reports whole maps."
        )
    whole = band.new_zeros(heads, count, count + 2 * reach)
    places = torch.arange(count)[:, None] + torch.arange(2 * reach + 1)  # (T, 2w + 1), shifted by w
    whole.scatter_(2, places.expand(heads, -1, -1).to(band.device), band[:, :, len(chosen) :])
    beyond = torch.cat((whole[..., :reach], whole[..., reach + count :]), dim=-1)
    whole = whole[..., reach : reach + count]
    if bool(beyond.any()):
        raise RecordingError(
            f"The band that the model reports in {place} has weight beyond the text; it cannot be spread "
            "out. Record a model that reports whole maps."
        )
    if global_rows is not None:
        whole[:, :, chosen] += band[:, :, : len(chosen)]
        whole[:, chosen] = global_rows[:, :count, : len(chosen)].transpose(1, 2)  # beyond: padding of its own
    return whole


def are_weights(weights: Tensor, real: Tensor) -> bool:
    """Whether the rows of real tokens (H, T, S) are not negative and sum to one."""
    rows = weights[:, real]
    return bool((rows >= 0).all() and ((rows.sum(-1) - 1).abs() <= TOLERANCE).all())


def _find_attentions(outputs: Any, prefix: str = "") -> Iterator[tuple[tuple[str, Kind], Sequence[Any]]]:
    for name, value in outputs.items():
        if isinstance(value, Mapping):
            part = f"{prefix}{name.removesuffix('_output').removesuffix('_model')}"
            yield from _find_attentions(value, part)
        elif name.endswith("attentions") and not name.endswith(NOT_MAPS) and isinstance(value, tuple | list):
            yield _name_stack(name, prefix), value


def _is_map(reported: Any) -> bool:
    return isinstance(reported, Tensor) and reported.dim() == 4


def _name_stack(name: str, prefix: str) -> tuple[str, Kind]:
    if name.startswith("cross"):
        return prefix or "decoder", "cross"
    return prefix or name.removesuffix("attentions").removesuffix("_"), "self"
