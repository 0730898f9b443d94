"""Changes of a recipe's settings: those that a person writes, and which of them a run accepts later.

In:   tables of a recipe; "train.rate=3e-4" or {"train.rate": 3e-4}; the settings that a run was started with.
Out:  changed tables; an error that names each setting that must stay.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from glassformer.errors import CheckpointError, ConfigurationError, TrainingError
from glassformer.messages import message
from glassformer.runlog import RECIPE
from glassformer.settings import parse_toml, read_settings, read_toml
from glassformer.tasks.task import read_task
from glassformer.text.files import read_json
from glassformer.text.vocabulary import VocabularySettings
from glassformer.training.commands import fork_command
from glassformer.training.initial_network import KINDS
from glassformer.training.plugins import DIGESTS, FILES, PLUGINS, check_unchanged, find_plugins

SETTINGS = "settings.json"  # of a run: every value by its full name, "train.steps"
OPEN_ENDED = ("inverse-sqrt", "constant")  # schedules that do not depend on how many steps there are
NO_LOSS_DEPENDS_ON = (  # these may differ when a run is resumed; all of [monitor] and [probe] may, too
    "batches.prefetch",
    "task.scored",
    "train.average",
    "train.best_by",
    "train.compile",
    "train.device",
    "train.evaluate_every",
    "train.evaluate_limit",
    "train.evaluate_on",
    "train.log_every",
    "train.parallel",
    "train.patience",
    "train.recompute",
    "train.save_every",
    "train.scores",
)
# Trials of a search may differ in these, beside [monitor] and [probe]: no score depends on them, either.
NO_SCORE_DEPENDS_ON = (
    "batches.prefetch",
    "tokenizer.path",  # of a search: its own
    "train.compile",
    "train.device",
    "train.log_every",
    "train.parallel",
    "train.recompute",
    "train.save_every",
    FILES,  # their digests are compared
)
WATCHING = ("monitor.", "probe.")
# Where data and models are: what is there is compared by its content.
_PLACES = {"task": ("folder", "path", "files", "also"), "tokenizer": ("path",), "model": ("start",)}
PLACES = tuple(f"{table}.{key}" for table, keys in _PLACES.items() for key in keys)
FIXED = ("model.", "tokenizer.", "task.")  # settings that neither a resumed run nor a fork can change
BATCH_ORDER = ("batches.", "train.seed", "train.accumulate")  # settings that decide which batches follow

Overrides = Sequence[str] | Mapping[str, Any]  # {"train.rate": 3e-4}, or ["train.rate=3e-4"]
Tables = dict[str, Any]


def read_overrides(overrides: Overrides) -> Iterator[tuple[str, Any]]:
    """Names and values: of a mapping, or of texts "table.key=value", whose value is TOML or else text."""
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals:
            raise ConfigurationError("training.recipe.bad_override", override=override)
        try:
            yield name.strip(), parse_toml(f"value = {value}")["value"]
        except ValueError:
            yield name.strip(), value


def override(tables: Tables, name: str, value: Any) -> None:
    """Change one value of some tables."""
    table, dot, key = name.partition(".")
    if not dot or not key:
        raise ConfigurationError("training.recipe.bad_override", override=f"{name}={value}")
    if "." in key:
        inner, text = key.partition(".")[0], f"{name}={value}"
        raise ConfigurationError("training.recipe.nested_override", override=text, table=table, inner=inner)
    content = tables.setdefault(table, {})
    if isinstance(content, dict):  # other values are refused when all tables are checked
        content[key] = value


def read_saved(run: Path) -> dict[str, Any]:
    """The settings that a run has, by their full names."""
    try:
        return read_json(run / SETTINGS)
    except CheckpointError as error:
        raise TrainingError(
            "training.recipe.settings_damaged", problem=error.message, last=run / "last"
        ) from error


def change_saved(run: Path, recipe: Path | None, overrides: Overrides) -> Tables:
    """The tables of a run, changed as a person asks: by what has changed in its recipe, and by overrides."""
    tables: Tables = {}
    for name, value in read_saved(run).items():
        override(tables, name, value)
    if recipe is not None:
        before, now = _flatten(_read_copy(run)), _flatten(read_toml(recipe))
        for name in before.keys() | now.keys():
            if name not in now:
                table, _, key = name.partition(".")
                tables.get(table, {}).pop(key, None)
            elif name not in before or before[name] != now[name]:
                override(tables, name, now[name])
                if name == FILES:
                    override(tables, name, find_plugins(now[name], recipe.parent))
    for name, value in read_overrides(overrides):
        override(tables, name, value)
    return tables


def check_resumable(
    run: Path, settings: Mapping[str, Any], recipe: Path | None = None, overrides: Overrides = ()
) -> None:
    """Refuse to resume a run with settings that would change its losses; `recipe`, `overrides`: how asked."""
    changed = find_changes(read_saved(run), settings)
    if DIGESTS in changed:
        check_unchanged(run, *(each or {} for each in changed[DIGESTS]))
    allowed = (*NO_LOSS_DEPENDS_ON, *PLACES, FILES)
    if settings["train.schedule"] in OPEN_ENDED:
        allowed += ("train.steps", "train.minutes")
    refused = [name for name in changed if name not in allowed and not name.startswith(WATCHING)]
    if not refused:
        return
    changes = [_describe(name, *changed[name]) for name in refused]
    if any(name.startswith(FIXED) for name in refused):
        raise TrainingError("training.recipe.changed_model", folder=run, changes=changes)
    command = fork_command(run, overrides, recipe=recipe)
    raise TrainingError("training.recipe.changed", folder=run, changes=changes, command=command)


def check_forkable(run: Path, settings: Mapping[str, Any]) -> bool:
    """Refuse a fork that is another model or task; whether other batches follow than in the run."""
    changed = find_changes(read_saved(run), settings)
    refused = [
        name for name in changed if name.startswith(FIXED) and name not in (*PLACES, *NO_LOSS_DEPENDS_ON)
    ]
    if refused:
        changes = [_describe(name, *changed[name]) for name in refused]
        raise TrainingError("training.fork.changed", folder=run, changes=changes)
    order = [name for name in changed if name.startswith(BATCH_ORDER) and name != "batches.prefetch"]
    return bool(order)


def find_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """By name, in order: the settings that differ, as they were and as they are.

    A default that is written out is no difference.
    """
    plain = json.loads(json.dumps(dict(now)))  # tuples as lists, as in the file
    before, plain = find_defaults(before) | dict(before), find_defaults(plain) | plain
    names = sorted({*before, *plain})
    return {
        name: (before.get(name), plain.get(name)) for name in names if before.get(name) != plain.get(name)
    }


def find_incomparable(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The settings that differ and that scores depend on."""
    return [
        name
        for name in find_changes(before, now)
        if name not in NO_SCORE_DEPENDS_ON and not name.startswith(WATCHING)
    ]


