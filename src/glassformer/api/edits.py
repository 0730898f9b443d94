"""Edits in requests: a schema for each, made from the fields of its class.

In:   `{"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 3, "head": 5}`.
Out:  an `Edit`. Its field `kind` is called `attention` here, where `kind` is the name of the edit.
"""

from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from pydantic import BeforeValidator, Field, create_model

from glassformer.recorders.edits import EDITS, Edit
from glassformer.recorders.edits.edit import Text
from glassformer.schema import RequestModel


class EditRequest(RequestModel):
    """A change of the model for one run."""

    kind: str

    def to_edit(self) -> Edit:
        """The edit; InputError where its values cannot be."""
        values = self.model_dump(exclude={"kind"})
        if "attention" in values:
            values["kind"] = values.pop("attention")
        return EDITS[self.kind](**values)

    def list_texts(self) -> list[Text]:
        """The other texts that the model reads for it."""
        single = (getattr(self, name, None) for name in ("source", "target"))
        return [*getattr(self, "reference", ()), *(text for text in single if text is not None)]


def _build_request(name: str) -> type[EditRequest]:
    """The schema of an edit; what may be None may be left out."""
    edit: Any = EDITS[name]
    schema: dict[str, Any] = {"kind": (Literal[name], ...)}
    for field in fields(edit):
        hint = get_type_hints(edit, include_extras=True)[field.name]
        default = None if NoneType in get_args(hint) else ...
        default = default if field.default is MISSING else field.default
        schema["attention" if field.name == "kind" else field.name] = (hint, default)
    return create_model(f"{edit.__name__}Edit", __base__=EditRequest, __doc__=edit.__doc__, **schema)


def _drop_nulls(value: Any) -> Any:
    """Version 0.1 had one schema for all edits: fields of the others were null in requests and kept cards."""
    if not isinstance(value, dict):
        return value
    return {name: each for name, each in value.items() if each is not None}


if TYPE_CHECKING:
    AnyEdit = EditRequest
else:
    AnyEdit = Annotated[
        reduce(or_, map(_build_request, EDITS)), Field(discriminator="kind"), BeforeValidator(_drop_nulls)
    ]
