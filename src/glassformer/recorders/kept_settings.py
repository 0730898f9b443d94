"""How a text was generated, as a recording keeps it: settings and edits by name; and back.

In:   a request; or what a `Generation` holds.
Out:  mappings of plain values; or `GenerationSettings` and edits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import EDITS, Edit
from glassformer.recorders.outputs import ALTERNATIVES
from glassformer.recorders.request import Request
from glassformer.recording import Generation

Stages = tuple[tuple[int, GenerationSettings], ...]  # each from its first step on


def write_stages(model: LoadedModel, request: Request) -> tuple[Mapping[str, Any], ...]:
    """The settings of a generation; several where it continues one that was made in another way."""
    settings = request.decode or replace(model.generation, alternatives=ALTERNATIVES)
    stages = ((0, settings),) if request.forced is None else request.forced.stages
    return tuple({"step": first, **asdict(each)} for first, each in stages)


def read_stages(generation: Generation) -> Stages:
    """What `write_stages` wrote; of older recordings what their method says, where it says enough."""
    if generation.settings:
        return tuple(
            (each["step"], GenerationSettings.from_mapping({key: each[key] for key in each if key != "step"}))
            for each in generation.settings
        )
    if generation.method != "greedy" or not generation.steps:
        raise InputError("recorders.branch.unknown_settings", method=generation.method)
    alternatives = max(len(step.alternatives) for step in generation.steps)
    return ((0, GenerationSettings(max_new_tokens=len(generation.steps), alternatives=alternatives)),)


def write_edits(edits: Sequence[Edit]) -> tuple[Mapping[str, Any], ...]:
    """Edits by name and fields; none at all where one of them holds more than plain values."""
    names = {EDITS[name]: name for name in EDITS}
    written = [{"edit": names.get(type(edit)), **_read_fields(edit)} for edit in edits]
    known = all(each["edit"] is not None and all(map(_is_plain, each.values())) for each in written)
    return tuple(written) if known else ()


def read_edits(generation: Generation, count: int) -> tuple[Edit, ...]:
    """The edits of a recording, whose evidence names `count` of them; InputError where they are not known."""
    if len(generation.edits) != count:
        raise InputError("recorders.branch.unknown_edits", count=count)
    return tuple(_read_edit(each) for each in generation.edits)


def _read_edit(written: Mapping[str, Any]) -> Edit:
    values = dict(written)
    name = values.pop("edit", None)
    try:
        return EDITS[name](**values)
    except (TypeError, ConfigurationError) as error:
        raise InputError("recorders.branch.bad_edit", edit=repr(dict(written))[:200]) from error


def _read_fields(edit: Any) -> dict[str, Any]:
    return {each.name: getattr(edit, each.name) for each in fields(edit)}


def _is_plain(value: Any, depth: int = 2) -> bool:
    if isinstance(value, tuple):
        return depth > 0 and all(_is_plain(each, depth - 1) for each in value)
    return value is None or type(value) in (str, int, float, bool)
