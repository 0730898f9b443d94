"""One interface for running many independent tasks, wherever they run.

In:   functions of importable modules with arguments that can be pickled, and the resources that they need.
Out:  a `Result` for each, in the order in which they end.

    with open_engine("local", jobs=4) as engine:
        for seed in range(20):
            engine.submit(f"seed {seed}", measure, seed)
        while (result := engine.wait()) is not None:
            print(result.key, result.get())

A worker may die at any moment (kill -9, no memory, a lost machine). Its task is then started again, at most
`retries` times, so a task must be able to run twice: it continues, or overwrites, what it wrote before.
An exception of the function itself is not retried; it is in the result.
"""

import pickle
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, Self

from glassformer.errors import EngineError

RETRIES = 2  # how often a task is started again whose worker was lost


@dataclass(frozen=True, slots=True)
class Resources:
    """What a task needs while it runs; several tasks may share a GPU (`gpus=0.25`)."""

    cpus: int = 1  # threads
    gpus: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """How a task ended."""

    key: str
    value: Any = None
    error: Exception | None = None  # what its function raised, or an EngineError: its workers were lost

    def get(self) -> Any:
        """The value; an error is raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Engine(Protocol):
    """Runs tasks. It belongs to one thread; the tasks run elsewhere."""

    @property
    def slots(self) -> int:
        """About how many tasks of one CPU can run at the same time."""

    @property
    def cpus(self) -> int:
        """How many CPUs there are."""

    @property
    def gpus(self) -> int:
        """How many GPUs there are."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The tasks whose results have not been taken yet."""

    def submit(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,
        resources: Resources = Resources(),  # noqa: B008 - frozen
        retries: int = RETRIES,
    ) -> None:
        """Run a task as soon as there is room; `key` must differ from those of other tasks in `keys`."""

    def wait(self, seconds: float | None = None) -> Result | None:
        """The next result; None where there are no more tasks, or none ended within so many seconds."""

    def cancel(self, key: str) -> None:
        """Forget a task; if it runs, its process is killed. There will be no result."""

    def close(self) -> None:
        """Cancel all tasks and end all workers."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def run_in_order(
    engine: Engine,
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    resources: Resources = Resources(),  # noqa: B008 - frozen
) -> Iterator[Any]:
    """What a function returns for the arguments of each task, in their order.

    No more than a few tasks are under way or wait for a slow one, however many there are.
    """
    done: dict[int, Any] = {}
    order: deque[int] = deque()  # of tasks whose results have not been given
    numbered = enumerate(tasks)
    most = 2 * max(1, engine.slots)
    while True:
        for number, arguments in islice(numbered, most - len(order)):
            order.append(number)
            engine.submit(str(number), function, *arguments, resources=resources)
        result = engine.wait()
        if result is None:
            return
        done[int(result.key)] = result.get()
        while order and order[0] in done:
            yield done.pop(order.popleft())


def check_task(key: str, known: tuple[str, ...], function: Callable[..., Any]) -> None:
    """Refuse a second task of the same key, and a function that another process could not import."""
    if key in known:
        raise EngineError("engine.same_key", key=key)
    name, module = getattr(function, "__qualname__", "<"), getattr(function, "__module__", None)
    if "<" in name or module in (None, "__main__"):
        raise EngineError("engine.not_importable", name=f"{module}.{name}")


def pickle_error(error: Exception) -> bytes:
    """An exception for another process; where it cannot be sent, its text."""
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        text = "".join(traceback.format_exception_only(error)).strip()
        return pickle.dumps(EngineError("engine.failed", error=text))
    return pickled


def read_outcome(key: str, succeeded: bool, pickled: bytes) -> Result:
    """The result of a task from what its worker sent."""
    outcome = pickle.loads(pickled)
    return Result(key, outcome) if succeeded else Result(key, error=outcome)


def run_task(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, bytes]:
    """Run a task in its worker: whether it succeeded, and its value or exception, pickled."""
    try:
        return True, pickle.dumps(function(*arguments))
    except Exception as error:
        return False, pickle_error(error)
