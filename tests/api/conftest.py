"""A server in the same process, with a few invented recordings."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from glassformer import bundle
from glassformer.api.app import create_app
from glassformer.api.effects import MeasureRequest
from glassformer.api.frames import Frame, decode_frame
from glassformer.api.inspection import INSPECTOR
from glassformer.api.jobs import Event, Job, JobRequest, ModelDescription, PlayRequest, Preset, WorkerState
from glassformer.api.library import Library
from glassformer.api.settings import Settings
from glassformer.api.training import Trainer
from glassformer.errors import ApiError
from glassformer.lessons.schema import Topic, TopicResult, read_defaults
from glassformer.messages import literal, message
from glassformer.recording import Recording
from texts import text_of

HOST = "http://localhost:5000"
INSPECTOR.seconds = 600.0  # for a process that starts on a busy machine

TASKS = {"language_modelling": message("tasks.titles.language_modelling")}


@dataclass
class PretendWorkbench:
    """A workbench whose jobs are done at once."""

    library: Library
    bundle: Path
    asked: list[JobRequest] = field(default_factory=list)
    measured: list[MeasureRequest] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    closed: bool = False
    warm: bool = False
    played: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    queue: int = 3
    owners: list[str | None] = field(default_factory=list)

    def models(self) -> Sequence[ModelDescription]:
        return (
            ModelDescription(
                name="zoo/tiny", label="Tiny", family="gpt2", shape="decoder", tasks=TASKS,
                layers=1, heads=1, width=8, vocabulary=10, languages=(), max_tokens=None, parameters=100,
                origin="zoo", note=None,
            ),
        )  # fmt: skip

    def presets(self) -> Sequence[Preset]:
        words = literal("狐狸")
        return (
            Preset(id="fox", title=words, point=words, model="zoo/tiny", task="language_modelling", text="x"),
        )

    def submit(self, request: JobRequest, owner: str | None = None) -> Job:
        if len(self.asked) >= self.queue:
            raise ApiError("workbench.queue_full", status=429, count=self.queue)
        self.asked.append(request)
        self.owners.append(owner)
        return self.job(str(len(self.asked) - 1))

    def job(self, id: str) -> Job:
        if not id.isdecimal() or int(id) >= len(self.asked):
            raise ApiError("workbench.no_job", status=404)
        request = self.asked[int(id)]
        return Job(
            id=id, kind=request.kind, state="cancelled" if id in self.cancelled else "queued", stage="queued",
            share=None, detail=None, recording=None, model=request.model, created=0.0,
            owner=self.owners[int(id)],
        )  # fmt: skip

    def jobs(self) -> Sequence[Job]:
        return [self.job(str(number)) for number in range(len(self.asked))]

    def cancel(self, id: str) -> Job:
        self.job(id)
        self.cancelled.append(id)
        return self.job(id)

    async def events(self, id: str) -> AsyncIterator[Event]:
        yield Event(name="progress", data={"stage": "running", "share": 0.5, "detail": None})
        yield Event(name="done", data={"recording": "一"})

    def topics(self) -> Sequence[Topic]:
        return read_defaults().topics[:2]

    def play(self, name: str, given: Mapping[str, str]) -> TopicResult:
        self.played.append((name, given))
        if name != "lookup":
            raise ApiError("workbench.busy", status=429)
        return read_defaults().results["lookup"]

    def start_play(self, name: str, given: Mapping[str, str], owner: str | None = None) -> Job:
        request = PlayRequest(topic=name, parameters=dict(given))
        return Job(
            id="7", kind=request.kind, state="queued", stage="queued", share=None, detail=None,
            recording=None, model=request.model, created=0.0, owner=owner,
        )  # fmt: skip

    def measure(self, request: MeasureRequest, owner: str | None = None) -> Job:
        self.measured.append(request)
        return Job(
            id="8", kind=request.kind, state="queued", stage="queued", share=None, detail=None,
            recording=None, model=request.model, created=0.0, listed=request.listed, owner=owner,
        )  # fmt: skip

    keeps_jobs = False

    def measure_workers(self) -> list[WorkerState]:
        return []

    def warm_up(self) -> None:
        self.warm = True

    def close(self) -> None:
        self.closed = True


@pytest.fixture(scope="session")
def pretend() -> type[PretendWorkbench]:
    return PretendWorkbench


@dataclass
class Site:
    """A server to be asked, and what it should know."""

    client: TestClient
    app: FastAPI
    library: Library
    ids: dict[str, str]
    recordings: dict[str, Recording]
    workbench: PretendWorkbench

    def json(self, path: str, status: int = 200) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def frame(self, path: str) -> Frame:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/x-glassformer-frame"
        return decode_frame(answer.content)

    def refusal(self, path: str, status: int, **words: Any) -> dict[str, Any]:
        answer = self.client.request(words.pop("method", "GET"), path, **words)
        assert answer.status_code == status, answer.text
        error: dict[str, Any] = answer.json()["error"]
        assert set(error) == {"sentence", "code", "message"}
        assert error["sentence"].endswith((".", "。"))
        chinese = text_of(error["message"], "zh")
        assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese), chinese
        return error

    def of(self, name: str) -> str:
        return f"/api/recordings/{self.ids[name]}"


@pytest.fixture(scope="session")
def read_once(invented: dict[str, Path]) -> dict[str, Recording]:
    """The recordings of each server, by their names: to read them takes longer than most tests."""
    return {name: bundle.open(invented[name]) for name in ("decoder", "single", "translation", "long")}


@pytest.fixture
def build_site(
    invented: dict[str, Path], read_once: dict[str, Recording], tmp_path: Path
) -> Iterator[Callable[..., Site]]:
    """Make a server: `build_site(workbench=False, token="secret")`."""
    opened: list[Site] = []
    known = {invented[name]: recording for name, recording in read_once.items()}

    def build(
        *, workbench: bool = True, base: str = HOST, trainer: Trainer | None = None, **settings: Any
    ) -> Site:
        static = tmp_path / "static"
        static.mkdir(exist_ok=True)
        (static / "index.html").write_text("<!doctype html><title>Glassformer</title>" + "x" * 600)
        library = Library(tmp_path / "library", shipped=None)
        with mock.patch.object(bundle, "open", known.__getitem__):
            ids = {name: library.open_file(invented[name]) for name in read_once}
        pretended = PretendWorkbench(library, invented["single"])
        # a busy machine is slow, not wrong
        usual = {
            "shipped_runs": None,
            "shipped_atlases": None,
            "response_seconds": 600.0,
            "body_pause": 600.0,
        }
        app = create_app(
            library,
            pretended if workbench else None,
            Settings(**{**usual, "static": static, **settings}),
            trainer=trainer,
        )
        client = TestClient(app, base, raise_server_exceptions=False)
        client.headers["accept-encoding"] = "identity"
        opened.append(Site(client, app, library, ids, read_once, pretended))
        return opened[-1]

    yield build
    for site in opened:
        site.client.close()
        site.library.close()


@pytest.fixture
def site(build_site: Callable[..., Site]) -> Site:
    return build_site()
