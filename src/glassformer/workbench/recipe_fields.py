"""Which settings a recipe may have over HTTP, and whether values fit them. Without torch.

In:   recipe_schema.json; tables of a recipe from anybody.
Out:  `RecipeSchema` for forms; a fault for every value that does not fit.

A text in a recipe may be a path, a model, a command. So each setting that is a text is named below with its
use; one that is not (because it is new) cannot be set over HTTP. Neither can anything that is no table of the
schema: plug-ins, callbacks.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, reduce
from math import isfinite
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal

from glassformer.api.training import Fault, RecipeField, RecipeSchema, RecipeTable, Use
from glassformer.messages import Message, message
from glassformer.messages.message import LONGEST_QUOTE
from glassformer.registry import suggestion
from glassformer.settings import Limits, describe_type, fits

FILE = Path(__file__).with_name("recipe_schema.json")  # written by recipe_schema.py
_USES: dict[str, dict[str, Use]] = {
    "task": {"path": "data", "archive": "data", "folder": "folder"},
    "task.also": {"path": "data"},
    "task.files": {"path": "data", "second_path": "data"},
    "tokenizer": {"path": "model"},
    "model": {"start": "model"},
    "train": {"evaluate_on": "split", "device": "device"},
    "monitor": {"on_alarm": "action"},
}
_PLAIN = {  # texts that name no file, model or command: columns, labels, languages, a score
    "task": (
        "label",
        "text",
        "second_text",
        "column",
        "labels",
        "word",
        "tag",
        "values",
        "file",
        "split_by",
        "words",
        "languages",
        "speaker",
    ),
    "task.also": (
        "label",
        "text",
        "column",
    ),
    "task.files": (
        "languages",
        "columns",
    ),
    "tokenizer": ("han_also",),
    "train": ("best_by",),
    "probe": ("texts",),
}
_MAIN = {
    "task": (
        "folder",
        "path",
        "files",
        "context",
    ),
    "tokenizer": (
        "kind",
        "size",
    ),
    "model": (
        "start",
        "layers",
        "width",
        "heads",
    ),
    "batches": ("tokens",),
    "train": (
        "steps",
        "rate",
        "schedule",
        "warmup",
        "seed",
    ),
}
_MOST: dict[str, dict[str, float]] = {  # what one request may ask for; the sum is estimated as well
    "batches": {"prefetch": 64, "rows": 100_000, "tokens": 1 << 20},
    "model": {
        "classes": 100_000,
        "embedding_width": 16_384,
        "feed_forward": 65_536,
        "layers": 200,
        "decoder_layers": 200,
        "max_length": 65_536,
        "segments": 100,
        "vocabulary_size": 2_000_000,
        "width": 16_384,
        "picture_size": 4_096,
        "patch_size": 4_096,
        "sample_rate": 384_000,
        "hop": 384_000,
        "mel_bins": 1_024,
        "sound_length": 65_536,
    },
    "monitor": {"texts": 256, "tokens": 2_048},
    "task.also": {"repeat": 1_000},
    "task": {"context": 32_768, "max_length": 32_768, "repeat": 1_000, "scored": 10_000},
    "task.files": {"repeat": 1_000},
    "tokenizer": {"size": 500_000},
    "train": {"accumulate": 1_024, "average": 100, "lora_rank": 1_024, "minutes": 60 * 24 * 30},
    "probe": {"count": 32, "tokens": 512, "megabytes": 4096},
}
USES = {f"{table}.{name}": use for table, names in _USES.items() for name, use in names.items()}
PLAIN = {f"{table}.{name}" for table, names in _PLAIN.items() for name in names}
MAIN = {f"{table}.{name}" for table, names in _MAIN.items() for name in names}
MOST = {f"{table}.{name}": most for table, names in _MOST.items() for name, most in names.items()}
FORK = ("batches", "train", "monitor", "probe")  # tables that a fork may change
ACTIONS = ("continue", "stop")
LONGEST_TEXT, MOST_ITEMS = 2_000, 1_000
_PYTHON: dict[str, Any] = {
    "integer": int,
    "number": float,
    "flag": bool,
    "text": str,
    "null": None,
    "texts": list[str],
    "pairs": list[str | list[str]],
    "integers": list[int],
    "numbers": list[float],
    "columns": list[int | str],
    "tables": list[dict[str, Any]],
}
_CHOSEN_BY = {"task": "name", "model": "kind"}


@cache
def read_file() -> dict[str, Any]:
    """The generated file."""
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def read_schema(steps: int) -> RecipeSchema:
    """Everything that a recipe may say, where a run may have so many steps."""
    tables = []
    for name, kinds in read_file().items():
        if name == "presets":
            continue
        fields = {
            kind: tuple(_make_fields(name, each, {**MOST, "train.steps": steps}))
            for kind, each in kinds.items()
        }
        default = "transformer" if name == "model" else ""
        chosen_by = _CHOSEN_BY.get(name)
        tables.append(
            RecipeTable(
                name=name,
                help=message(f"recipe.tables.{name}"),
                kinds=fields,
                chosen_by=chosen_by,
                default=default,
            )
        )
    return RecipeSchema(tables=tuple(tables), fork=FORK)


def _make_fields(
    prefix: str, fields: list[dict[str, Any]], most: Mapping[str, float]
) -> Iterator[RecipeField]:
    for field in fields:
        name = f"{prefix}.{field['name']}"
        use = USES.get(name, "plain")
        if is_hidden(name, field["types"]):
            continue
        changed: dict[str, Any] = {"use": use, "main": name in MAIN}
        if "choice" in field["types"]:  # other names are those of plug-ins
            changed["types"] = [each for each in field["types"] if each != "text"]
        if name in most:
            changed["most"] = min(most[name], field.get("most", most[name]))
        if use == "action":
            changed |= {"types": ["choice"], "choices": ACTIONS}
        if field["name"] == "vocabulary_size":
            changed["required"] = False  # the task decides it
        if "fields" in field:
            changed["fields"] = tuple(_make_fields(name, field["fields"], most))
        changed["help"] = message(f"recipe.{prefix.replace('.', '_')}.{field['name']}")
        yield RecipeField(**{**field, **changed})


def is_hidden(name: str, types: Collection[str]) -> bool:
    """Whether a setting cannot be set over HTTP: it is of no type that is known, or a text of unknown use."""
    texts = {"text", "texts", "pairs", "columns"} & set(types) if "choice" not in types else set()
    return set(types) <= {"null"} or (bool(texts) and name not in USES and name not in PLAIN)


def drop_hidden(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a run without hidden settings that are as they are by default; others will be refused."""
    kept = dict(tables)
    for name, kinds in read_file().items():
        values = kept.get(name)
        if name == "presets" or not isinstance(values, Mapping):
            continue
        hidden = {
            each["name"]: each.get("default")
            for fields in kinds.values()
            for each in fields
            if is_hidden(f"{name}.{each['name']}", each["types"])
        }
        kept[name] = {
            key: value for key, value in values.items() if key not in hidden or value != hidden[key]
        }
    return kept


