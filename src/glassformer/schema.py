"""Base classes of everything that crosses the HTTP interface."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Union

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    InstanceOf,
    PlainSerializer,
    model_validator,
)
from pydantic_core import CoreSchema

from glassformer.messages import Message, message
from glassformer.place import Kind, Place

LONGEST_TEXT = 20_000  # characters of a template or a parameter of a message; longer ones are cut
LONGEST_LIST = 1000  # items of a list in a message; longer ones are cut
_MOST_FAULTS = 3  # that the error of a request lists


def replace_surrogates(text: str) -> str:
    """The text as UTF-8 can carry it: an unpaired surrogate becomes �."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class ResponseModel(BaseModel):
    """What the server sends: frozen, every field of its schema and no other; may be read from attributes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", from_attributes=True, json_schema_serialization_defaults_required=True
    )


def _stop_at_first_fault(schema: Any) -> None:
    """Let every list in a schema of pydantic end at its first item that is wrong."""
    if isinstance(schema, dict):
        if schema.get("type") in ("list", "tuple"):
            schema["fail_fast"] = True
        schema = list(schema.values())
    if isinstance(schema, list | tuple):
        for each in schema:
            _stop_at_first_fault(each)


class RequestModel(BaseModel):
    """What a client sends: an unknown field is an error, and so is a number that is not finite.

    Only the first faults are looked for: describing a million of them would keep the server from all else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_most_unknown(cls, value: Any) -> Any:
        if not isinstance(value, dict) or len(value) <= len(cls.model_fields):
            return value
        known = {name: value[name] for name in cls.model_fields if name in value}
        unknown = islice((name for name in value if name not in known), _MOST_FAULTS)
        return known | {name: value[name] for name in unknown}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _stop_at_first_fault(schema)
        return schema


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Single = Union[bool, int, float, Text, None, "MessageModel"]


class MessageModel(ResponseModel):
    """A text for people as a code with parameters; the reader formats it in its own language."""

    code: Annotated[str, Field(max_length=200)]
    parameters: dict[str, Single | Annotated[tuple[Single, ...], Field(max_length=LONGEST_LIST)]]
    default: Text | None = None  # the template where no catalogue has the code: plug-ins, literal texts

    @classmethod
    def of(cls, message: Message) -> "MessageModel":
        """The message as it is sent."""
        given = list(message.parameters.items())[:LONGEST_LIST]
        parameters = {replace_surrogates(name[:LONGEST_TEXT]): _shorten(value) for name, value in given}
        default = None if message.default is None else replace_surrogates(message.default[:LONGEST_TEXT])
        return cls(code=replace_surrogates(message.code[:200]), parameters=parameters, default=default)


def _shorten(value: Any) -> Any:
    """A parameter within the limits; JSON has no number that is not finite."""
    if isinstance(value, Message):
        return MessageModel.of(value)
    if isinstance(value, tuple):
        return tuple(
            _shorten(str(each) if isinstance(each, tuple) else each) for each in value[:LONGEST_LIST]
        )
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return replace_surrogates(value[:LONGEST_TEXT]) if isinstance(value, str) else value


class PlaceModel(ResponseModel):
    """Where attention happens; `address` is its form in URLs."""

    stack: str
    kind: Kind
    layer: int
    step: int | None
    address: str

    @classmethod
    def of(cls, place: Place) -> "PlaceModel":
        """The place as it is sent."""
        return cls(**place._asdict(), address=place.address)


def _read_message(value: Any) -> Any:
    try:
        return Message.from_json(value) if isinstance(value, Mapping) else value
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a message: {error}") from error


def _drop_infinite(value: Any) -> Any:
    return value if value is None or math.isfinite(value) else None


# In Python a Message, in JSON its model.
MessageField = Annotated[
    InstanceOf[Message], BeforeValidator(_read_message), PlainSerializer(MessageModel.of)
]
# JSON has no infinity and no NaN: they become None.
Finite = Annotated[float | None, BeforeValidator(_drop_infinite)]
# Two of a kind: in the schema a list of two, which more tools understand than a tuple.
Pair = Annotated[tuple[int, ...], Field(min_length=2, max_length=2)]
Bounds = Annotated[tuple[float | None, ...], Field(min_length=2, max_length=2)]


# What pydantic calls a fault, and the name of its text in the catalogues; its limit, where it has one.
_FAULTS = {
    "missing": "missing",
    "extra_forbidden": "unknown",
    "string_type": "text",
    "string_unicode": "unicode",
    "int_type": "whole",
    "int_parsing": "whole",
    "int_parsing_size": "whole",
    "int_from_float": "whole",
    "float_type": "number",
    "float_parsing": "number",
    "finite_number": "finite",
    "bool_type": "boolean",
    "bool_parsing": "boolean",
    "list_type": "list",
    "tuple_type": "list",
    "dict_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
    "literal_error": "choice",
    "enum": "choice",
    "greater_than": "above",
    "greater_than_equal": "least",
    "less_than": "below",
    "less_than_equal": "most",
    "string_too_long": "characters",
    "string_too_short": "empty",
    "too_long": "items",
    "too_short": "few",
    "json_invalid": "json",
    "inconsistent": "inconsistent",
}
_LIMITS = ("gt", "ge", "lt", "le", "max_length", "min_length", "expected")


def describe_faults(faults: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """The first errors of pydantic as messages: which field, and what was expected there."""
    described = []
    for each in faults[:_MOST_FAULTS]:
        field = ".".join(str(part)[:80] for part in each["loc"]) or "body"
        context = each.get("ctx", {})
        limit = next((context[name] for name in _LIMITS if name in context), None)
        limit = str(limit)[:200] if not isinstance(limit, int | float) else limit
        fault = message(f"schema.faults.{_FAULTS.get(each['type'], 'other')}", limit=limit)
        described.append(message("schema.field", field=field[-200:], fault=fault))
    return tuple(described)
