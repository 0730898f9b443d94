"""A recording of anyone's matrices: attention that another program computed, or signed effects.

In:   arrays (layer, head, query, key), or one for each place, and the tokens of their axes.
Out:  a Recording like any other: it can be shown, saved, scored and compared. Statistics are computed here,
      in float64.
"""

from __future__ import annotations  # help() shows names of types, not what NumPy has behind them

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glassformer.errors import InputError, RecordingError
from glassformer.messages import message
from glassformer.place import Kind, Place
from glassformer.recording.arrays import AnyArray, Booleans, require_choice
from glassformer.recording.attention_map import AttentionMap
from glassformer.recording.evidence import Evidence
from glassformer.recording.recording import Recording
from glassformer.recording.statistics import Content, HeadStatistics, measure, measure_signed
from glassformer.recording.tokens import Side, Tokens
from glassformer.rounding import EPSILON, HALVES, row_tolerance

Arrays = ArrayLike | Sequence[Any] | Mapping[Any, Any]


def from_arrays(
    weights: Arrays,
    tokens: Sequence[str] | None = None,
    target: Sequence[str] | None = None,
    *,
    stack: str | None = None,
    kind: Kind | None = None,
    content: Content = "weights",
    mask: ArrayLike | None = None,
    model: str = "arrays",
) -> Recording:
    """A recording of attention matrices that were computed elsewhere.

    `weights` is an array (layer, head, query, key), an array (head, query, key) of one layer, or a list with
    one array for each layer (also with a batch axis of one, as transformers returns `attentions`). A mapping
    gives each array its place: {"encoder.self.0": …, Place("decoder", "cross", 0): …}. Arrays of NumPy, torch
    and others will do.

    `tokens` are the texts along the axes; with `target`, cross-attention looks from target to source tokens.
    Without tokens, positions are numbered.
    `stack` and `kind` say what an array without places is: by default self-attention of the encoder, or
    cross-attention of the decoder where there is a target.
    `content` is "weights" (rows sum to one) or "signed" (differences, attributions, any other numbers).
    `mask` is True where a query may look at a key, (query, key) or (head, query, key); without it, keys count
    as visible where some head gives them weight.

    >>> weights = np.array([[[[1.0, 0.0], [0.4, 0.6]]]])  # one layer, one head
    >>> recording = gf.from_arrays(weights, ["Hello", "world"])
    >>> recording.map().weights(head=0)[1]
    array([0.4, 0.6], dtype=float32)
    >>> effect = gf.from_arrays(weights - weights.mean(), ["Hello", "world"], content="signed")
    """
    kind = kind or ("self" if target is None else "cross")
    stack = stack or ("encoder" if kind == "self" and target is None else "decoder")
    require_choice("content", content, get_args(Content))
    arrays: dict[Place, tuple[NDArray[np.float64], str]] = {}
    for place, value in _list_places(weights, stack, kind):
        if place in arrays:
            raise RecordingError("recording.two_maps", place=place)
        arrays[place] = _read_array(value, place)
    if not arrays:
        raise InputError("recording.from_arrays.no_arrays")
    sides = _find_sides(arrays, tokens, target)
    maps = [
        _make_map(place, array, precision, sides, content, mask)
        for place, (array, precision) in arrays.items()
    ]
    error = max(float(np.abs(each.weights() - arrays[each.place][0]).max(initial=0.0)) for each in maps)
    largest = max(float(np.abs(array).max(initial=0.0)) for array, _ in arrays.values())
    digest = sha256(b"".join(np.ascontiguousarray(each.weights()).tobytes() for each in maps))
    given = message("recording.from_arrays.given")
    exact = error <= largest * EPSILON["float32"] / 2
    evidence = Evidence(model, digest.hexdigest(), given, "float32", exact, error, given)
    return Recording(model, evidence, sides["source"], sides.get("target"), tuple(maps))


def _list_places(weights: Arrays, stack: str, kind: Kind) -> Iterable[tuple[Place, Any]]:
    """Each array with its place."""
    if isinstance(weights, Mapping):
        return [
            (each if isinstance(each, Place) else Place.parse(str(each)), weights[each]) for each in weights
        ]
    whole: Any = weights
    if isinstance(weights, (list, tuple)) and not (weights and hasattr(weights[0], "shape")):
        try:
            whole = np.array(weights, dtype=np.float64) if weights else []
        except (TypeError, ValueError) as error:
            raise InputError("recording.from_arrays.uneven", error=str(error)) from error
    axes = 4 if isinstance(whole, (list, tuple)) else len(getattr(whole, "shape", ()))
    if axes not in (3, 4, 5):
        raise InputError("recording.from_arrays.wrong_axes", shape=str(tuple(getattr(whole, "shape", ()))))
    layers = [whole] if axes == 3 else whole
    return [(Place(stack, kind, layer), value) for layer, value in enumerate(layers)]


