"""Metrics: pure functions from a Recording to a Score, each found by its name.

In:   a recording, the name of a metric, its parameters.
Out:  Score.

A metric is a function in a file of this folder:

    @head_metric("peak", unit="share")
    def measure_peak(attention_map: AttentionMap) -> Rows:
        '''The largest weight of a row, averaged over rows.'''
        peak = attention_map.statistics.peak
        return Rows(peak, np.ones(peak.shape), "No row looks anywhere.")

That is all a plug-in needs. The first line of its docstring is its caption; the rest, a formula and the like,
is for the documents. Texts in the catalogues (metrics.peak.label, .caption, .lower, .higher) go before those
in the code. Padded rows, and rows that may look nowhere, are left out here, for every metric that has rows.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, message
from glassformer.messages.catalogues import FALLBACK, find_template
from glassformer.metrics.parameters import Parameter, declare, settle
from glassformer.metrics.scores import LEVELS, Over, Part, Rows, Rule, Score, UndefinedError
from glassformer.place import name_term
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.recording.arrays import Booleans
from glassformer.registry import Registry

Bounds = tuple[float | None, float | None]
Needs = Literal["statistics", "weights"]
Measure = Callable[[Recording, Over, dict[str, Any]], tuple[Part, ...]]
MeasureMap = Callable[[AttentionMap, dict[str, Any]], Part]

_NO_VALUE = message("metrics.no_value_of_row")


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known about a metric before it runs."""

    name: str
    label: Message
    caption: Message
    details: str  # how it is computed, in English: the rest of the docstring
    lower: Message | None  # what a low value means
    higher: Message | None
    unit: str
    range: Bounds
    over: Over  # what its values are over, before any roll-up
    rule: Rule
    needs: Needs  # "weights": reads rows of weights, and takes longer on long texts
    parameters: tuple[Parameter, ...]
    family: str  # the file it lives in
    measure: Measure
    # Of a metric of heads: the same of one map.
    measure_map: MeasureMap | None = None
    reads_tokens: bool = (
        True  # False: statistics and weights alone; maps of many texts may be measured as one
    )
    marks: Callable[[Tokens], Booleans] | None = None  # all that it has to know about keys


METRICS: Registry[Metric] = Registry("metric", "glassformer.metrics")


def head_metric(
    name: str,
    *,
    unit: str,
    range: Bounds = (0.0, 1.0),
    rule: Rule = "mean",
    needs: Needs = "statistics",
    label: str | None = None,
    reads_tokens: bool = True,
    marks: Callable[[Tokens], Booleans] | None = None,
) -> Callable[[Callable[..., Rows]], Callable[..., Rows]]:
    """Register a function of one map, (map, parameters) -> Rows, that is then measured on every map.

    `reads_tokens=False`: it never looks at the tokens of a map, nor mixes heads, so that the maps of many
    texts of one length can be measured as one with many heads; `gf.study` is faster then. The same holds
    with `marks`, a function from the keys (Tokens) to booleans (key,), if these are all that it has to know:
    it gets them as `marked` (head or 1, key).
    """

    def keep(function: Callable[..., Rows]) -> Callable[..., Rows]:
        def see(attention_map: AttentionMap, settled: dict[str, Any]) -> dict[str, Any]:
            if marks is None or "marked" in settled:
                return settled
            return {**settled, "marked": marks(attention_map.key)[None]}

        def measure(recording: Recording, over: Over, settled: dict[str, Any]) -> tuple[Part, ...]:
            return tuple(
                _measure_map(function, each, over, rule, see(each, settled)) for each in recording.maps
            )

        def measure_map(attention_map: AttentionMap, settled: dict[str, Any]) -> Part:
            return _measure_map(function, attention_map, "head", rule, see(attention_map, settled))

        alone = reads_tokens and marks is None
        _register(function, measure, name, label, unit, range, "head", rule, needs, measure_map, alone, marks)
        return function

    return keep


def recording_metric(
    name: str,
    *,
    unit: str,
    over: Over,
    range: Bounds = (0.0, 1.0),
    needs: Needs = "weights",
    label: str | None = None,
) -> Callable[[Callable[..., tuple[Part, ...]]], Callable[..., tuple[Part, ...]]]:
    """Register a function of a whole recording, (recording, parameters) -> parts; it is not rolled up."""

    def keep(function: Callable[..., tuple[Part, ...]]) -> Callable[..., tuple[Part, ...]]:
        def measure(recording: Recording, _over: Over, settled: dict[str, Any]) -> tuple[Part, ...]:
            return function(recording, **settled)

        _register(function, measure, name, label, unit, range, over, "none", needs)
        return function

    return keep


