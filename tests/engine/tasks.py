"""Tasks that tests of engines run in other processes."""

import os
import signal
import time
from pathlib import Path
from typing import Any

TEXTS = ["the animal was too tired", "the street", "too tired to cross the street", ""] * 6  # of a study
DIED = "died"


def square(number: int) -> int:
    return number * number


def fail(text: str) -> None:
    raise ValueError(text)


def fail_unpicklable() -> None:
    class LocalError(Exception):
        pass

    raise LocalError("seen")


def process(_: int = 0) -> int:
    return os.getpid()


def sleep(seconds: float, mark: str) -> None:
    Path(mark).write_text(str(os.getpid()))
    time.sleep(seconds)


def die_first(folder: str, times: int, number: int) -> int:
    """Kill its own process the first few times, then square a number."""
    marks = Path(folder)
    died = len(list(marks.glob(f"{number}-*")))
    if died < times:
        (marks / f"{number}-{died}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def wait_for(mark: str, number: int) -> int:
    """Square a number once a file is there; note the process that does it."""
    path = Path(mark)
    with path.with_name(f"by-{number}").open("a") as by:
        by.write(f"{os.getpid()}\n")
    while not path.exists():
        time.sleep(0.02)
    return number * number


def environment(name: str) -> str | None:
    return os.environ.get(name)


def train_or_die(task: Any) -> Any:
    """A trial of a search; whoever writes the first two checkpoints is killed after each."""
    from glassformer.training.checkpoints import Checkpoints
    from glassformer.training.search.trial import run_trial

    save = Checkpoints.save

    def save_and_die(*given: Any, **named: Any) -> Any:
        saved = save(*given, **named)
        died = len(list(task.runs.glob(f"{DIED}-*")))
        if died < 2:
            (task.runs / f"{DIED}-{died}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return saved

    Checkpoints.save = save_and_die  # type: ignore[method-assign]
    try:
        return run_trial(task)
    finally:
        Checkpoints.save = save  # type: ignore[method-assign]


def measure_or_die(model: Any, texts: Any, settings: Any, *, mark: Path) -> Any:
    """The task of a study; the first process that measures text 8 is killed."""
    from glassformer.corpus.measuring import measure_shard

    if texts[0][0] == 8 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return measure_shard(model, texts, settings)


def read_or_die(model: Any, texts: Any, *given: Any, mark: Path) -> Any:
    """The task of an atlas; the first process that reads the second part is killed."""
    from glassformer.corpus.atlas.reading import read_texts

    if given[-1][1] == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return read_texts(model, texts, *given)
