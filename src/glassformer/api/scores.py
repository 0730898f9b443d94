"""Metrics and scores for JSON.

In:   a recording, the name of a metric, parameters as text.
Out:  MetricDescription and ScoreDescription for JSON; rollout as a frame.
"""

import inspect
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter, ValidationError

from glassformer.api.cancellation import make_cancellable
from glassformer.api.frames import Frame
from glassformer.api.tiles import MOST_CELLS, Precision, convert
from glassformer.comparison.difference import Difference
from glassformer.errors import ApiError
from glassformer.messages import message
from glassformer.metrics import METRICS, PANEL, Metric, Over, Parameter, Part, Score, score
from glassformer.metrics.scores import LEVELS
from glassformer.place import name_term
from glassformer.recording import THRESHOLD, Recording
from glassformer.schema import Bounds, MessageField, PlaceModel, ResponseModel

Kind = Literal["number", "integer", "choice", "boolean", "text"]

_KINDS: dict[object, Kind] = {float: "number", int: "integer", bool: "boolean", str: "text"}
MOST_ROLLED = 16 << 20  # numbers of a rollout in one response
MOST_COUNTED = 4_000_000_000  # weights that may be read for one response


class MetricParameter(ResponseModel):
    """A parameter of a metric."""

    name: str
    label: MessageField
    kind: Kind
    default: float | int | str | bool | None
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...] | None


class MetricDescription(ResponseModel):
    """What is known about a metric before it runs."""

    name: str
    family: str
    label: MessageField
    caption: MessageField
    lower: MessageField | None
    higher: MessageField | None
    unit: str
    range: Bounds
    over: str
    levels: tuple[str, ...]
    needs: Literal["statistics", "weights"]
    parameters: tuple[MetricParameter, ...]
    panel: bool


class ScorePart(ResponseModel):
    """The values of one place, flat; null where there is none."""

    place: PlaceModel | None  # None: of several maps together
    undefined: tuple[MessageField, ...]  # why values are missing; empty where none is
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    values: tuple[float | None, ...]
    labels: tuple[tuple[str, ...], ...] | None


class ScoreDescription(ResponseModel):
    """One metric of one recording."""

    metric: str
    over: str
    unit: str
    range: Bounds
    parameters: dict[str, float | int | str | bool | None]
    parts: tuple[ScorePart, ...]


def describe_metrics() -> list[MetricDescription]:
    """Every metric whose parameters fit into a URL; those of the panel first, in its order."""
    found = [METRICS[name] for name in METRICS]
    possible = [
        each
        for each in found
        if all(_is_plain(parameter) for parameter in each.parameters if parameter.required)
    ]
    order = {name: place for place, name in enumerate(PANEL)}
    possible.sort(key=lambda each: (order.get(each.name, len(order)), each.family, each.name))
    return [_describe(each) for each in possible]


def measure_recording(
    recording: Recording,
    name: str,
    over: Over | None,
    given: dict[str, str],
    difference: Difference | None = None,
) -> ScoreDescription:
    """Compute a metric, of a difference the first's minus the second's; parameters are texts of the URL."""
    if name not in METRICS:
        raise ApiError("api.no_metric", status=404, name=name[:80])
    metric = METRICS[name]
    types = {parameter.name: parameter.type for parameter in metric.parameters}
    parameters = {word: _read(types.get(word), text) for word, text in given.items()}
    both = (recording,) if difference is None else (difference.first, difference.second)
    for each in both:
        _require_short(each, metric, parameters)
    if difference is not None:
        first, second = map(make_cancellable, both)
        stoppable = replace(difference, first=first, second=second)
        return _describe_score(stoppable.score(name, over=over, **parameters))
    measured = score(make_cancellable(recording), name, over=over, **parameters)
    return _describe_score(measured)