def _register(  # noqa: PLR0913 (what both decorators were given)
    function: Callable[..., Any],
    measure: Measure,
    name: str,
    label: str | None,
    unit: str,
    range: Bounds,
    over: Over,
    rule: Rule,
    needs: Needs,
    measure_map: MeasureMap | None = None,
    reads_tokens: bool = True,
    marks: Callable[[Tokens], Booleans] | None = None,
) -> None:
    """Put a metric into the registry; its texts are those of the catalogues, or else those of the code."""
    documented = inspect.cleandoc(function.__doc__ or "").partition("\n")
    if not documented[0]:
        raise TypeError(f"{function.__name__}: the first line of the docstring is the metric's caption")
    readings = {
        key: message(f"metrics.{name}.{key}") if find_template(f"metrics.{name}.{key}", FALLBACK) else None
        for key in ("lower", "higher")
    }
    metric = Metric(
        name,
        message(f"metrics.{name}.label", default=_escape(label or name.replace("_", " ").capitalize())),
        message(f"metrics.{name}.caption", default=_escape(documented[0])),
        " ".join(documented[2].split()),
        readings["lower"],
        readings["higher"],
        unit,
        range,
        over,
        rule,
        needs,
        declare(function),
        function.__module__.rpartition(".")[2],
        measure,
        measure_map,
        reads_tokens,
        marks,
    )
    METRICS.register(name)(metric)


def _escape(text: str) -> str:
    """A text as a template."""
    return text.replace("{", "{{").replace("}", "}}")


def score(recording: Recording, name: str, /, *, over: Over | None = None, **parameters: Any) -> Score:
    """Measure a recording: per head, or `over` "query", "layer" or "model" where there are such values.

    >>> recording = gf.record("zoo/bert", "The cat sleeps on the mat.")
    >>> gf.score(recording, "entropy", over="model").value
    1.9...
    >>> gf.score(recording, "nonzero_share", threshold=0.05).part(layer=-1).values  # of each head
    array([...])
    """
    metric = METRICS[name]
    level = metric.over if over is None else over
    possible = (metric.over,) if metric.rule == "none" else LEVELS
    if level not in possible:
        levels = tuple(map(name_term, possible))
        raise ConfigurationError("metrics.no_such_level", metric=name, over=level, levels=levels)
    settled = settle(name, metric.parameters, parameters)
    if not recording.maps:
        raise InputError("recording.no_maps")
    if metric.rule == "none" and any(each.content == "signed" for each in recording.maps):
        raise InputError("metrics.signed")
    parts = metric.measure(recording, level, settled)
    measured: Over = "query" if level == "query" else metric.over
    result = Score(
        name,
        metric.label,
        metric.caption,
        metric.unit,
        metric.range,
        measured,
        metric.rule,
        parts,
        settled,
        metric.lower,
        metric.higher,
        recording.evidence.mark,
    )
    return result.roll_up(level)


def _measure_map(
    function: Callable[..., Rows],
    attention_map: AttentionMap,
    over: Over,
    rule: Rule,
    settled: dict[str, Any],
) -> Part:
    """One map's values per head, or per row where that is asked for."""
    place, heads = attention_map.place, attention_map.heads
    try:
        if attention_map.content == "signed":
            raise UndefinedError("metrics.signed")
        rows = function(attention_map, **settled)
    except UndefinedError as error:
        nothing = np.zeros(attention_map.shape[:2] if over == "query" else heads)
        axes = ("head", "query") if over == "query" else ("head",)
        return Part.from_sums(place, axes, nothing, nothing, rule, (error.message,))
    if rows.totals.ndim == 1:
        if over == "query":
            raise ConfigurationError("metrics.whole_heads", metric=function.__name__)
        return Part.from_sums(place, ("head",), rows.totals, rows.counts, rule, rows.reasons)
    looking = attention_map.statistics.looking  # (head, query)
    totals, counts = np.where(looking, rows.totals, 0.0), np.where(looking, rows.counts, 0.0)
    if over == "query":
        reasons = rows.reasons if looking.all() else (*rows.reasons, _NO_VALUE)
        return Part.from_sums(place, ("head", "query"), totals, counts, rule, reasons)
    summed = totals.sum(axis=1) if rule == "mean" else totals.max(axis=1, initial=0.0)
    return Part.from_sums(place, ("head",), summed, counts.sum(axis=1), rule, rows.reasons)
