"""Where a recipe from the page may read: files below one data folder, models that the server allows.

In:   the data folder; folders of models; paths and names that anybody wrote.
Out:  the same as training reads them, or the message of a fault. A link that leads out of the folder, an
      absolute path, `..` and `~` are refused, and so is a folder that holds such a link.
"""

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from glassformer.api.training import DataFile, DataFiles, Fault
from glassformer.messages import Message, message
from glassformer.workbench.models import HUB_NAME, LONGEST_HUB_NAME, was_fetched
from glassformer.workbench.recipe_fields import read_file

ZOO = Path(__file__).parent.parent / "zoo"
SPLIT = "{split}"  # in a path: training puts the name of a split there
SPLITS = ("train", "dev", "validation", "valid", "val", "test")
MOST_ENTRIES = 20_000  # of a folder, that are looked at
MOST_FILES = 500  # in the list


class Places:
    """What training that is started over HTTP may read."""

    def __init__(
        self,
        data: Path,
        models: Sequence[Path] = (),
        *,
        offline: bool = False,
        allows: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.data = data.expanduser()  # as the person who started the server wrote it
        self.root = self.data.resolve()
        self.models = {folder.expanduser().resolve().name: folder.expanduser() for folder in models}
        self.offline = offline
        self.allows = allows  # which names on the hub may be used

    def find_faults(self, tables: Mapping[str, Any]) -> Iterator[Fault]:
        """What is wrong with the paths and models of a recipe whose values are of the right types."""
        for name, path in _list_data(tables.get("task", {})):
            if (
                problem := self._check_data(str(tables["task"].get("folder", ".")), path, _splits(tables))
            ) is not None:
                yield Fault(field=name, message=problem)
        for table, key in (("model", "start"), ("tokenizer", "path")):
            name = tables.get(table, {}).get(key)
            if name is not None and self.find_model(name) is None:
                yield Fault(field=f"{table}.{key}", message=message("recipe.faults.model", name=name))

    def resolve(self, tables: Mapping[str, Any]) -> dict[str, str]:
        """By full name: the paths of a checked recipe as the process that trains must be given them."""
        found = {"task.folder": str(self.data / str(tables["task"].get("folder", ".")))}
        for table, key in (("model", "start"), ("tokenizer", "path")):
            name = tables.get(table, {}).get(key)
            if name is not None:
                found[f"{table}.{key}"] = str(self.find_model(name))
        return found

    def shorten(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """The tables of a run with paths as a recipe from the page writes them, where it can."""
        short = {
            name: dict(values) if isinstance(values, dict) else values for name, values in tables.items()
        }
        for table, key in (("task", "folder"), ("model", "start"), ("tokenizer", "path")):
            values = short.get(table)
            text = values.get(key) if isinstance(values, dict) else None
            if not isinstance(values, dict) or not isinstance(text, str):
                continue
            try:
                place = Path(text).expanduser().resolve()
            except (OSError, RuntimeError, ValueError):
                continue
            if place.is_relative_to(self.root) and (table == "task" or place.exists()):
                values[key] = place.relative_to(self.root).as_posix()
            elif table != "task":
                values[key] = self._name_model(place) or text
        return short

    def _name_model(self, place: Path) -> str | None:
        """The name of a model in one of the folders of models; the reverse of `find_model`."""
        for first, folder in self.models.items():
            root = folder.resolve()
            if place.is_relative_to(root):
                name = PurePath(first, place.relative_to(root)).as_posix()
                found = self.find_model(name)
                if found is not None and Path(found).resolve() == place:
                    return name
        return None

    def find_model(self, name: str) -> str | None:
        """What training is to be told for a model of this name; None where it must not be used."""
        if not is_plain_path(name):
            return None
        if self._is_model(self.data / name, self.root):
            return str(self.data / name)
        first, _, rest = name.partition("/")
        if first in self.models and self._is_model(self.models[first] / rest, self.models[first].resolve()):
            return str(self.models[first] / rest)
        if os.path.lexists(name):  # training would take the folder for the model
            return None
        if first == "zoo":
            return name if "/" not in rest and (ZOO / rest / "config.json").is_file() else None
        named = HUB_NAME.fullmatch(name) is not None and len(name) <= LONGEST_HUB_NAME
        return name if named and self.allows(name) and (not self.offline or was_fetched(name)) else None

    def find_model_folder(self, name: str) -> Path | None:
        """The folder of a model on this machine; None for one of the hub."""
        found = self.find_model(name)
        if found is None:
            return None
        if name.startswith("zoo/") and found == name:
            return ZOO / name.removeprefix("zoo/")
        return Path(found) if Path(found).is_dir() else None

    def _is_model(self, folder: Path, root: Path) -> bool:
        return (
            folder.is_dir()
            and stays_inside(folder, root)
            and any(
                (folder / name).is_file()
                for name in ("config.json", "tokenizer.json", "tokenizer_config.json")
            )
        )

    def _check_data(self, folder: str, path: str, splits: Sequence[str]) -> Message | None:
        if not (is_plain_path(folder) and is_plain_path(path)):
            return message("recipe.faults.outside", path=str(PurePath(folder, path)))
        found = False
        for split in splits if SPLIT in path else ("",):
            place = self.data / folder / path.replace(SPLIT, split)
            magic = glob.has_magic(str(place.relative_to(self.data)))
            matches = [place] if os.path.lexists(place) or not magic else self._expand(place)
            if matches is None:
                return message("recipe.faults.pattern", most=MOST_ENTRIES)
            for match in matches:
                if not stays_inside(match, self.root):
                    return message("recipe.faults.outside", path=str(PurePath(folder, path)))
                found |= match.exists()
        return None if found else message("recipe.faults.no_data", path=str(PurePath(folder, path)))

    def _expand(self, place: Path) -> list[Path] | None:
        """The files and folders of a pattern; None where looking for them takes too long."""
        pattern = place.relative_to(self.data)
        if pattern.parts.count("**") > 1:  # each one more looks at all folders again
            return None
        found = glob.iglob(str(pattern), root_dir=self.data, recursive=True)
        matches = [self.data / match for match in islice(found, MOST_ENTRIES + 1)]
        return matches if len(matches) <= MOST_ENTRIES else None

    def list_files(self, search: str) -> DataFiles:
        """Files below the folder whose path has a text in it; hidden ones and links are left out."""
        files: list[DataFile] = []
        for place, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(place, name)
                path = file.relative_to(self.root).as_posix()
                if name.startswith(".") or file.is_symlink() or search.lower() not in path.lower():
                    continue
                if len(files) == MOST_FILES:
                    return DataFiles(files=tuple(files), more=True)
                try:
                    files.append(DataFile(path=path, bytes=file.stat().st_size))
                except (OSError, ValueError):  # removed meanwhile
                    continue
        return DataFiles(files=tuple(files), more=False)


def is_plain_path(text: str) -> bool:
    """Whether a path is relative and goes only down."""
    path = PurePath(text)
    return (
        bool(text)
        and not path.is_absolute()
        and ".." not in path.parts
        and not text.startswith("~")
        and "\\" not in text
    )


def stays_inside(path: Path, root: Path) -> bool:
    """Whether a file or a folder, with all that is in it, is below a folder, whatever links there are."""
    try:
        resolved = path.resolve()
        if not resolved.is_relative_to(root):
            return False
        if not resolved.is_dir():
            return _is_ordinary(resolved)
        count = 0
        for place, folders, names in os.walk(resolved):
            for each in (Path(place, name) for name in (*folders, *names)):
                count += 1
                inside = not each.is_symlink() or each.resolve().is_relative_to(root)
                if count > MOST_ENTRIES or not inside or not _is_ordinary(each):
                    return False
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that is too long
        return False
    return True


def _is_ordinary(path: Path) -> bool:
    """Whether a path is a file, a folder or nothing: no pipe, no device."""
    return path.is_file() or path.is_dir() or not path.exists()


def _splits(tables: Mapping[str, Any]) -> tuple[str, ...]:
    chosen = tables.get("train", {}).get("evaluate_on", "dev")
    return (*SPLITS, str(chosen))


def _reads_folder(task: Mapping[str, Any]) -> bool:
    """Whether a task that names no archive looks for the files of a table in its whole folder."""
    fields = read_file()["task"].get(task.get("name"), ())
    return any(field["name"] == "archive" for field in fields) and not str(task.get("path")).endswith(".npz")


def _list_data(task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Full names and values of all paths of a task."""
    if "path" in task:
        yield "task.path", str(task["path"])
    if "archive" in task or _reads_folder(task):
        yield "task.archive", str(task.get("archive", "."))
    for list_name in ("also", "files"):
        for number, table in enumerate(task.get(list_name, ())):
            for key in ("path", "second_path"):
                if table.get(key) is not None:
                    yield f"task.{list_name}.{number}.{key}", str(table[key])
