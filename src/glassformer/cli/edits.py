"""Edits and ways of decoding, as a person writes them in a terminal.

In:   `zero encoder self 2 5`, `mean encoder self 2 5 "It rained."`, `cut decoder self all all 7 3`,
      `scale 2 decoder`, `first 4`, `patch-head decoder self 3 2 "A dog ran" 0,-1`; `beam 4`.
Out:  edits; settings of a generation; or an error that names the part that is wrong.

An edit is written as its name and its fields in their order, see `Form`. A field that holds several texts is
the last one; texts with spaces are quoted. Numbers are separated by commas, or in a file of numpy (.npy).
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

from glassformer.errors import InputError
from glassformer.messages import Message, literal, message
from glassformer.registry import suggestion

if TYPE_CHECKING:
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.recorders.edits import Edit

ALL = "all"
METHODS = ("greedy", "beam", "sample")
LONGEST_NUMBER = 18  # digits
ALTERNATIVES = 5  # recorded for each token that is generated


class Form(NamedTuple):
    """How an edit is written: `scale FACTOR [STACK|all] [KIND|all] [LAYER|all]`."""

    name: str
    edit: Any  # its class
    given: Mapping[str, Any]  # fields that the name sets
    parts: dict[str, str]  # the other fields, each as the form shows it
    repeated: str | None = None  # the last of them, where it holds several texts
    texts: frozenset[str] = frozenset()  # those that hold one text; ids cannot be written

    def __str__(self) -> str:
        return " ".join((self.name, *self.parts.values()))


def list_forms() -> dict[str, Form]:
    """The forms of all edits, by the word that they begin with."""
    from glassformer.recorders.edits import EDITS

    return {
        name: _describe_form(name, EDITS[edit], given)
        for edit in EDITS
        for name, given in (EDITS[edit].spellings or {edit.replace("_", "-"): {}}).items()
    }


def _describe_form(name: str, edit: Any, given: Mapping[str, Any]) -> Form:
    hints, parts, repeated = get_type_hints(edit), {}, None
    texts = frozenset(name for name, hint in hints.items() if {str, tuple[int, ...]} <= {*get_args(hint)})
    for field in fields(edit):
        if field.name not in given:
            part = field.name.upper() + (f"|{ALL}" if NoneType in get_args(hints[field.name]) else "")
            part = f"'{field.name.upper()}'" if field.name in texts else part
            last = [each.name for each in fields(edit) if each.name not in given][-1]
            if get_origin(hints[field.name]) is tuple and field.name == last:
                part, repeated = f"'{part}' …", field.name
            parts[field.name] = part if field.default is MISSING else f"[{part}]"
    return Form(name, edit, given, parts, repeated, texts)


def read_edit(text: str) -> "Edit":
    """One edit, such as `zero encoder self 2 5`."""
    from pydantic import TypeAdapter, ValidationError

    name, *parts = _split(text) or [""]
    forms = list_forms()
    if name not in forms:
        raise InputError("cli.edits.unknown", verb=name, suggestion=suggestion(name, forms))
    form = forms[name]
    if len(parts) > len(form.parts) and form.repeated is None:
        raise InputError("cli.edits.too_long", extra=parts[len(form.parts)], form=str(form))
    written: dict[str, Any] = dict(zip(form.parts, parts, strict=False))
    values: dict[str, Any] = {
        field: None if part == ALL and field not in form.texts else part for field, part in written.items()
    }
    if form.repeated in written:
        values[form.repeated] = parts[len(form.parts) - 1 :]
    adapter: TypeAdapter[Edit] = TypeAdapter(form.edit)
    schemas = {name: _list_values(each) for name, each in adapter.json_schema()["properties"].items()}
    for each, part in values.items():
        if isinstance(part, str) and _holds_numbers(schemas[each]):
            values[each] = _read_numbers(part)
    field = next((name for name, part in values.items() if not _may_be(part, schemas[name])), None)
    try:
        if field is None:
            return adapter.validate_python({**form.given, **values})
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
    if field not in written:
        edit = " ".join((name, *parts))
        raise InputError("cli.edits.too_short", edit=edit, name=field.upper(), form=str(form))
    expected = tuple(map(_describe_values, schemas[field]))
    raise InputError(
        "cli.edits.wrong_part", part=written[field], name=field.upper(), expected=expected, form=str(form)
    )


def _split(text: str) -> list[str]:
    """Parts between spaces; a quoted part may hold spaces."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()  # a quote that is never closed: an apostrophe


def _list_values(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a field may be: the alternatives of its JSON schema."""
    return list(schema.get("anyOf", [schema]))


def _holds_numbers(schemas: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a field is several numbers; a text, which may also be given as ids, is none."""
    kinds = {each.get("type") for each in schemas}
    return "array" in kinds and "string" not in kinds


def _read_numbers(part: str) -> Any:
    """Numbers between commas, or those of a file."""
    if not part.endswith(".npy"):
        return part.split(",")
    import numpy as np

    try:
        return np.load(part, allow_pickle=False).tolist()
    except (OSError, ValueError) as error:
        raise InputError("cli.edits.no_numbers", path=part, reason=str(error)) from error


def _may_be(part: Any, schemas: Sequence[Mapping[str, Any]]) -> bool:
    """A count is written in digits alone: 1.0, +2 and 1_000 are none."""
    counts = any(each.get("type") == "integer" for each in schemas)  # not the numbers of a list
    return not counts or part is None or (part.isascii() and part.isdecimal())


def _describe_values(schema: Mapping[str, Any]) -> Message:
    """What a part may be, from its JSON schema."""
    if "enum" in schema:
        return message("cli.edits.one_of", names=schema["enum"])
    codes = {"integer": "cli.edits.count", "number": "cli.edits.number", "array": "cli.edits.numbers"}
    return literal(ALL) if schema["type"] == "null" else message(codes.get(schema["type"], "cli.edits.text"))


def read_decoding(parts: Sequence[str], settings: "GenerationSettings") -> "GenerationSettings":
    """`greedy`, `beam N` or `sample [SEED]`, in place of the model's own settings."""
    method, *numbers = parts
    if method not in METHODS:
        raise InputError("cli.edits.unknown_method", method=method, suggestion=suggestion(method, METHODS))
    for part in numbers:
        if not part.isdecimal() or len(part) > LONGEST_NUMBER:
            form = "sample 1" if method == "sample" else "beam 4"
            raise InputError("cli.edits.not_a_count", part=part, method=method, form=form)
    settings = replace(settings, alternatives=ALTERNATIVES, n_best=1)
    match method, [int(part) for part in numbers]:
        case "greedy", []:
            return replace(settings, beams=1, sample=False)
        case "beam", [count]:
            return replace(settings, beams=count, sample=False)
        case "sample", [] | [_] as seed:
            return replace(settings, beams=1, sample=True, seed=seed[0] if seed else None)
    raise InputError("cli.edits.wrong_method", text=" ".join(parts))
