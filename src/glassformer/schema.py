"""Base classes of everything that crosses the HTTP interface."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, PlainSerializer

from glassformer.messages import Message
from glassformer.place import Kind, Place

LONGEST_TEXT = 20_000  # characters of a template or a parameter of a message; longer ones are cut
LONGEST_LIST = 1000  # items of a list in a message; longer ones are cut


class ResponseModel(BaseModel):
    """What the server sends: frozen, every field of its schema and no other; may be read from attributes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", from_attributes=True, json_schema_serialization_defaults_required=True
    )


class RequestModel(BaseModel):
    """What a client sends: an unknown field is an error, and so is a number that is not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


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
        parameters = {name: _shorten(value) for name, value in message.parameters.items()}
        default = None if message.default is None else message.default[:LONGEST_TEXT]
        return cls(code=message.code[:200], parameters=parameters, default=default)


def _shorten(value: Any) -> Any:
    """A parameter within the limits; JSON has no number that is not finite."""
    if isinstance(value, Message):
        return MessageModel.of(value)
    if isinstance(value, tuple):
        return tuple(_shorten(each) for each in value[:LONGEST_LIST])
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


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
