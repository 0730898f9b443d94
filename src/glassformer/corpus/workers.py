"""Work on one model, task by task: in this process, in others, or on the machines of a cluster.

In:   a model; functions whose first argument is a model, and the other arguments of each task.
Out:  what the functions return, in the order of the tasks, wherever they ran.

Other processes open the model by its name, once each, and refuse it where its weights are others there.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch

from glassformer.engine import Resources, open_engine, run_in_order
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load

Run = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class Workers:
    """Where tasks run."""

    engine: str = "local"
    jobs: int = 1
    address: str | None = None
    gpus: float = 0.0  # for each task

    @property
    def elsewhere(self) -> bool:
        """Whether tasks run in other processes."""
        return self.engine != "local" or self.jobs > 1

    def load(self, model: Any, tokenizer: Any, device: str | torch.device | None) -> LoadedModel:
        """Open the model in this process; refuse one that other processes could not open by its name.

        Where only the machines of a cluster have a GPU, this process opens it on the CPU.
        """
        if self.jobs < 1:
            raise InputError("engine.jobs", jobs=self.jobs)
        if not self.elsewhere:
            return load(model, tokenizer, device=device)
        spared = self.engine != "local" and str(device).startswith("cuda") and not torch.cuda.is_available()
        loaded = load(model, tokenizer, device=None if spared else device)
        if not isinstance(model, str | Path):
            raise InputError("study.live_model", name=loaded.name)
        return loaded

    @contextmanager
    def open(self, loaded: LoadedModel, model: Any, device: str | torch.device | None) -> Iterator[Run]:
        """A function that runs tasks; `model` and `device` are those that `load` was given."""
        if not self.elsewhere:
            yield partial(_run_here, loaded)
            return
        known = (str(model), None if device is None else str(device), loaded.identity.hash())
        with open_engine(self.engine, jobs=self.jobs, address=self.address) as engine:

            def run(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
                given = ((function, *known, *task) for task in tasks)
                return run_in_order(engine, run_by_name, given, Resources(gpus=self.gpus))

            yield run


def _run_here(
    model: LoadedModel, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    return (function(model, *task) for task in tasks)


def run_by_name(
    function: Callable[..., Any], model: str, device: str | None, model_hash: str, *given: Any
) -> Any:
    """Run one task of an engine on a model that is opened by its name."""
    return function(_open_once(model, device, model_hash), *given)


@lru_cache(maxsize=2)
def _open_once(model: str, device: str | None, model_hash: str) -> LoadedModel:
    """The model, opened once in each worker process."""
    loaded = load(model, device=device)
    if loaded.identity.hash() != model_hash:
        raise InputError("study.other_there", name=model)
    return loaded
