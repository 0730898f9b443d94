"""Recipes that come over HTTP: checked as a whole before anything is started or written.

In:   tables, or the text of a TOML file, and changes by full name.
Out:  `CheckedRecipe` with every fault; or the recipe as training is to be given it, or an `ApiError`.
"""

import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.api.training import CheckedRecipe, Fault, RecipeSchema, ShippedRecipe
from glassformer.config import ModelConfig
from glassformer.errors import ApiError, ConfigurationError
from glassformer.messages import message
from glassformer.settings import parse_toml, read_settings, write_toml
from glassformer.training.settings import TrainSettings
from glassformer.workbench.recipe_fields import find_faults, read_schema
from glassformer.workbench.recipe_places import Places
from glassformer.workbench.recipe_sizes import Sizes, estimate

PACKAGE = Path(__file__).parent.parent
RECIPES = (PACKAGE / "recipes", PACKAGE.parent.parent / "recipes")  # installed; in a checkout
DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,2})?")
SPLIT_NAME = re.compile(r"\w{1,40}", re.ASCII)
SIZED_BY_TASK = (  # settings of a network that its task knows better
    *("start", "preset", "kind", "shape", "head", "classes", "relation", "segments", "pooling", "pooler"),
    *("vocabulary_size", "padding_id", "start_id", "end_id", "decoder_layers"),
)
SEARCH = "search"  # a table of recipes that training ignores
FREE = 0.9  # of the free disk that a run may take


@dataclass(frozen=True, slots=True)
class ReadyRecipe:
    """A recipe that may be trained."""

    toml: str
    places: dict[str, str]  # by full name: paths and models as training must be given them


class RecipeRules:
    """What this server lets anybody train."""

    def __init__(self, places: Places, runs: Path, *, steps: int, memory: int) -> None:
        self.places = places
        self.runs = runs
        self.memory = memory
        self.schema: RecipeSchema = read_schema(steps)

    def check(self, tables: Mapping[str, Any]) -> CheckedRecipe:
        """Every fault of a recipe, and what it would take."""
        plain = drop_nothing(tables)
        faults = list(find_faults(self.schema, plain))
        sizes = Sizes(None, None, None)
        if not faults:
            faults = [*self._check_texts(plain), *self.places.find_faults(plain), *_check_together(plain)]
            if not faults:
                start = plain.get("model", {}).get("start")
                sizes = estimate(plain, None if start is None else self.places.find_model_folder(start))
                faults = list(self._check_sizes(sizes))
        toml = write_toml(plain) if all(isinstance(each, dict) for each in plain.values()) else ""
        return CheckedRecipe(
            toml=toml,
            faults=tuple(faults),
            parameters=sizes.parameters,
            memory=sizes.memory,
            disk=sizes.disk,
        )

    def require(self, tables: Mapping[str, Any]) -> ReadyRecipe:
        """The recipe for training; ApiError with its first fault where it has one."""
        checked = self.check(tables)
        if checked.faults:
            first = checked.faults[0]
            raise ApiError("recipe.refused", "recipe", 422, field=first.field, problem=first.message)
        return ReadyRecipe(checked.toml, self.places.resolve(drop_nothing(tables)))

    def _check_texts(self, tables: Mapping[str, Any]) -> Iterator[Fault]:
        """The name of a split becomes part of a path; that of a device goes to torch."""
        train = tables.get("train", {})
        if SPLIT_NAME.fullmatch(train.get("evaluate_on", "dev")) is None:
            yield Fault(field="train.evaluate_on", message=message("recipe.faults.split"))
        if DEVICE.fullmatch(train.get("device", "auto")) is None:
            yield Fault(field="train.device", message=message("recipe.faults.device"))

    def _check_sizes(self, sizes: Sizes) -> Iterator[Fault]:
        if sizes.memory is not None and sizes.memory > self.memory:
            text = message("recipe.faults.memory", needed=sizes.memory / 1e9, most=self.memory / 1e9)
            yield Fault(field="", message=text)
        free = FREE * shutil.disk_usage(_find_existing(self.runs)).free
        if sizes.disk is not None and sizes.disk > free:
            text = message("recipe.faults.disk", needed=sizes.disk / 1e9, free=free / 1e9)
            yield Fault(field="", message=text)


def read_request(
    recipe: Mapping[str, Any] | None, toml: str | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The tables of a request."""
    if (recipe is None) == (toml is None):
        raise ApiError("recipe.one_recipe", "recipe", 422)
    if toml is not None:
        try:
            recipe = parse_toml(toml)
        except ValueError as error:
            raise ApiError("recipe.not_toml", "recipe", 422, error=str(error)[:200]) from error
    assert recipe is not None
    return change(recipe, changes)


def change(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Tables with other values by full name."""
    changed = {
        name: dict(values) if isinstance(values, Mapping) else values for name, values in tables.items()
    }
    for name, value in changes.items():
        table, dot, key = name.partition(".")
        values = changed.setdefault(table, {})
        if not dot or not key or not isinstance(values, dict):
            raise ApiError("recipe.wrong_change", "recipe", 422, name=name[:200])
        values[key] = value
    return changed


def drop_nothing(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Tables without the settings that are null: TOML has no such value, and it is the default of each."""
    return {
        name: {key: value for key, value in values.items() if value is not None}
        if isinstance(values, Mapping)
        else values
        for name, values in tables.items()
    }


def _check_together(tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Values that do not go together; what only the data can tell is found when training begins."""
    try:
        read_settings(TrainSettings, tables.get("train", {}))
    except ConfigurationError as error:
        yield Fault(field="train", message=error.message)
    model = tables.get("model", {})
    if model.get("kind", "transformer") == "transformer" and not {"start", "preset"} & model.keys():
        known = {name: value for name, value in model.items() if name not in SIZED_BY_TASK}
        try:
            read_settings(ModelConfig, {**known, "vocabulary_size": 1000, "shape": "decoder"})
        except ConfigurationError as error:
            yield Fault(field="model", message=error.message)


def _find_existing(folder: Path) -> Path:
    folder = folder.absolute()
    return folder if folder.exists() else _find_existing(folder.parent)


def _move_below(task: dict[str, Any], data: Path) -> None:
    """Paths of a shipped recipe, whose data are in `data/`, as seen from another data folder."""
    folder = str(task.get("folder", ".")).removeprefix("data/")
    tables = [task, *task.get("also", ()), *task.get("files", ())]
    paths = [(table, key) for table in tables for key in ("path", "second_path") if key in table]
    if any(".." in Path(table[key]).parts for table, key in paths):  # the data of another task
        for table, key in paths:
            table[key] = posixpath.normpath(posixpath.join(folder, table[key]))
        folder = "."
    task["folder"] = folder if (data / folder).is_dir() else "."


def read_shipped(places: Places) -> list[ShippedRecipe]:
    """The recipes that come with the package, with their data looked for in the data folder."""
    found = []
    folder = next((each for each in RECIPES if each.is_dir()), None)
    for file in sorted(folder.glob("*.toml")) if folder is not None else ():
        text = file.read_text(encoding="utf-8")
        tables = parse_toml(text)
        tables.pop(SEARCH, None)
        _move_below(tables["task"], places.data)
        title = text.splitlines()[0].lstrip("# ")
        found.append(ShippedRecipe(name=file.stem, title=title, tables=tables))
    first = [each for each in found if each.name == "first"]
    return first + [each for each in found if each.name != "first"]