def frame_rollout(
    recording: Recording, stack: str | None, residual: float, layers: bool, precision: Precision
) -> Frame:
    """How much of each token, after each layer, comes from each token of the input (layer, query, key)."""
    parts = score(make_cancellable(recording), "rollout", residual=residual).parts
    chosen = [part for part in parts if part.place is not None and stack in (None, part.place.stack)]
    if not chosen:
        raise ApiError("api.no_self_attention", "no_map", 404, stack=name_term((stack or "")[:40]))
    place = chosen[0].place
    assert place is not None
    same = [part for part in chosen if part.place is not None and part.place.stack == place.stack]
    kept = same if layers else same[-1:]
    if len(kept) * kept[0].values.size > MOST_ROLLED:
        raise ApiError(
            "api.rollout_too_large", "too_many_cells", 422, layers=len(kept), tokens=kept[0].values.shape[0]
        )
    rolled = np.nan_to_num(np.stack([part.values for part in kept])).astype(np.float32)
    meta = {"stack": place.stack, "layers": [part.place.layer for part in kept if part.place is not None]}
    return Frame({"rollout": convert(rolled, precision, 1.0)}, {**meta, "residual": residual})


def _require_short(recording: Recording, metric: Metric, parameters: dict[str, Any]) -> None:
    """ApiError where a threshold would need billions of weights to be counted again."""
    if not {"threshold", "relative"} & set(parameters) or metric.needs != "statistics":
        return
    kept = {f"{each.statistics.threshold:g}" for each in recording.maps}
    threshold = parameters.get("threshold", THRESHOLD)
    if not isinstance(threshold, float):
        return  # the metric raises the error
    if {f"{threshold:g}"} == kept and not parameters.get("relative", False):
        return
    cells = sum(each.heads * len(each.query) * len(each.key) for each in recording.maps)
    if cells > MOST_COUNTED:
        raise ApiError(
            "api.too_many_to_recount",
            "too_many_cells",
            422,
            cells=cells / 1e9,
            most=MOST_COUNTED / 1e9,
            kept=tuple(sorted(kept)),
        )


def _describe(metric: Metric) -> MetricDescription:
    return MetricDescription(
        name=metric.name,
        family=metric.family,
        label=metric.label,
        caption=metric.caption,
        lower=metric.lower,
        higher=metric.higher,
        unit=metric.unit,
        range=metric.range,
        over=metric.over,
        levels=(metric.over,) if metric.rule == "none" else LEVELS,
        needs=metric.needs,
        parameters=tuple(
            _describe_parameter(parameter) for parameter in metric.parameters if _is_plain(parameter)
        ),
        panel=metric.name in PANEL,
    )


def _describe_parameter(parameter: Parameter) -> MetricParameter:
    return MetricParameter(
        name=parameter.name,
        label=parameter.about.meaning,
        kind="choice" if parameter.choices else _KINDS[parameter.type],
        default=None if parameter.default is inspect.Parameter.empty else parameter.default,
        minimum=parameter.about.least,
        maximum=parameter.about.most,
        choices=parameter.choices or None,
    )


def _describe_score(measured: Score) -> ScoreDescription:
    cells = sum(part.values.size for part in measured.parts)
    if cells > MOST_CELLS:
        raise ApiError(
            "api.too_many_values", "too_many_cells", 422, name=measured.name, cells=cells, most=MOST_CELLS
        )
    return ScoreDescription(
        metric=measured.name,
        over=measured.over,
        unit=measured.unit,
        range=measured.range,
        parameters={
            name: value if isinstance(value, float | int | str | bool | None) else str(value)
            for name, value in measured.parameters.items()
        },
        parts=tuple(map(_describe_part, measured.parts)),
    )


def _describe_part(part: Part) -> ScorePart:
    place = part.place
    values = [value if math.isfinite(value) else None for value in part.values.reshape(-1).tolist()]
    reasons = part.undefined or (message("api.no_value"),)
    return ScorePart(
        place=None if place is None else PlaceModel.of(place),
        undefined=reasons if None in values else (),
        axes=part.axes,
        shape=part.values.shape,
        values=tuple(values),
        labels=part.labels or None,
    )


def _read(kind: Any, text: str) -> Any:
    """A parameter of the URL as its type; text that does not fit stays, and the metric refuses it."""
    try:
        return TypeAdapter(kind).validate_python(text) if kind in _KINDS else text
    except ValidationError:
        return text


def _is_plain(parameter: Parameter) -> bool:
    return bool(parameter.choices) or parameter.type in _KINDS
