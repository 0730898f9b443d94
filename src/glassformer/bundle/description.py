"""A recording as JSON, with names in place of its arrays; and back.

In:   a Recording and a function that gives an array a name; or such JSON and the arrays by name.
Out:  JSON; or a Recording that has checked itself.

An object is written as its type and fields, an array as {"array": name}, a mapping as {"pairs": [[key, value], …]},
a float that JSON lacks as {"float": "nan"}. Tokens that several maps share are written once and referred to.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

from glassformer.recording import (
    Alternative,
    AttentionMap,
    Evidence,
    Factors,
    Generation,
    HeadStatistics,
    Output,
    Pyramid,
    Recording,
    Step,
    Tokens,
)
from glassformer.recording.arrays import AnyArray

Place = Callable[[str, AnyArray], str]  # where an array was met and the array → its name in the file

_TYPES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Alternative, AttentionMap, Evidence, Factors, Generation, HeadStatistics, Output, Pyramid, Recording,
        Step, Tokens,
    )
}  # fmt: skip


def describe(recording: Recording, place: Place) -> dict[str, Any]:
    """Everything of a recording that is not an array; each array is handed to `place`."""
    tokens: dict[int, int] = {}  # the identity of Tokens → their number
    written: list[Any] = []

    def write(value: Any, where: str) -> Any:
        if isinstance(value, Tokens):
            if id(value) not in tokens:
                tokens[id(value)] = len(written)
                written.append(write_object(value, f"tokens/{len(written)}"))
            return {"tokens": tokens[id(value)]}
        if isinstance(value, np.ndarray):
            return {"array": place(where, value)}
        if is_dataclass(value):
            return write_object(value, where)
        if isinstance(value, Mapping):
            return {"pairs": [[key, write(each, f"{where}/{key}")] for key, each in value.items()]}
        if isinstance(value, tuple):
            return [write(each, f"{where}/{index}") for index, each in enumerate(value)]
        if isinstance(value, float) and not isfinite(value):
            return {"float": str(float(value))}
        return value

    def write_object(value: Any, where: str) -> dict[str, Any]:
        parts = {
            field.name: write(getattr(value, field.name), f"{where}/{field.name}") for field in fields(value)
        }
        return {"type": type(value).__name__, "fields": parts}

    content = write_object(recording, "content")
    return {"tokens": written, "content": content}


def restore(description: Any, arrays: Mapping[str, AnyArray]) -> Recording:
    """The recording that `describe` described. Raises ValueError, or what the types raise, on anything else."""
    tokens: list[Tokens] = []

    def read(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(read(each) for each in value)
        if not isinstance(value, dict):
            return value
        if set(value) == {"type", "fields"}:
            return read_object(value)
        if len(value) != 1:
            raise ValueError(f"an object has the keys {sorted(value)[:5]}")
        [(kind, content)] = value.items()
        if kind == "array":
            if content not in arrays:
                raise ValueError(f"the array {content!r} is missing")
            return arrays[content]
        if kind == "pairs":
            return {key: read(each) for key, each in content}
        if kind == "float":
            return float(content)
        if kind == "tokens" and type(content) is int and 0 <= content < len(tokens):
            return tokens[content]
        raise ValueError(f"an object is a {kind!r} of {str(content)[:40]!r}")

    def read_object(value: dict[str, Any]) -> Any:
        name, parts = value["type"], value["fields"]
        if not isinstance(name, str) or name not in _TYPES or not isinstance(parts, dict):
            raise ValueError(f"there is no type {name!r} in a recording")
        wanted = {field.name for field in fields(_TYPES[name])}
        if set(parts) != wanted:
            raise ValueError(f"{name} has wrong or missing fields: {sorted(set(parts) ^ wanted)[:5]}")
        return _TYPES[name](**{key: read(each) for key, each in parts.items()})

    if not isinstance(description, dict) or set(description) != {"tokens", "content"}:
        raise ValueError("it has no tokens and content")
    for each in description["tokens"]:
        found = read(each)
        if not isinstance(found, Tokens):
            raise ValueError(f"a {type(found).__name__} stands among the tokens")
        tokens.append(found)
    recording = read(description["content"])
    if not isinstance(recording, Recording):
        raise ValueError(f"it describes a {type(recording).__name__}")
    return recording
