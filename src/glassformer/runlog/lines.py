"""The lines of a log: numbers and maps as they are written, and as rows of an index.

In:   one line of JSON, or a part of it.
Out:  numbers; a step, what the line is about, and a row of values.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.place import Place

LARGEST_COUNT = 2**53 - 1  # of a step or a layer; more is damage

PLACE = ("stack", "kind", "layer")

Values = NDArray[np.float64]


def is_count(value: Any) -> bool:
    """Whether a value of a log is a whole number that a step or a layer can be."""
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def as_number(value: Any) -> float:
    """A number of a log; NaN for anything that is none, or not finite."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def read_map(described: Mapping[str, Any]) -> tuple[Place, dict[str, Values]]:
    """The place of a map, and one array of heads for each statistic; ValueError where it cannot be."""
    place = read_place(described)
    names = [name for name in described if name not in PLACE]
    statistics = {name: np.array(described[name], dtype=np.float64) for name in names}  # null becomes NaN
    shapes = {values.shape for values in statistics.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise ValueError("a statistic misses heads")
    return place, statistics


def read_place(described: Mapping[str, Any]) -> Place:
    """The place of a map; ValueError or KeyError where it cannot be."""
    stack, kind, layer = described["stack"], described["kind"], described["layer"]
    if not isinstance(stack, str) or kind not in ("self", "cross") or not is_count(layer):
        raise ValueError("not the place of a map")
    return Place(stack, kind, layer)


def parse_scalars(line: bytes) -> tuple[int, Any, list[float]] | None:
    """A line of scalars as a row: its step, its names, its values."""
    entry = _read_entry(line)
    if entry is None:
        return None
    step = entry.pop("step")
    values = [value if type(value) is float else as_number(value) for value in entry.values()]
    if math.inf in values or -math.inf in values:
        values = [as_number(value) for value in values]
    return step, tuple(entry), values


def parse_heads(line: bytes) -> tuple[int, Any, list[float]] | None:
    """A line of statistics as a row: its step; for each map its address, statistics and heads; its values."""
    entry = _read_entry(line)
    if entry is None:
        return None
    key, flat = [], []
    try:
        for described in entry["maps"]:
            place = read_place(described)
            statistics = {name: described[name] for name in described if name not in PLACE}
            heads = {len(values) for values in statistics.values()}
            if len(heads) > 1 or not all(type(values) is list for values in statistics.values()):
                return None
            key.append((place.address, tuple(statistics), next(iter(heads), 0)))
            for values in statistics.values():
                flat += values
        numbers = np.array(flat, dtype=np.float64)  # all at once: this is most of the time; null becomes NaN
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return entry["step"], tuple(key), np.where(np.isfinite(numbers), numbers, np.nan).tolist()


def _read_entry(line: bytes) -> dict[str, Any] | None:
    """An object with a step, or None."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and is_count(entry.get("step")) else None
