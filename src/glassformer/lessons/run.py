"""Run a topic of the playground with parameters that were checked.

In:   the name of a topic, its parameters, the models that are there.
Out:  a `TopicResult`.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch

from glassformer.lessons.models import Zoo
from glassformer.lessons.schema import Figure, Range, TopicResult, Value
from glassformer.messages import Message

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a topic's `compute` is given: the value of every parameter, models, a receiver of its steps."""

    values: Mapping[str, Value]
    models: Zoo
    report: Report

    def integer(self, name: str) -> int:
        return int(self.values[name])

    def number(self, name: str) -> float:
        return float(self.values[name])

    def text(self, name: str) -> str:
        return str(self.values[name])

    def flag(self, name: str) -> bool:
        return bool(self.values[name])


@dataclass(frozen=True, slots=True)
class Result:
    """What a topic's `compute` returns."""

    found: Message  # what these numbers show, in one sentence
    figures: Sequence[Figure]
    model: str | None = None
    used: Mapping[str, Value] = field(default_factory=dict)  # parameters that were larger than possible
    ranges: Mapping[str, Range] = field(default_factory=dict)  # of parameters that this text or model limits


def run_topic(
    name: str, parameters: Mapping[str, Value], models: Zoo | None = None, report: Report | None = None
) -> TopicResult:
    """Run a topic. `parameters` has a value for each of its parameters, as `read_parameters` returns them.

    A topic that streams calls `report` at each step.

    >>> parameters = gf.read_parameters(gf.find_topic("masks"), {"mask": "causal"})
    >>> [figure.id for figure in gf.run_topic("masks", parameters).figures]
    ['allowed', 'scores', 'weights', 'batch']
    """
    compute = import_module(f"glassformer.lessons.topics.{name}").compute
    started = time.perf_counter()
    with one_thread(), torch.random.fork_rng(devices=[]):
        result: Result = compute(Inputs(parameters, models or Zoo(), report or (lambda _: None)))
    return TopicResult(
        topic=name,
        parameters={**parameters, **result.used},
        found=result.found,
        figures=tuple(result.figures),
        ranges=dict(result.ranges),
        model=result.model,
        seconds=round(time.perf_counter() - started, 4),
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread: topics compute little, and on a busy processor several threads wait for one another
    (30 steps of training: 56 s with two threads, 1 s with one)."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