def _read_array(value: Any, place: Place) -> tuple[NDArray[np.float64], str]:
    """One map (head, query, key) in float64, and the precision it came in."""
    precision = str(getattr(value, "dtype", "float32")).removeprefix("torch.")
    try:
        if precision.startswith("complex"):
            raise TypeError
        if hasattr(value, "detach"):  # a torch tensor, perhaps on a GPU, in bfloat16 or with gradients
            value = value.detach().cpu().double().numpy()
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError("recording.from_arrays.not_numbers", place=place) from None
    if array.ndim == 4 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 3 or not len(array):
        raise InputError("recording.from_arrays.wrong_axes", shape=str(array.shape))
    if not np.isfinite(array).all():
        raise InputError("recording.from_arrays.not_finite", place=place)
    return array, precision if precision in HALVES else "float32"


def _find_sides(
    arrays: Mapping[Place, tuple[AnyArray, str]], tokens: Sequence[str] | None, target: Sequence[str] | None
) -> dict[Side, Tokens]:
    """The tokens of both sides; numbered positions where none were given."""
    given: dict[Side, Sequence[str] | None] = {"source": tokens, "target": target}
    lengths: dict[Side, int] = {"source": 0}
    if target is not None:
        lengths["target"] = 0
    has_target = target is not None or any(place.kind == "cross" for place in arrays)
    for place, (array, _) in arrays.items():
        for side, length in zip(_name_sides(place, has_target), array.shape[1:], strict=True):
            lengths[side] = max(length, lengths.get(side, 0))
    return {side: _make_tokens(side, given[side], length) for side, length in lengths.items()}


def _make_tokens(side: Side, texts: Sequence[str] | None, length: int) -> Tokens:
    """Tokens of plain texts; equal texts have equal ids."""
    if texts is None:
        return Tokens.positional(side, length)
    known: dict[str, int] = {}
    ids = [known.setdefault(str(text), len(known)) for text in texts]
    return Tokens(side, tuple(texts), np.array(ids, dtype=np.int64))


def _name_sides(place: Place, has_target: bool) -> tuple[Side, Side]:
    """Whose tokens the queries and the keys of a map are."""
    if place.kind == "cross":
        return "target", "source"
    side: Side = "target" if has_target and place.stack != "encoder" else "source"
    return side, side


def _make_map(
    place: Place,
    array: NDArray[np.float64],
    precision: str,
    sides: Mapping[Side, Tokens],
    content: Content,
    mask: ArrayLike | None,
) -> AttentionMap:
    query, key = (sides[side] for side in _name_sides(place, "target" in sides))
    if array.shape[1:] != (len(query), len(key)):
        lengths = {"queries": len(query), "keys": len(key)}
        raise InputError("recording.from_arrays.wrong_tokens", place=place, shape=str(array.shape), **lengths)
    statistics, dense = _measure(place, array, precision, content, mask), array.astype(np.float32)
    return AttentionMap(place, query, key, statistics, dense, dtype=precision)


def _measure(
    place: Place, array: NDArray[np.float64], precision: str, content: Content, mask: ArrayLike | None
) -> HeadStatistics:
    """The statistics of a map; rows of weights without any weight count as padding."""
    if content == "signed":
        return measure_signed(array)
    try:
        allowed: Booleans = np.asarray((array > 0).any(axis=0) if mask is None else mask, dtype=bool)
        used: Booleans = np.asarray(np.broadcast_to(allowed, array.shape).any(axis=-1))  # (head, query)
    except ValueError as error:
        shape = str(array.shape)
        raise InputError("recording.from_arrays.wrong_mask", place=place, shape=shape) from error
    totals = array.sum(axis=-1)  # (head, query)
    tolerance = row_tolerance(precision)
    wrong = used & ~(np.abs(totals - 1) <= tolerance) | (array.min(axis=-1, initial=0.0) < -tolerance)
    if wrong.any():
        head, row = np.argwhere(wrong)[0].tolist()
        total = totals[head, row]
        raise InputError("recording.from_arrays.not_weights", place=place, head=head, query=row, total=total)
    rows: Booleans = np.asarray(used.any(axis=0))
    return measure(array, allowed, rows)
