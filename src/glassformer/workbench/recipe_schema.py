"""Everything that a recipe may say, as data: the server reads `recipe_schema.json` and needs no torch.

In:   the settings of tasks, networks, vocabularies, batches and training.
Out:  the file; `python -m glassformer.workbench.recipe_schema` writes it anew (`make types` does so, too).
"""

import dataclasses
import json
import math
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from glassformer.settings import Limits, Settings
from glassformer.workbench.recipe_fields import FILE

_TYPES = {int: "integer", float: "number", bool: "flag", str: "text", type(None): "null"}


def make_schema() -> dict[str, Any]:
    """By table: by kind, the fields; and the sizes of networks that are known by name."""
    from glassformer.config import ModelConfig, RecurrentConfig
    from glassformer.tasks.classification import MoreLabelled
    from glassformer.tasks.corpus import MoreText
    from glassformer.tasks.pairs import PairFile
    from glassformer.tasks.task import TASKS
    from glassformer.text.batches import BatchSettings
    from glassformer.text.vocabulary import VocabularySettings
    from glassformer.training.settings import MonitorSettings, ProbeSettings, TrainSettings
    from glassformer.weights.presets import PRESETS

    inner = {"classification": MoreLabelled, "regression": None, "tagging": None, "translation": PairFile}
    start = {"name": "start", "types": ["text", "null"], "default": None}
    preset = {"name": "preset", "types": ["choice", "null"], "choices": list(PRESETS), "default": None}
    path = {"name": "path", "types": ["text", "null"], "default": None}
    return {
        "task": {
            name: _describe(TASKS[name].settings_kind, inner.get(name, MoreText))
            for name in TASKS
            if TASKS[name].__module__.startswith("glassformer.")
        },
        "tokenizer": {"": [path, *_describe(VocabularySettings)]},
        "model": {
            "transformer": [start, preset, *_describe(ModelConfig)],
            "recurrent": [start, *_describe(RecurrentConfig)],
        },
        "batches": {"": _describe(BatchSettings)},
        "train": {"": _describe(TrainSettings)},
        "monitor": {"": _describe(MonitorSettings)},
        "probe": {"": _describe(ProbeSettings)},
        "presets": {name: dataclasses.asdict(config) for name, config in PRESETS.items()},
    }


def render() -> str:
    """The text of the file."""
    return json.dumps(make_schema(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _describe(kind: type[Settings], inner: type[Settings] | None = None) -> list[dict[str, Any]]:
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        described = {"name": field.name, **_describe_hint(hints[field.name], inner)}
        if field.default is not dataclasses.MISSING:
            described["default"] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            described["default"] = field.default_factory()
        else:
            described["required"] = True
        found.append(described)
    return found


def _describe_hint(hint: Any, inner: type[Settings] | None) -> dict[str, Any]:
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        described = _describe_hint(arguments[0], inner)
        for limits in (each for each in hint.__metadata__ if isinstance(each, Limits)):
            described |= {
                name: _shorten(limit) for name, limit in limits.given.items() if math.isfinite(limit)
            }
        return described
    if origin is Literal:
        return {"types": ["choice"], "choices": list(arguments)}
    if origin in (Union, UnionType):
        parts = [_describe_hint(each, inner) for each in arguments]
        types = [name for part in parts for name in part.pop("types")]
        return {"types": types, **{key: value for part in parts for key, value in part.items()}}
    if origin is list:
        return _describe_list(arguments[0], inner)
    return {"types": [_TYPES[origin]] if origin in _TYPES else []}  # none: no form can hold it


def _shorten(limit: float) -> float:
    """A whole number without a point: Python takes 1 and 1.0 in a type for the same, and keeps either."""
    return int(limit) if limit == int(limit) else limit


def _describe_list(item: Any, inner: type[Settings] | None) -> dict[str, Any]:
    if get_origin(item) is dict:
        return {"types": [] if inner is None else ["tables"], "fields": _describe(inner) if inner else []}
    if set(get_args(item)) == {int, str}:
        return {"types": ["columns"]}
    if set(get_args(item)) == {str, list[str]}:
        return {"types": ["pairs"]}
    described = _describe_hint(item, None)
    lists = {"integer": "integers", "number": "numbers", "text": "texts"}
    return {**described, "types": [lists[name] for name in described["types"] if name in lists]}


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
