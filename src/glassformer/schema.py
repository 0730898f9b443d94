"""Base classes of everything that crosses the HTTP interface."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ResponseModel(BaseModel):
    """What the server sends: frozen, with no field that its schema does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RequestModel(BaseModel):
    """What a client sends: an unknown field is an error, and so is a number that is not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Phrase(ResponseModel):
    """One text in both languages of the page."""

    en: str
    zh: str


# Two of a kind: a list in the schema, which more readers understand than a pair.
Pair = Annotated[tuple[int, ...], Field(min_length=2, max_length=2)]
Bounds = Annotated[tuple[float | None, ...], Field(min_length=2, max_length=2)]