def find_fields(table: RecipeTable, values: Mapping[str, Any]) -> tuple[RecipeField, ...] | None:
    """The fields of a table, given what it says; None where its kind is unknown."""
    if table.chosen_by is None:
        return table.kinds[""]
    kind = values.get(table.chosen_by, table.default)
    return table.kinds.get(kind) if isinstance(kind, str) else None


def find_faults(schema: RecipeSchema, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Every table, name and value that a recipe must not have, and each that it lacks."""
    known = {table.name: table for table in schema.tables}
    for name, values in tables.items():
        if name not in known:
            yield _fault(name, message("recipe.faults.table", suggestion=suggestion(name, known)))
        elif not isinstance(values, Mapping):
            yield _fault(name, message("recipe.faults.not_a_table"))
    for table in schema.tables:
        values = tables.get(table.name, {})
        if not isinstance(values, Mapping):
            continue
        fields = find_fields(table, values)
        if fields is None:
            wanted = message("settings.types.choice", choices=tuple(table.kinds))
            yield _fault(f"{table.name}.{table.chosen_by}", message("recipe.faults.value", wanted=wanted))
            continue
        rest = {name: value for name, value in values.items() if name != table.chosen_by}
        yield from _find_faults(table.name, fields, rest)


def _find_faults(prefix: str, fields: tuple[RecipeField, ...], values: Mapping[str, Any]) -> Iterator[Fault]:
    known = {field.name: field for field in fields}
    for name, value in values.items():
        place = f"{prefix}.{name}"
        if name not in known:
            yield _fault(place, message("recipe.faults.name", suggestion=suggestion(name, known)))
        elif (problem := _find_problem(known[name], value)) is not None:
            yield _fault(place, problem)
        elif "tables" in known[name].types:
            for number, inner in enumerate(value):
                yield from _find_faults(f"{place}.{number}", known[name].fields, inner)
    for field in fields:
        if field.required and field.name not in values:
            yield _fault(f"{prefix}.{field.name}", message("recipe.faults.missing"))


def _find_problem(field: RecipeField, value: Any) -> Message | None:
    hint = make_hint(field)
    items = list(_flatten(value))
    if not fits(value, hint) or not all(isfinite(each) for each in items if isinstance(each, float)):
        return message("recipe.faults.value", wanted=describe_type(hint))
    texts = [each for each in items if isinstance(each, str)]
    if len(items) > MOST_ITEMS or any(len(text) > LONGEST_TEXT for text in texts):
        return message("recipe.faults.long", characters=LONGEST_TEXT, items=MOST_ITEMS)
    return None if all(map(is_printable, texts)) else message("recipe.faults.characters")


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for each in value:
            yield from _flatten(each)
    else:
        yield value


def is_printable(text: str) -> bool:
    """Whether a text has neither control characters nor halves of characters."""
    return re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", text) is None


def make_hint(field: RecipeField) -> Any:
    """The type of a setting as Python has it."""
    limits = Limits(field.least, field.above, field.most, field.below)
    parts: list[Any] = []
    for name in field.types:
        if name == "choice":
            parts.append(Literal[field.choices])
        elif name in ("integer", "number") and limits.given:
            parts.append(Annotated[_PYTHON[name], limits])
        elif name == "integers":
            parts.append(list[Annotated[int, limits]])
        elif name == "numbers":
            parts.append(list[Annotated[float, limits]])
        else:
            parts.append(_PYTHON[name])
    return reduce(or_, parts) if len(parts) > 1 else parts[0]


def _fault(field: str, problem: Message) -> Fault:
    return Fault(field=field[:LONGEST_QUOTE], message=problem)
