"""Metrics: pure functions from a Recording to a Score, each found by its name.

In:   a recording, the name of a metric, its parameters.
Out:  Score.

A metric is a function in a file of this folder:

    @head_metric("peak", Wording(Phrase("Peak", "峰值"), "每行最大权重的平均值。"), unit="share")
    def measure_peak(attention_map: AttentionMap) -> Rows:
        '''The largest weight of a row, averaged over rows.'''
        peak = attention_map.statistics.peak
        return Rows(peak, np.ones(peak.shape), "No row looks anywhere.")

The first line of its docstring is its caption in the page and in the documents. Padded rows, and rows that
may look nowhere, are left out here, for every metric that speaks of rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import literal
from glassformer.metrics.parameters import Parameter, declare, settle
from glassformer.metrics.scores import LEVELS, Over, Part, Phrase, Rows, Rule, Score, UndefinedError, Wording
from glassformer.recording import AttentionMap, Recording
from glassformer.registry import Registry

Bounds = tuple[float | None, float | None]
Needs = Literal["statistics", "weights"]

_NO_ROW = literal("Rows that are padding, or may look at no key, have no value.")


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known about a metric before it runs."""

    name: str
    caption: Phrase
    wording: Wording
    unit: str
    range: Bounds
    over: Over  # what its values are over, before any roll-up
    rule: Rule
    needs: Needs  # "weights": reads rows of weights, and takes longer on long texts
    parameters: tuple[Parameter, ...]
    family: str  # the file it lives in
    measure: Callable[[Recording, Over, dict[str, Any]], tuple[Part, ...]]


METRICS: Registry[Metric] = Registry("metric", "glassformer.metrics")


def head_metric(
    name: str,
    wording: Wording,
    unit: str,
    range: Bounds = (0.0, 1.0),
    rule: Rule = "mean",
    needs: Needs = "statistics",
) -> Callable[[Callable[..., Rows]], Callable[..., Rows]]:
    """Register a function of one map, (map, parameters) -> Rows, that is then measured on every map."""

    def keep(function: Callable[..., Rows]) -> Callable[..., Rows]:
        def measure(recording: Recording, over: Over, settled: dict[str, Any]) -> tuple[Part, ...]:
            return tuple(_measure_map(function, each, over, rule, settled) for each in recording.maps)

        metric = Metric(
            name,
            _caption(function, wording),
            wording,
            unit,
            range,
            "head",
            rule,
            needs,
            declare(function),
            function.__module__.rpartition(".")[2],
            measure,
        )
        METRICS.register(name)(metric)
        return function

    return keep


def recording_metric(
    name: str,
    wording: Wording,
    unit: str,
    over: Over,
    range: Bounds = (0.0, 1.0),
    needs: Needs = "weights",
) -> Callable[[Callable[..., tuple[Part, ...]]], Callable[..., tuple[Part, ...]]]:
    """Register a function of a whole recording, (recording, parameters) -> parts; it is not rolled up."""

    def keep(function: Callable[..., tuple[Part, ...]]) -> Callable[..., tuple[Part, ...]]:
        def measure(recording: Recording, _over: Over, settled: dict[str, Any]) -> tuple[Part, ...]:
            return function(recording, **settled)

        metric = Metric(
            name,
            _caption(function, wording),
            wording,
            unit,
            range,
            over,
            "none",
            needs,
            declare(function),
            function.__module__.rpartition(".")[2],
            measure,
        )
        METRICS.register(name)(metric)
        return function

    return keep


def score(recording: Recording, name: str, /, *, over: Over | None = None, **parameters: Any) -> Score:
    """Measure a recording: per head, or `over` "query", "layer" or "model" where there are such values."""
    metric = METRICS[name]
    level = metric.over if over is None else over
    possible = (metric.over,) if metric.rule == "none" else LEVELS
    if level not in possible:
        raise ConfigurationError(
            f"{name} was asked for over {level!r}. Wanted {' or '.join(possible)}. Choose one of these."
        )
    settled = settle(name, metric.parameters, parameters)
    if not recording.maps:
        raise InputError("The recording has no attention map. Wanted at least one. Record with attention.")
    signed = next((each for each in recording.maps if each.content == "signed"), None)
    if signed is not None and metric.rule == "none":
        raise InputError("metrics.signed", place=signed.place)
    parts = metric.measure(recording, level, settled)
    measured: Over = "query" if level == "query" else metric.over
    result = Score(
        name, metric.caption, metric.wording, metric.unit, metric.range, measured, metric.rule, parts, settled
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
            raise UndefinedError("metrics.signed", place=place)
        rows = function(attention_map, **settled)
    except UndefinedError as error:
        nothing = np.zeros(attention_map.shape[:2] if over == "query" else heads)
        axes = ("head", "query") if over == "query" else ("head",)
        return Part.from_sums(place, axes, nothing, nothing, rule, (error.message,))
    if rows.totals.ndim == 1:
        if over == "query":
            raise ConfigurationError(
                f"{function.__name__} speaks of whole heads. Wanted values per row. Ask for it over 'head'."
            )
        return Part.from_sums(place, ("head",), rows.totals, rows.counts, rule, rows.reasons)
    statistics = attention_map.statistics
    looking = statistics.rows & (statistics.allowed > 0)  # (head, query)
    totals, counts = np.where(looking, rows.totals, 0.0), np.where(looking, rows.counts, 0.0)
    if over == "query":
        reasons = rows.reasons if looking.all() else (*rows.reasons, _NO_ROW)
        return Part.from_sums(place, ("head", "query"), totals, counts, rule, reasons)
    summed = totals.sum(axis=1) if rule == "mean" else totals.max(axis=1, initial=0.0)
    return Part.from_sums(place, ("head",), summed, counts.sum(axis=1), rule, rows.reasons)


def _caption(function: Callable[..., Any], wording: Wording) -> Phrase:
    """The first line of the docstring, and what the wording says in Chinese."""
    if not function.__doc__:
        raise TypeError(f"{function.__name__}: the first line of the docstring is the metric's caption")
    return Phrase(function.__doc__.strip().splitlines()[0], wording.caption)
