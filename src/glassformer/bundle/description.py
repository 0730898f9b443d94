"""A recording as JSON, with names in place of its arrays; and back.

In:   a Recording and a function that gives an array a name; or such JSON and the arrays by name.
Out:  JSON; or a Recording that has checked itself.

An object is written as its type and fields, an array as {"array": name}, a mapping as {"pairs": …}, a float
that JSON lacks as {"float": "nan"}, a message as {"message": {"code": …, "parameters": …}}. Tokens, which
maps share, are written once and referred to.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

from glassformer import recording as recording_types
from glassformer.bundle.layout import MEDIA_VERSION, VERSION
from glassformer.errors import BundleError
from glassformer.messages import Message
from glassformer.place import Place
from glassformer.recording import DifferenceMap, Recording, Tokens
from glassformer.recording.arrays import AnyArray
from glassformer.recording.tokens import MEDIA

StoreArray = Callable[[str, AnyArray], str]  # where an array was met and the array → its name in the file

_TYPES: dict[str, type[Any]] = {
    name: getattr(recording_types, name)
    for name in (
        "Alternative", "AttentionMap", "Branch", "Evidence", "Factors", "Generation", "HeadStatistics",
        "Output", "Picture", "Pyramid", "Recording", "Sound", "SpokenWord", "Step", "TargetScores", "Tokens",
    )
}  # fmt: skip

_FIELDS = {name: [each.name for each in fields(kind)] for name, kind in _TYPES.items()}
_PLACE = ["stack", "layer", "kind", "step"]  # the place of a map is written in its parts
_FIELDS["AttentionMap"] = [*_PLACE, *_FIELDS["AttentionMap"][1:]]

# Fields that the first bundles lack; not written where they have their default.
_LATER: dict[str, dict[str, Any]] = {
    "Recording": {"architecture": None, "trace": {}, "branch": None},
    "Generation": {"forced": (), "settings": (), "edits": ()},
    "HeadStatistics": {"content": "weights"},
    "Tokens": {"picture": None, "sound": None},
    "Sound": {"words": ()},
    "Output": {"logits": None, "targets": None, "numbers": ()},
}


def describe(recording: Recording, place: StoreArray) -> dict[str, Any]:
    """Everything of a recording that is not an array; each array is handed to `place`."""
    writer = _Writer(place)
    content = writer.write(recording, "content")
    return {"tokens": writer.tokens, "content": content}


def find_version(description: Mapping[str, Any]) -> str:
    """The version of a file with this description, for older programs to refuse what they cannot show."""
    shown = any(each in tokens["fields"] for tokens in description["tokens"] for each in MEDIA)
    return MEDIA_VERSION if shown else VERSION


def restore(description: Any, arrays: Mapping[str, AnyArray]) -> Recording:
    """The recording that `describe` described; BundleError, or what the types raise, on anything else."""
    from glassformer.bundle.schema import check_description  # needs pydantic, which writing does not

    check_description(description)
    reader = _Reader(arrays)
    reader.tokens += [reader.read(each) for each in description["tokens"]]
    recording: Recording = reader.read(description["content"])
    return recording


class _Writer:
    def __init__(self, place: StoreArray) -> None:
        self.place = place
        self.tokens: list[Any] = []
        self._numbers: dict[int, int] = {}  # the identity of Tokens → their number

    def write(self, value: Any, where: str) -> Any:
        if isinstance(value, np.ndarray):
            return {"array": self.place(where, value)}
        if isinstance(value, Message):
            return {"message": value.to_json()}
        if isinstance(value, Mapping):
            return {"pairs": [[key, self.write(each, f"{where}/{key}")] for key, each in value.items()]}
        if isinstance(value, tuple):
            return [self.write(each, f"{where}/{index}") for index, each in enumerate(value)]
        if is_dataclass(value):
            return (
                self._write_tokens(value) if isinstance(value, Tokens) else self._write_fields(value, where)
            )
        return {"float": str(value)} if isinstance(value, float) and not isfinite(value) else value

    def _write_fields(self, value: Any, where: str) -> dict[str, Any]:
        name = type(value).__name__
        if isinstance(value, DifferenceMap):
            raise BundleError("bundle.description.long_difference", place=value.place)
        later = _LATER.get(name, {})
        parts = {
            each: self.write(getattr(value, each), f"{where}/{each}")
            for each in _FIELDS[name]
            if each not in later or not _is_default(getattr(value, each), later[each])
        }
        return {"type": name, "fields": parts}

    def _write_tokens(self, tokens: Tokens) -> dict[str, Any]:
        if id(tokens) not in self._numbers:
            self._numbers[id(tokens)] = number = len(self.tokens)
            self.tokens.append(self._write_fields(tokens, f"tokens/{number}"))
        return {"tokens": self._numbers[id(tokens)]}


def _is_default(value: Any, default: Any) -> bool:
    return value is None if default is None else bool(value == default)


class _Reader:
    """Builds objects of a description that follows the schema."""

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        self.arrays = arrays
        self.tokens: list[Tokens] = []

    def read(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self.read(each) for each in value)
        return self._read_tagged(value) if isinstance(value, dict) else value

    def _read_tagged(self, value: Mapping[str, Any]) -> Any:
        match value:
            case {"type": name, "fields": parts}:
                return self._read_object(name, parts)
            case {"array": name}:
                return self._read_array(name)
            case {"pairs": pairs}:
                return {key: self.read(each) for key, each in pairs}
            case {"message": text}:
                return Message.from_json(text)
            case {"tokens": number}:
                return self._read_tokens(number)
        return float(value["float"])

    def _read_object(self, name: str, parts: Mapping[str, Any]) -> Any:
        found = {key: self.read(each) for key, each in parts.items()}
        if name == "AttentionMap":
            found["place"] = Place(**{each: found.pop(each) for each in _PLACE})
        return _TYPES[name](**found)

    def _read_array(self, name: str) -> AnyArray:
        if name not in self.arrays:
            raise BundleError("bundle.description.no_array", name=name)
        return self.arrays[name]

    def _read_tokens(self, number: int) -> Tokens:
        if number >= len(self.tokens):
            raise BundleError("bundle.description.no_tokens", number=number)
        return self.tokens[number]
