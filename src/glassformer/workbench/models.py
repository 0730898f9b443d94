"""What can be chosen: the zoo, models found in folders, best networks of training runs, and names on the hub.

In:   folders, and a name that a person chose or typed.
Out:  `Model`: where it lies and what is known about it without opening it (and without torch): its
      config.json, the headers of its safetensors, the languages that its tokenizer names.
"""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from glassformer.api.jobs import ModelDescription
from glassformer.api.probes import find_best, find_run
from glassformer.errors import ApiError
from glassformer.registry import suggestion
from glassformer.workbench.cards import Origin, describe_model, is_tagged, read_model_card
from glassformer.workbench.published import describe_published, read_published

DEEPEST = 3  # levels below a folder in which models are looked for
MOST = 500  # models of one folder
MOST_LOOKED_AT = 20_000  # folders
LONGEST_HUB_NAME = 96
OF_RUN = "run:"  # before the name of a training run
HUB_NAME = re.compile(r"\w(?!.*(?:--|\.\.))(?:[\w.-]*\w)?(?:/\w(?:[\w.-]*\w)?)?", re.ASCII)
QUICK = 2.0  # seconds of a search that may be done again for every unknown name
PAUSES = 5  # otherwise it waits so many times as long as the last one took
FRESH = 5.0  # seconds that a search is believed


@dataclass(frozen=True, slots=True)
class Model:
    """A model that a job may use."""

    name: str
    folder: Path | None  # None: the hub knows
    description: ModelDescription | None  # None: nothing is known yet
    tagged: bool = True  # the language to translate into is named by a token


class ModelCatalog:
    """All models that can be chosen; folders are searched again now and then, in the background."""

    def __init__(
        self, zoo: Path, folders: Sequence[Path], *, offline: bool, runs: Path | None = None
    ) -> None:
        self.zoo = zoo
        self.runs = runs
        self.folders = tuple(folder.expanduser().resolve() for folder in folders)
        self.offline = offline
        self._models: dict[str, Model] = {}
        self._looked = 0.0
        self._took = 0.0  # seconds of the last search
        self._looking = threading.Lock()

    def models(self) -> list[Model]:
        """What is there, as it was a few seconds ago at most; the first time, as it is."""
        if not self._looked:
            self.look()
        elif time.monotonic() - self._looked > FRESH and not self._looking.locked():
            threading.Thread(target=self.look, name="glassformer-catalog", daemon=True).start()
        return list(self._models.values())

    def look(self) -> None:
        """Search the zoo and all folders."""
        with self._looking:
            began = time.monotonic()
            shipped = sorted(find_models(self.zoo, "zoo", deepest=1), key=_find_order)
            found = {model.name: model for model in shipped}
            for folder in self.folders:
                for model in find_models(folder, folder.name, deepest=DEEPEST):
                    found[_new_name(model, found)] = model
            self._models = {name: _rename(model, name) for name, model in found.items()}
            self._looked = time.monotonic()
            self._took = self._looked - began

    def find(self, name: str) -> Model:
        """The model of this name; one on the hub where it is none of ours and the hub may be asked."""
        if name.startswith(OF_RUN):
            return self._find_run(name)
        known = {model.name: model for model in self.models()}
        if name in known:
            return known[name]
        quick = self._took < QUICK or time.monotonic() - self._looked > PAUSES * self._took
        if quick:  # perhaps it was put there a moment ago
            self.look()
        if name in self._models:
            return self._models[name]
        if name.startswith("zoo/") or _is_path(name):
            return self._find_path(name)
        if self.offline and not was_fetched(name):
            raise self._unknown("workbench.no_model_offline", name)
        if name in read_published():
            return Model(name, None, self._describe_published(name), tagged=False)
        return Model(name, None, None)

    def published(self) -> list[ModelDescription]:
        """Models of the hub that are offered by name, whether they are on this machine or not."""
        return [self._describe_published(name) for name in read_published()]

    def _describe_published(self, name: str) -> ModelDescription:
        return describe_published(name, fetched=was_fetched(name), offline=self.offline)

    def _find_run(self, name: str) -> Model:
        """The best network of a training run, which is in no list: "run:first"."""
        run = None if self.runs is None else find_run([self.runs], name.removeprefix(OF_RUN))
        folder = None if run is None else find_best(run)
        if folder is None:
            raise ApiError(
                "workbench.no_run_model", code="no_model", status=404, name=name.removeprefix(OF_RUN)
            )
        return _open(folder, name, "folder")

    def _find_path(self, name: str) -> Model:
        """A path that a person typed: only below a folder that was named when the program was started."""
        path = Path(name).expanduser()
        try:
            folder = path.resolve()
            inside = any(folder.is_relative_to(each) for each in self.folders) and not name.startswith("zoo/")
            found = inside and (folder / "config.json").is_file()
        except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
            found = False
        if found:
            known = {model.folder: model for model in self._models.values()}
            return known.get(folder) or _open(folder, folder.name, "folder")
        raise self._unknown("workbench.no_model", name)

    def _unknown(self, text: str, name: str) -> ApiError:
        near = suggestion(name, self._models)
        return ApiError(text, code="no_model", status=404, name=name, suggestion=near)


def find_models(folder: Path, prefix: str, *, deepest: int) -> Iterator[Model]:
    """Every model folder up to so many levels below a folder, by name; the folder itself may be one."""
    looked_at = count = 0
    waiting = [(folder, 0)]
    while waiting and looked_at < MOST_LOOKED_AT and count < MOST:
        here, depth = waiting.pop(0)
        looked_at += 1
        name = "/".join((prefix, *here.relative_to(folder).parts))
        if (here / "config.json").is_file():
            model = _open(here, name, "zoo" if prefix == "zoo" else "folder")
            if model.description is not None:
                count += 1
                yield model
        if depth < deepest:
            waiting += [(each, depth + 1) for each in _list_folders(here)]


def _open(folder: Path, name: str, origin: Origin) -> Model:
    return Model(name, folder, describe_model(folder, name, origin), is_tagged(folder))


def _list_folders(folder: Path) -> list[Path]:
    """Folders in a folder; links are not followed, for they may lead out of it."""
    try:
        return sorted(
            each
            for each in folder.iterdir()
            if not each.name.startswith(".") and not each.is_symlink() and each.is_dir()
        )
    except OSError:  # it may not be read, or is gone
        return []


def _find_order(model: Model) -> int:
    """The place of a shipped model in the list, as its card says."""
    assert model.folder is not None
    return read_model_card(model.folder).order


def _new_name(model: Model, taken: dict[str, Model]) -> str:
    """A name that is not taken: two folders may be called the same."""
    name, number = model.name, 2
    while name in taken:
        name = f"{model.name} ({number})"
        number += 1
    return name


def _rename(model: Model, name: str) -> Model:
    if name == model.name or model.description is None:
        return model
    return replace(
        model, name=name, description=model.description.model_copy(update={"name": name, "label": name})
    )


def _is_path(name: str) -> bool:
    """Names on the hub are `model` or `owner/model` in plain letters; anything else was meant as a path."""
    return HUB_NAME.fullmatch(name) is None or len(name) > LONGEST_HUB_NAME


def was_fetched(name: str) -> bool:
    """Whether a model of the hub is on this machine already."""
    from huggingface_hub import constants

    return (Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}").is_dir()
