"""Recipes: a TOML file that describes a training run, and the run itself.

In:   a path, and changes such as "train.rate=3e-4" or {"train.rate": 3e-4}.
Out:  a run in `runs/<name>/`, with a copy of the recipe.

Tables: [model] what network, or where to start from; [tokenizer] its vocabulary; [task] what to learn, from
which files; [batches]; [train]; [monitor].
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from glassformer.errors import ConfigurationError, InputError, TrainingError
from glassformer.messages import message
from glassformer.registry import suggestion
from glassformer.runlog import RECIPE, SCALARS, is_run
from glassformer.settings import SettingsType, parse_toml, read_settings, read_toml
from glassformer.tasks.task import build_task, read_task
from glassformer.text.batches import BatchSettings
from glassformer.text.files import write_json
from glassformer.text.opening import open_tokenizer
from glassformer.text.tokenizer import Tokenizer
from glassformer.text.vocabulary import VocabularySettings, train_vocabulary
from glassformer.training.checkpoints import LAST
from glassformer.training.initial_network import build_network, check_evaluation, check_model_names
from glassformer.training.loop import Outcome, Plan, run_loop
from glassformer.training.settings import MonitorSettings, TrainSettings
from glassformer.weights.folder import replace_folder
from glassformer.weights.hub import find_folder

TABLES = ("model", "tokenizer", "task", "batches", "train", "monitor")
SETTINGS, TOKENIZER, LOCK = "settings.json", "tokenizer", ".lock"
MAY_CHANGE = (  # settings that may differ when a run is resumed: no loss depends on them
    "train.device",
    "train.parallel",
    "train.compile",
    "train.recompute",
    "train.log_every",
    "train.patience",
    "batches.prefetch",
    "monitor.tensorboard",
)
OPEN_ENDED = ("inverse-sqrt", "constant")  # schedules that do not know how many steps there are

Overrides = Sequence[str] | Mapping[str, Any]  # {"train.rate": 3e-4}, or ["train.rate=3e-4"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe as read: its tables, and the settings in those that are the same for all."""

    name: str
    text: str
    tables: Mapping[str, Mapping[str, Any]]
    batches: BatchSettings
    train: TrainSettings
    monitor: MonitorSettings

    def settings(self) -> dict[str, Any]:
        """Every value by its full name, "train.steps"; defaults too."""
        resolved = {name: asdict(getattr(self, name)) for name in ("batches", "train", "monitor")}
        tables = {**self.tables, **resolved}
        return {f"{table}.{key}": value for table in TABLES for key, value in tables.get(table, {}).items()}


def read_recipe(path: str | Path, overrides: Overrides = ()) -> Recipe:
    """Read a recipe and change it; an error names table and key."""
    path = Path(path)
    tables = read_toml(path)
    for name, value in _read_overrides(overrides):
        _override(tables, name, value)
    for table, content in tables.items():
        if table not in TABLES:
            raise ConfigurationError(
                "training.recipe.unknown_table",
                file=path.name,
                table=table,
                suggestion=suggestion(table, TABLES),
            )
        if not isinstance(content, dict):
            raise ConfigurationError(
                "training.recipe.not_a_table", file=path.name, table=table, value=repr(content)
            )
    if "task" not in tables:
        raise ConfigurationError("training.recipe.no_task", file=path.name)
    _in_table("task", lambda: read_task(tables["task"]))
    _in_table("model", lambda: check_model_names(tables.get("model", {})))
    if "path" not in tables.get("tokenizer", {}):
        _read("tokenizer", VocabularySettings, tables)
    return Recipe(
        path.stem,
        path.read_text(encoding="utf-8"),
        tables,
        _read("batches", BatchSettings, tables),
        _read("train", TrainSettings, tables),
        _read("monitor", MonitorSettings, tables),
    )


def train(
    path: str | Path,
    overrides: Overrides = (),
    *,
    resume: bool = False,
    runs: str | Path = "runs",
    name: str | None = None,
    silent: bool = False,
) -> Outcome:
    """Train the network that a recipe (TOML) describes; the run is a folder in `runs`.

    `overrides` change values of the recipe, by mapping or as text. With `resume` a run of this name goes on
    from its last checkpoint, if it has one. `name` is the name of the run (the recipe's by default); `silent`
    shows no progress. Ctrl-C ends the step, writes a checkpoint and returns.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> outcome.ending, outcome.step
    ('finished', 2)
    >>> model = gf.load(outcome.last)  # the folder of the last checkpoint
    """
    recipe = read_recipe(path, overrides)
    folder = Path(runs) / _check_name(name or recipe.name)
    first = os.environ.get("RANK", "0") == "0"
    if first:
        _check_free(folder, resume=resume)
    new = first and not (folder.is_dir() and any(folder.iterdir()))  # another process may have made it
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder, first=first), _removing_if_refused(folder, new=new):
        resuming = resume and (folder / SETTINGS).is_file()
        if resuming:
            _check_unchanged(recipe, folder)
        torch.manual_seed(recipe.train.seed)
        with _explaining_missing_data():
            tokenizer = _find_tokenizer(recipe, folder, resuming=resuming, first=first)
            task = _in_table(
                "task", lambda: build_task(recipe.tables["task"], tokenizer, seed=recipe.train.seed)
            )
        table = recipe.tables.get("model", {})
        network, notes = _in_table("model", lambda: build_network(table, task))
        _in_table("model", lambda: task.accept(network.config))
        if first:
            _in_table("train", lambda: check_evaluation(task, recipe.train))
        if first and not resuming:
            _save_recipe(recipe, folder)
        plan = Plan(task, network, recipe.batches, recipe.train, recipe.monitor, tuple(notes))
        return run_loop(plan, folder, resume=resume, silent=silent)


