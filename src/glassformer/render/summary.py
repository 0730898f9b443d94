"""Recordings, scores and runs for programs: plain values that JSON and CSV can hold.

In:   a Recording, Scores, a RunLog.
Out:  dictionaries and rows of text, numbers and None; what is not a number is None.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.messages import Message
from glassformer.metrics import Part, Score, score
from glassformer.recording import Recording, Tokens
from glassformer.runlog import BEST, Alarm, RunLog, read_events, read_overview
from glassformer.runlog.alarms import join_alarms
from glassformer.runlog.log import SETTINGS, read_object
from glassformer.runlog.search import SearchLog

COLUMNS = (
    "metric",
    "over",
    "stack",
    "layer",
    "kind",
    "step",
    "head",
    "row",
    "column",
    "value",
    "unit",
    "edited",
)


def summarise(recording: Recording) -> dict[str, Any]:
    """Tokens, maps with the mean entropy of each head, the likeliest last output, steps, evidence."""
    entropies = score(recording, "entropy").parts if recording.maps else ()
    maps = [
        {
            "stack": each.stack,
            "layer": each.layer,
            "kind": each.kind,
            "step": each.step,
            "shape": each.shape,  # (head, query, key)
            "weights": each.has_weights,
            "entropy": part.values.tolist(),
        }
        for each, part in zip(recording.maps, entropies, strict=True)
    ]
    output, evidence, generation = recording.output, recording.evidence, recording.generation
    pairs = () if output is None else zip(output.texts(-1), output.probabilities[-1].tolist(), strict=True)
    likely = [{"text": text, "probability": share} for text, share in pairs]
    stamp = {each.name: getattr(evidence, each.name) for each in fields(evidence)}
    return {
        "model": recording.model,
        "edited": evidence.mark,
        "source": _list_tokens(recording.source),
        "target": _list_tokens(recording.target),
        "maps": maps,
        "hidden": {stack: states.shape for stack, states in recording.hidden.items()},
        "output": likely,
        "generation": None if generation is None else [step.text for step in generation.steps],
        "evidence": {**stamp, "versions": dict(evidence.versions)},
    }


def tabulate_score(measured: Score) -> Iterator[dict[str, Any]]:
    """One row for each value of a score, by COLUMNS; axes other than heads are `row` and `column`."""
    for part in measured.parts:
        place = part.place._asdict() if part.place is not None else {}
        for index in np.ndindex(part.values.shape):
            value = float(part.values[index])
            yield {
                **dict.fromkeys(COLUMNS),
                "metric": measured.name,
                "over": measured.over,
                **place,
                **_name_index(part, index),
                "value": value if math.isfinite(value) else None,
                "unit": measured.unit,
                "edited": None if measured.edited is None else measured.edited.text("en"),
            }


def summarise_score(measured: Score) -> dict[str, Any]:
    """A score with its caption and all its values."""
    return {
        "metric": measured.name,
        "label": measured.label.text("en"),
        "caption": measured.caption.text("en"),
        "unit": measured.unit,
        "over": measured.over,
        "edited": None if measured.edited is None else measured.edited.text("en"),
        "parameters": {name: _plain(value) for name, value in measured.parameters.items()},
        "undefined": " ".join(each.text("en") for each in measured.undefined) or None,
        "parts": [
            {
                "place": None if part.place is None else part.place._asdict(),
                "axes": part.axes,
                "values": part.values.tolist(),
                "labels": part.labels or None,
            }
            for part in measured.parts
        ],
    }


def summarise_run(folder: Path) -> dict[str, Any]:
    """Where a run stands: the last value of every curve, and its alarms. The log itself is not read."""
    overview = read_overview(folder)
    return {
        "run": overview.name,
        "folder": str(folder),
        "state": overview.state,
        "step": overview.last_step,
        "started": overview.started,
        "updated": overview.updated,
        "settings": read_object(folder / SETTINGS),
        "scalars": overview.scalars,
        "alarms": [_summarise_alarm(alarm) for alarm in join_alarms(read_events(folder)[0])],
    }


def _summarise_alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "cause": alarm.cause,
        "first_step": alarm.first_step,
        "last_step": alarm.last_step,
        "passed_at": alarm.passed_at,
        "heads": {place.address: heads for place, heads in alarm.heads.items()},
        "layers": alarm.layers,
        "message": alarm.message.text("en"),
    }


def compare_runs(first: RunLog, second: RunLog) -> dict[str, Any]:
    """Two runs side by side: the settings that differ, and how both stand."""
    runs = (first, second)
    settings = [log.settings for log in runs]
    names = [
        name for name in {**settings[0], **settings[1]} if settings[0].get(name) != settings[1].get(name)
    ]
    results: dict[str, list[Any]] = {
        "state": [log.state for log in runs],
        "step": [log.last_step for log in runs],
        "alarms": [len(log.alarms) for log in runs],
    }
    for name in {**first.scalars, **second.scalars}:
        if name not in ("time", "rate", "norm"):
            curves = [log.scalars.get(name) for log in runs]
            results[name] = [
                float(each.values[-1]) if each is not None and len(each) else None for each in curves
            ]
    for log in runs:
        best = next((event for event in reversed(log.events) if event.kind == BEST), None)
        if best is not None:
            results.setdefault(f"best {best.topic}", [None, None])[runs.index(log)] = best.value
    return {
        "runs": [log.name for log in runs],
        "settings": {name: [each.get(name) for each in settings] for name in names},
        "results": results,
    }


def summarise_search(log: SearchLog) -> dict[str, Any]:
    """A search as plain values: its trials, the best one, the front, what mattered, what was confirmed."""
    best, baseline = log.best, log.baseline
    return {
        "name": log.name,
        "state": log.state,
        "objectives": {each.name: each.direction for each in log.objectives},
        "own": dict(log.own),
        "trials": log.rows(),
        "best": None if best is None else best.number,
        "baseline": None if baseline is None else baseline.number,
        "pareto": [trial.number for trial in log.pareto],
        "importance": {name: dict(shares) for name, shares in log.importance.items()},
        "confirmed": [
            {"trial": each.trial, "runs": [run.run for run in each.runs], "diverged": each.diverged}
            | {"values": {name: each.values(name) for name in each.estimates()}}
            for each in log.confirmed
        ],
        "gains": {
            name: {"mean": gain.mean, "low": gain.low, "high": gain.high, "count": gain.count}
            for name, gain in log.gains.items()
        },
        "seconds": log.seconds,
    }


def to_json(value: Any) -> str:
    """JSON that every reader takes: NaN and infinity become null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def to_csv(scores: Iterable[Score]) -> str:
    """All values of some scores, one a line."""
    return write_csv(COLUMNS, (row for measured in scores for row in tabulate_score(measured)))


def write_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """These columns of some rows."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().removesuffix("\n")


def _list_tokens(tokens: Tokens | None) -> dict[str, Any] | None:
    return None if tokens is None else {"text": tokens.text, "tokens": tokens.texts}


def _name_index(part: Part, index: tuple[int, ...]) -> dict[str, Any]:
    """The place of one value along its axes, by label where there are labels."""
    named = {}
    free = ["row", "column"]
    for axis, (name, number) in enumerate(zip(part.axes, index, strict=True)):
        label: Any = part.labels[axis][number] if axis < len(part.labels) and part.labels[axis] else number
        named["head" if name == "head" and "head" not in named else free.pop(0)] = label
    return named


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, Message):
        return value.text("en")
    return None if isinstance(value, float) and not math.isfinite(value) else value
