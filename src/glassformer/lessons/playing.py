"""One play: a topic's function, run with parameters that were checked.

In:   the name of a topic, its parameters, the models that are there.
Out:  a `Play`.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch

from glassformer.lessons.models import Zoo
from glassformer.lessons.outcome import Models, Outcome, Words
from glassformer.lessons.schema import Play, Value

Tell = Callable[[dict[str, Any]], None]


def play(
    name: str, parameters: Mapping[str, Value], models: Models | None = None, tell: Tell | None = None
) -> Play:
    """Run a topic. `parameters` holds every one of them, as `read_parameters` gives them.

    With `tell` a topic that streams tells each of its steps.
    """
    module = import_module(f"glassformer.lessons.{name}")  # a topic's file is found by its name
    started = time.perf_counter()
    with alone(), torch.random.fork_rng(devices=[]):
        outcome: Outcome = (
            module.play(Words(parameters), models or Zoo())
            if tell is None
            else module.stream(Words(parameters), tell)
        )
    return Play(
        topic=name,
        parameters={**parameters, **outcome.used},
        found=outcome.found,
        figures=tuple(outcome.figures),
        ranges=dict(outcome.ranges),
        model=outcome.model,
        seconds=round(time.perf_counter() - started, 4),
    )


@contextmanager
def alone() -> Iterator[None]:
    """One thread: what a topic computes is small, and where others use the processor too, several threads
    only wait for one another (30 steps of training: 56 s with two of them, 1 s with one)."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