def _check_name(name: str) -> str:
    """A run is a folder directly inside `runs`."""
    if name in (".", "..") or Path(name).name != name:
        raise TrainingError("training.recipe.run_name", name=name)
    return name


def _check_free(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that holds a run or other files."""
    if is_run(folder) and not resume:
        raise TrainingError("training.recipe.run_exists", folder=folder)
    if folder.is_dir() and not is_run(folder) and not (folder / LOCK).exists():
        other = next(folder.iterdir(), None)
        if other is not None:
            raise TrainingError("training.recipe.folder_in_use", folder=folder, name=other.name)


def _read_overrides(overrides: Overrides) -> Iterator[tuple[str, Any]]:
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


def _override(tables: dict[str, Any], name: str, value: Any) -> None:
    table, dot, key = name.partition(".")
    if not dot or not key:
        raise ConfigurationError("training.recipe.bad_override", override=f"{name}={value}")
    if "." in key:
        inner, override = key.partition(".")[0], f"{name}={value}"
        raise ConfigurationError(
            "training.recipe.nested_override", override=override, table=table, inner=inner
        )
    content = tables.setdefault(table, {})
    if isinstance(content, dict):  # other values are refused when all tables are checked
        content[key] = value


def _read(table: str, kind: type[SettingsType], tables: Mapping[str, Any]) -> SettingsType:
    return _in_table(table, lambda: read_settings(kind, tables.get(table, {})))


def _in_table(table: str, make: Any) -> Any:
    """Add the name of the table to an error about its settings."""
    try:
        return make()
    except ConfigurationError as error:
        raise ConfigurationError("training.recipe.in_table", table=table, problem=error.message) from error


def _find_tokenizer(recipe: Recipe, folder: Path, *, resuming: bool, first: bool) -> Tokenizer:
    """The run's own, that of the model to start from, one in a folder, or one learnt from the task's text."""
    table = dict(recipe.tables.get("tokenizer", {}))
    start, path = recipe.tables.get("model", {}).get("start"), table.pop("path", None)
    kept = folder / TOKENIZER
    if start is not None and recipe.tables.get("tokenizer"):
        raise ConfigurationError("training.recipe.start_has_tokenizer")
    if path is not None and table:
        raise ConfigurationError("training.recipe.path_with_settings", names=list(table))
    if not first:
        while not kept.is_dir():  # the first process makes it
            time.sleep(0.1)
    elif not (resuming and kept.is_dir()):
        learnt = folder / LAST
        # A run whose tokenizer was deleted has it in its checkpoints: learnt anew it may be another.
        ready = learnt if resuming and learnt.is_dir() else start or path
        if ready is not None:
            tokenizer = open_tokenizer(find_folder(str(ready)))
        else:
            settings = _read("tokenizer", VocabularySettings, {"tokenizer": table})
            kind, about = _in_table("task", lambda: read_task(recipe.tables["task"]))
            tokenizer = train_vocabulary(kind.texts(about), settings, style=kind.style, tags=kind.tags(about))
        with replace_folder(kept) as new:
            tokenizer.save(new)
            shutil.rmtree(kept, ignore_errors=True)
    return open_tokenizer(kept)


def _save_recipe(recipe: Recipe, folder: Path) -> None:
    (folder / RECIPE).write_text(recipe.text, encoding="utf-8")
    new = folder / f".{SETTINGS}"
    write_json(new, recipe.settings())
    os.replace(new, folder / SETTINGS)


def _check_unchanged(recipe: Recipe, folder: Path) -> None:
    """A run is resumed with the recipe that it began with."""
    before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    now = json.loads(json.dumps(recipe.settings()))
    free = (
        (*MAY_CHANGE, "train.steps", "train.minutes") if recipe.train.schedule in OPEN_ENDED else MAY_CHANGE
    )
    changed = [
        message(
            "training.recipe.changed_setting",
            name=name,
            before=repr(before.get(name)),
            now=repr(now.get(name)),
        )
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name) and name not in free
    ]
    if changed:
        raise TrainingError("training.recipe.changed", folder=folder, changes=changed)


@contextmanager
def _explaining_missing_data() -> Iterator[None]:
    """Add to an error about a missing file that the data of recipes does not ship."""
    try:
        yield
    except InputError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise InputError("training.recipe.no_data", problem=error.message) from error


@contextmanager
def _locked(folder: Path, *, first: bool) -> Iterator[None]:
    """Only one process trains a run; the lock ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    if not first:
        yield
        return
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TrainingError("training.recipe.in_use", folder=folder) from error
        yield


@contextmanager
def _removing_if_refused(folder: Path, *, new: bool) -> Iterator[None]:
    """Remove the folder of a run that fails before its first step, so that its name is free."""
    try:
        yield
    except BaseException:
        scalars = folder / SCALARS
        if new and not (scalars.is_file() and scalars.stat().st_size):
            shutil.rmtree(folder, ignore_errors=True)
        raise
