"""A server that is still being built: its page is the same, everything else waits, and a failure ends it."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.conftest import HOST
from glassformer.api.app import create_app
from glassformer.api.library import Library
from glassformer.api.opening import Opening
from glassformer.api.settings import Settings
from glassformer.errors import InputError


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # as uvicorn


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>" + "a page " * 200)
    (tmp_path / "assets" / "shell-0123456789.js").write_text("go()")
    return Settings(static=tmp_path, runs=tmp_path / "runs", atlases=tmp_path / "atlases")


@asynccontextmanager
async def live(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server that has started, as uvicorn starts one."""
    inbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    outbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    life = asyncio.create_task(app({"type": "lifespan", "asgi": {}}, inbox.get, outbox.put))
    await inbox.put({"type": "lifespan.startup"})
    assert await outbox.get() == {"type": "lifespan.startup.complete"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOST) as client:
        yield client
    await inbox.put({"type": "lifespan.shutdown"})
    assert await outbox.get() == {"type": "lifespan.shutdown.complete"}
    assert outbox.empty()
    await life


@contextmanager
def opening(settings: Settings, *, early: bool = True) -> Iterator[tuple[Opening, threading.Event]]:
    """A server that is built when the event is set."""
    go = threading.Event()
    with closing(Library()) as library:

        def build() -> Any:
            assert go.wait(300)
            return create_app(library, None, settings)

        yield Opening(settings, build, early=early), go


ASKED = [
    (method, path, {"x-request-id": "one", "accept-encoding": encoding})
    for method in ("GET", "HEAD")
    for path in ("/", "/assets/shell-0123456789.js")
    for encoding in ("identity", "gzip", "zstd")
]
REFUSED = [
    ("GET", "/", {"host": "evil.example"}, 421),
    ("GET", "/", {"sec-fetch-site": "cross-site"}, 403),
    ("GET", "/", {"origin": "http://evil.example"}, 403),
    ("GET", "/missing.js", {}, 404),
    ("GET", "/../opening.py", {}, 404),
    ("POST", "/", {}, 405),
    ("GET", "/api/recordings", {}, 200),
]


@pytest.mark.anyio
async def test_the_page_is_there_before_the_application_and_the_same(settings: Settings) -> None:
    with opening(settings) as (app, go):
        async with live(app) as client:
            early = [await client.request(method, path, headers=sent) for method, path, sent in ASKED]
            mark = {"if-none-match": early[0].headers["etag"]}
            assert (await client.get("/", headers={**ASKED[0][2], **mark})).status_code == 304
            go.set()
            assert (await client.get("/api/about")).status_code == 200  # waits until it is built
            later = [await client.request(method, path, headers=sent) for method, path, sent in ASKED]
            counters = (await client.get("/metrics")).text
    for one, other in zip(early, later, strict=True):
        assert (one.status_code, one.content) == (200, other.content)
        assert sorted(one.headers.items()) == sorted(other.headers.items())
    for method, status, count in (("GET", 200, 12), ("HEAD", 200, 12), ("GET", 304, 1)):  # early ones, too
        wanted = f'method="{method}",route="other",status="{status}"}} {count}.0'
        assert wanted in counters


@pytest.mark.anyio
async def test_everything_else_waits_for_the_application(settings: Settings) -> None:
    with opening(settings) as (app, go):
        async with live(app) as client:
            waiting = [
                asyncio.create_task(client.request(method, path, headers=sent))
                for method, path, sent, _ in REFUSED
            ]
            assert (await client.get("/")).status_code == 200  # has overtaken them
            assert not any(each.done() for each in waiting)
            go.set()
            assert [each.status_code for each in await asyncio.gather(*waiting)] == [
                status for *_, status in REFUSED
            ]


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.anyio
async def test_a_page_that_is_not_everybodys_waits(settings: Settings, early: bool) -> None:
    locked = replace(settings, token="0123456789abcdef") if early else settings
    with opening(locked, early=early) as (app, go):
        async with live(app) as client:
            asked = asyncio.create_task(client.get("/"))
            for _ in range(20):
                await asyncio.sleep(0)
            assert not asked.done()
            go.set()
            assert (await asked).status_code == (401 if early else 200)


@pytest.mark.anyio
async def test_what_cannot_be_built_stops_the_server(settings: Settings) -> None:
    def build() -> Any:
        raise InputError("cli.serve.no_port", port=1)

    stopped = threading.Event()
    app = Opening(settings, build, early=True)
    app.stop = stopped.set
    async with live(app) as client:
        assert (await client.get("/api/about")).status_code == 503
    assert stopped.is_set()
    assert isinstance(app.failure, InputError)


def test_the_page_needs_little() -> None:
    question = (
        "import sys, glassformer.cli.verbs.serve, glassformer.api.opening, glassformer.api.connections; "
        "print({'fastapi', 'pydantic', 'numpy', 'torch'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    assert answer.stdout == "set()\n"
