"""Checkpoints of a run: each is written completely, then renamed; only then are older ones removed.

In:   a function that writes the model's folder; what else a run needs to continue: tensors, plain numbers.
Out:  `checkpoints/step-00001000/`: a model in Hugging Face layout and the state of training, which is
      training.safetensors, training.json and checksums.json. `last` and `best` beside it point at two of
      them. No pickles.

The two newest checkpoints and the best one keep their state: when one is damaged, training continues from the
one before, and a run can be forked from any of them.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from glassformer.errors import CheckpointError, TrainingError
from glassformer.tasks.task import TASKS, Network, Task
from glassformer.text.files import read_json, write_json
from glassformer.training.commands import remove_command, resume_command
from glassformer.training.optim import average_weights
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint

TENSORS, NUMBERS, CHECKSUMS = "training.safetensors", "training.json", "checksums.json"
LAST, BEST = "last", "best"
AVERAGED = "averaged"
UNFINISHED = "."  # what a folder's name begins with until it is whole
STATES = 2  # newest checkpoints that training can continue from


@dataclass(frozen=True, slots=True)
class State:
    """What training continues from."""

    place: Path  # the folder of the checkpoint
    tensors: dict[str, Tensor]
    numbers: dict[str, Any]
    damaged: tuple[CheckpointError, ...] = ()  # why newer ones were not used


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, run: Path, keep: int = 1) -> None:
        self.run = run
        self.folder = run / "checkpoints"
        self.keep = max(STATES, keep)  # models of so many last steps stay

    def save(
        self,
        step: int,
        write_model: Callable[[Path], object],
        tensors: Mapping[str, Tensor],
        numbers: Mapping[str, Any],
    ) -> Path:
        """Write a checkpoint completely, or leave everything as it was and raise."""
        place = self.place(step)
        if has_state(place):  # this step was reached before
            return place
        new = self.folder / f"{UNFINISHED}{place.name}"
        with self._explaining(step):
            self.folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(new, ignore_errors=True)
            write_model(new)
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, new / TENSORS)
            write_json(new / NUMBERS, numbers)
            write_json(new / CHECKSUMS, _compute_checksums(new))
            _make_durable(new)
            self._remove(place)  # a model without its state
            os.replace(new, place)
            _sync(self.folder)
            self._point(LAST, place)
        self._prune()
        return place

    def place(self, step: int) -> Path:
        """The folder of a step's checkpoint."""
        return self.folder / f"step-{step:08d}"

    def all(self) -> list[Path]:
        """Whole checkpoints, oldest first."""
        return sorted(path for path in self.folder.glob("step-*") if path.is_dir())

    def states(self) -> list[Path]:
        """Those with the state of training, oldest first."""
        return [path for path in self.all() if has_state(path)]

    def steps(self) -> list[int]:
        """The steps that training can continue from, in order."""
        return [int(path.name.removeprefix("step-")) for path in self.states()]

    def last(self) -> Path | None:
        """The newest one with the state of training."""
        return next(reversed(self.states()), None)

    def best(self) -> Path | None:
        """The one that `best` points at."""
        pointer = self.run / BEST
        return self.folder / pointer.resolve().name if pointer.is_dir() else None

    def mark_best(self, place: Path) -> None:
        """Let `best` be this one; it stays until another is."""
        self._point(BEST, place)
        self._prune()

    def newest_state(self) -> State:
        """The newest state that is not damaged; an error where there is none."""
        damaged: list[CheckpointError] = []
        for place in reversed(self.states()):
            try:
                state = load_state(place)
            except CheckpointError as error:
                damaged.append(error)
            else:
                return State(place, state.tensors, state.numbers, tuple(damaged))
        if damaged:
            raise damaged[0]
        if models := self.all():
            raise TrainingError("training.checkpoint.only_models", run=self.run.name, folder=models[-1])
        raise TrainingError("training.checkpoint.none", run=self.run.name, command=remove_command(self.run))

    def discard_after(self, place: Path) -> None:
        """Remove newer checkpoints, which are damaged; of the best one only its state."""
        for later in (path for path in self.all() if path.name > place.name):
            if later == self.best():
                _remove_state(later)
            else:
                self._remove(later)
        self._point(LAST, place)

    def remove_states(self) -> None:
        """Keep the last and the best model of a run that nothing will continue."""
        kept = (self.last(), self.best())
        for place in self.all():
            if place in kept:
                _remove_state(place)
            else:
                self._remove(place)

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
        """Old checkpoints go; of those that stay only the newest and the best keep the state of training."""
        places, best = self.all(), self.best()
        for place in places[:-STATES]:
            if place == best:
                continue
            if place in places[-self.keep :]:
                _remove_state(place)
            else:
                self._remove(place)

    def _remove(self, place: Path) -> None:
        if place.is_dir():
            removed = place.with_name(f"{UNFINISHED}old-{place.name}")
            shutil.rmtree(removed, ignore_errors=True)
            os.replace(place, removed)
            shutil.rmtree(removed, ignore_errors=True)

    @contextmanager
    def _explaining(self, step: int) -> Iterator[None]:
        try:
            yield
        except (OSError, SafetensorError, CheckpointError) as error:
            shutil.rmtree(self.folder / f"{UNFINISHED}step-{step:08d}", ignore_errors=True)
            last = self.last()
            kept = "training.checkpoint.not_first" if last else "training.checkpoint.first"
            command = (resume_command if last else remove_command)(self.run)
            raise TrainingError(kept, step=step, reason=error, last=last, command=command) from error


def has_state(place: Path) -> bool:
    """Whether training can continue from a checkpoint."""
    return (place / NUMBERS).is_file()


def load_state(place: Path) -> State:
    """The state of training of one checkpoint, verified by its checksums."""
    try:
        if (place / CHECKSUMS).is_file():  # version 0.2 wrote none
            now = _compute_checksums(place)
            for name, checksum in read_json(place / CHECKSUMS).items():
                if now.get(name) != checksum:
                    raise CheckpointError("training.checkpoint.wrong_checksum", file=name)
        return State(place, load_file(place / TENSORS), read_json(place / NUMBERS))
    except (OSError, ValueError, SafetensorError, CheckpointError) as error:
        reason = error.message if isinstance(error, CheckpointError) else error
        raise CheckpointError("training.checkpoint.damaged", folder=place, reason=reason) from error


def save_model(network: Network, folder: Path, task: Task) -> None:
    """A folder that `load`, and where the network is one of its kinds also transformers, opens."""
    name = next((name for name in TASKS if TASKS[name] is type(task)), None)
    labels, generation = getattr(task, "labels", ()), task.generation()
    save_checkpoint(network, folder, task.tokenizer, labels=labels, task=name, generation=generation)


def average_checkpoints(checkpoints: Checkpoints, network: Network, task: Task) -> Path:
    """The mean of the last checkpoints, in `averaged` beside them; `network` has its weights afterwards."""
    states = (open_checkpoint(place).network.state_dict() for place in checkpoints.all()[-checkpoints.keep :])
    network.load_state_dict(average_weights(states))
    folder = checkpoints.run / AVERAGED
    save_model(network, folder, task)
    return folder


def _compute_checksums(folder: Path) -> dict[str, str]:
    """By name, the SHA-256 of the files that training continues from."""
    checksums = {}
    for name in (TENSORS, NUMBERS):
        with (folder / name).open("rb") as file:
            checksums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return checksums


def _remove_state(place: Path) -> None:
    for name in (NUMBERS, TENSORS, CHECKSUMS):  # without the first it is a state no more
        (place / name).unlink(missing_ok=True)


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
