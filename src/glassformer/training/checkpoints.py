"""Checkpoints of a run: each is written completely, then renamed; only then is the one before removed.

In:   a function that writes the model's folder; what else a run needs to go on: tensors, plain numbers.
Out:  `checkpoints/step-00001000/`: a model in Hugging Face layout, training.safetensors and training.json.
      `last` and `best` beside it point at two of them. No pickles.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from glassformer.errors import CheckpointError, TrainingError
from glassformer.tasks.task import TASKS, Network, Task
from glassformer.text.files import write_json
from glassformer.training.optim import average_weights
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint

TENSORS, NUMBERS = "training.safetensors", "training.json"
LAST, BEST = "last", "best"
AVERAGED = "averaged"
UNFINISHED = "."  # what a folder's name begins with until it is whole


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, run: Path, keep: int = 1) -> None:
        self.run = run
        self.folder = run / "checkpoints"
        self.keep = max(1, keep)  # models of so many last steps stay

    def save(
        self,
        step: int,
        write_model: Callable[[Path], object],
        tensors: Mapping[str, Tensor],
        numbers: Mapping[str, Any],
    ) -> Path:
        """Write a checkpoint completely, or leave everything as it was and raise."""
        place = self.folder / f"step-{step:08d}"
        if place.is_dir():  # this step was reached before
            return place
        new = self.folder / f"{UNFINISHED}{place.name}"
        with self._explaining(step):
            self.folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(new, ignore_errors=True)
            write_model(new)
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, new / TENSORS)
            write_json(new / NUMBERS, numbers)
            _make_durable(new)
            os.replace(new, place)
            _sync(self.folder)
            self._point(LAST, place)
        self._prune()
        return place

    def all(self) -> list[Path]:
        """Whole checkpoints, oldest first."""
        return sorted(path for path in self.folder.glob("step-*") if path.is_dir())

    def last(self) -> Path | None:
        """The one to go on from: the newest that still has what training needs."""
        whole = [path for path in self.all() if (path / NUMBERS).is_file()]
        return whole[-1] if whole else None

    def best(self) -> Path | None:
        """The one that `best` points at."""
        pointer = self.run / BEST
        return self.folder / pointer.resolve().name if pointer.is_dir() else None

    def mark_best(self, place: Path) -> None:
        """Let `best` be this one; it stays until another is."""
        self._point(BEST, place)
        self._prune()

    def load(self, place: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The tensors and numbers of a checkpoint."""
        try:
            numbers = json.loads((place / NUMBERS).read_text(encoding="utf-8"))
            return load_file(place / TENSORS), numbers
        except (OSError, ValueError, SafetensorError) as error:
            raise CheckpointError("training.checkpoint.damaged", folder=place, reason=error) from error

    def clean(self) -> None:
        """Remove the unfinished folders of a killed run."""
        for path in self.folder.glob(f"{UNFINISHED}*"):
            shutil.rmtree(path, ignore_errors=True)

    def _point(self, name: str, place: Path) -> None:
        """A relative link, replaced in one step."""
        new = self.run / f"{UNFINISHED}{name}"
        new.unlink(missing_ok=True)
        new.symlink_to(place.relative_to(self.run), target_is_directory=True)
        os.replace(new, self.run / name)

    def _prune(self) -> None:
        """Old checkpoints go; of those that stay only the last keeps what training needs."""
        places = self.all()
        kept = {*places[-self.keep :], self.best()}
        for place in places[:-1]:
            if place not in kept:
                removed = place.with_name(f"{UNFINISHED}{place.name}")
                os.replace(place, removed)
                shutil.rmtree(removed, ignore_errors=True)
            elif (place / NUMBERS).is_file():
                (place / NUMBERS).unlink()
                (place / TENSORS).unlink(missing_ok=True)

    @contextmanager
    def _explaining(self, step: int) -> Iterator[None]:
        try:
            yield
        except (OSError, SafetensorError, CheckpointError) as error:
            shutil.rmtree(self.folder / f"{UNFINISHED}step-{step:08d}", ignore_errors=True)
            last = self.last()
            kept = "training.checkpoint.not_first" if last else "training.checkpoint.first"
            raise TrainingError(kept, step=step, reason=error, last=last) from error


def save_model(network: Network, folder: Path, task: Task) -> None:
    """A folder that `load`, and where the network is one of its kinds also transformers, opens."""
    name = next((name for name in TASKS if TASKS[name] is type(task)), None)
    save_checkpoint(network, folder, task.tokenizer, labels=getattr(task, "labels", ()), task=name)


def average_checkpoints(checkpoints: Checkpoints, network: Network, task: Task) -> Path:
    """The mean of the last checkpoints, in `averaged` beside them; `network` has its weights afterwards."""
    states = (open_checkpoint(place).network.state_dict() for place in checkpoints.all()[-checkpoints.keep :])
    network.load_state_dict(average_weights(states))
    folder = checkpoints.run / AVERAGED
    save_model(network, folder, task)
    return folder


def _make_durable(folder: Path) -> None:
    """Every file of a folder on the disk, then the folder itself."""
    for path in folder.rglob("*"):
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
