"""Ask the worker for the result of a topic of the playground, while no job runs.

In:   a worker that is idle, a topic with its parameters.
Out:  a `TopicResult`, or an `ApiError`. The caller waits: a topic takes a second or two, the first one as
      long as the worker needs to start.
"""

import queue
import time
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Any

from glassformer.errors import ApiError
from glassformer.lessons.schema import Topic, TopicResult, Value
from glassformer.messages import Message
from glassformer.workbench.models import Model
from glassformer.workbench.slot import Worker

MAX_SECONDS = 40.0  # seconds that a topic may take once the worker has begun it
STARTING = 180.0  # seconds that a worker may take to begin: importing takes long on a slow machine
TICK = 0.2  # seconds between two checks whether the workbench is closing


def describe_task(
    job: str, topic: Topic, parameters: Mapping[str, Value], models: Sequence[Model], *, streams: bool
) -> dict[str, Any]:
    """The task as the worker reads it; topics use only models that ship."""
    zoo = [
        (model.name, str(model.folder))
        for model in models
        if model.description is not None and model.description.origin == "zoo"
    ]
    return {
        "do": "run",
        "job": job,
        "topic": topic.name,
        "parameters": dict(parameters),
        "models": zoo,
        "streams": streams,
    }


def ask(
    worker: Worker,
    topic: Topic,
    parameters: Mapping[str, Value],
    models: Sequence[Model],
    is_closing: Callable[[], bool],
) -> TopicResult:
    """Wait for the result. TimeoutError where none came in time, EOFError where the worker has ended."""
    job = token_hex(8)
    worker.send(describe_task(job, topic, parameters, models, streams=False))
    deadline = time.monotonic() + STARTING
    result: TopicResult | None = None
    while time.monotonic() < deadline and not is_closing():
        try:
            news = worker.receive(TICK)
        except queue.Empty:
            continue
        if news is None:
            raise EOFError
        if news.get("job") != job:
            continue
        match news["say"]:
            case "progress":
                deadline = time.monotonic() + MAX_SECONDS
            case "played":
                result = TopicResult.model_validate(news["play"])
            case "done":
                assert result is not None
                return result
            case "failed":
                raise ApiError(Message.from_json(news["message"]), news["code"], 422)
    raise TimeoutError
