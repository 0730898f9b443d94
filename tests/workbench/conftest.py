"""Tiny random models of every kind in one folder, and a workbench over them with its worker process."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex

import pytest

from conftest import BuildOnce
from glassformer import bundle
from glassformer.api.jobs import Event, Job, JobRequest
from glassformer.recording import Recording
from glassformer.workbench import LocalWorkbench, WorkbenchSettings
from media_models import build_media_zoo
from texts import text_of
from tiny_models import build_model

LAST = ("done", "failed", "cancelled")
Ask = Callable[..., JobRequest]
Wait = Callable[..., Job]
Build = Callable[..., Path]
Run = Callable[..., tuple[Recording, list[Event]]]


@pytest.fixture(scope="session")
def build() -> Build:
    """A function that writes a model into a folder."""
    return build_model


@pytest.fixture(scope="session")
def zoo(tiny_zoo: Path) -> Path:
    """A folder with one model of each kind, as the zoo has them."""
    return tiny_zoo


@pytest.fixture(scope="session")
def media_zoo(build_once: BuildOnce) -> Path:
    """A folder with networks that look and listen."""
    return build_once("media_zoo", build_media_zoo)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where bundles go."""
    return tmp_path_factory.mktemp("recordings")


def open_bench(zoo: Path, folder: Path, **words: object) -> LocalWorkbench:
    """A workbench whose recordings are called by their files."""
    settings = WorkbenchSettings(offline=True, **words)  # type: ignore[arg-type]

    def keep(path: Path, *_: object) -> str:
        kept = folder / f"{token_hex(8)}.bundle"
        return path.replace(kept).name

    return LocalWorkbench(settings, folder=folder, add=keep, zoo=zoo)


@pytest.fixture(scope="session")
def bench(zoo: Path, folder: Path) -> Iterator[LocalWorkbench]:
    """One worker for all tests that do not harm it."""
    bench = open_bench(zoo, folder, queue=3)
    yield bench
    bench.close()


@pytest.fixture
def fresh(zoo: Path, folder: Path) -> Iterator[Callable[..., LocalWorkbench]]:
    """A function that opens a workbench of its own; all are closed in the end."""
    opened: list[LocalWorkbench] = []

    def make(**words: object) -> LocalWorkbench:
        opened.append(open_bench(zoo, folder, **words))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture(scope="session")
def ask() -> Ask:
    """A function that makes a request; whatever is not said is the plainest."""
    return make_request


def make_request(**words: object) -> JobRequest:
    plain: dict[str, object] = {"kind": "record", "model": "zoo/decoder", "text": "the animal was too tired"}
    if words.get("sequence", "text") != "text":
        del plain["text"]
    return JobRequest.model_validate({**plain, **words})


@pytest.fixture(scope="session")
def wait() -> Wait:
    """A function that gives the job when it is in such a state; its limit only ends a test that hangs."""
    return wait_for


def wait_for(bench: LocalWorkbench, job: Job, state: tuple[str, ...] = LAST, seconds: float = 300.0) -> Job:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = bench.job(job.id)
        if now.state in state:
            return now
        time.sleep(0.01)
    raise AssertionError(f"the job is still {bench.job(job.id)}")


@pytest.fixture
def run(bench: LocalWorkbench, folder: Path, ask: Ask, wait: Wait) -> Run:
    """A function that runs a job to its end and gives the recording and all events."""

    def call(**words: object) -> tuple[Recording, list[Event]]:
        job = wait(bench, bench.submit(ask(**words)))
        assert job.state == "done", job.message
        assert job.recording is not None
        return bundle.open(folder / job.recording), bench.store.events(job.id, 0)

    return call


@pytest.fixture
def fail(bench: LocalWorkbench, ask: Ask, wait: Wait) -> Callable[..., str]:
    """The sentence of a job that cannot be done; the worker survives it."""

    def call(**words: object) -> str:
        job = wait(bench, bench.submit(ask(**words)))
        assert job.state == "failed"
        assert job.code == "refused"
        assert job.message is not None
        return text_of(job.message)

    return call


def steps(events: list[Event]) -> list[dict[str, object]]:
    return [event.data for event in events if event.name == "step"]