def find_defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The values of settings that [task], [tokenizer] and [model] leave out, where they can be known."""
    tables: dict[str, dict[str, Any]] = {"task": {}, "tokenizer": {}, "model": {}}
    for name, value in settings.items():
        table, _, key = name.partition(".")
        if table in tables:
            tables[table][key] = value
    task, tokenizer, model = tables.values()
    found: dict[str, dict[str, Any]] = {}
    try:
        found["task"] = asdict(read_task(task)[1])
        if "path" not in tokenizer and "start" not in model:
            found["tokenizer"] = asdict(read_settings(VocabularySettings, tokenizer))
    except ConfigurationError:  # a setting of another version
        pass
    kind = KINDS.get(str(model.get("kind", "transformer")))  # an unknown one is refused later
    if kind and model.keys().isdisjoint(("start", "preset")):  # otherwise defaults are those of another model
        defaults = {each.name: each.default for each in fields(kind) if each.default is not MISSING}
        found["model"] = {"kind": "transformer"} | defaults
    return {f"{table}.{key}": value for table, keys in found.items() for key, value in keys.items()}


def _describe(name: str, before: Any, now: Any) -> Any:
    return message("training.recipe.changed_setting", name=name, before=repr(before), now=repr(now))


def _read_copy(run: Path) -> Tables:
    """The recipe as it was when the run was started."""
    return read_toml(run / RECIPE)


def _flatten(tables: Tables) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for table, content in tables.items():
        if table == PLUGINS:
            flat[FILES] = content
            continue
        if not isinstance(content, dict):
            raise ConfigurationError("training.recipe.not_a_table", file="", table=table, value=repr(content))
        flat |= {f"{table}.{key}": value for key, value in content.items()}
    return flat
