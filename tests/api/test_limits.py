"""What one caller may take: bytes, threads, time, memory."""

import asyncio
import errno
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from glassformer.api import limits
from glassformer.api.encodings import Encoded, Encoding, compress
from glassformer.api.index import FILE
from glassformer.api.library import Library
from glassformer.api.limits import ClientCounts, ResponseCache, ThreadPools
from glassformer.api.settings import Settings
from glassformer.errors import ApiError

try:
    import resource
except ImportError:  # not a Unix
    resource = None  # type: ignore[assignment]


def chunks(count: int, size: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b" " * size


def test_a_body_is_measured_whatever_it_says(build_site: Callable[..., Any]) -> None:
    site = build_site(body_bytes=1000, upload_bytes=5000)
    for words in ({"content": b" " * 1001}, {"content": chunks(11, 100)}):
        error = site.refusal(
            "/api/jobs", 413, method="POST", headers={"content-type": "application/json"}, **words
        )
        assert error["code"] == "body_too_long"
        assert "1,000 bytes" in error["sentence"]
    assert site.refusal("/api/recordings", 413, method="POST", content=b"x" * 5001)["code"] == "body_too_long"
    assert (
        site.refusal("/api/recordings", 413, method="POST", content=chunks(51, 100))["code"]
        == "body_too_long"
    )
    assert [each.name for each in site.library.folder.iterdir()] == [FILE]
    for strange in ("-1", "1e3", "x"):
        assert site.client.post("/api/jobs", headers={"content-length": strange}).status_code == 413


def test_a_long_text_is_refused_before_anybody_reads_it(build_site: Callable[..., Any]) -> None:
    site = build_site(text_characters=50, tokens=100)
    asked = {"kind": "record", "model": "zoo/tiny", "text": "x" * 51}
    assert site.refusal("/api/jobs", 413, method="POST", json=asked)["code"] == "text_too_long"
    place = {"stack": "encoder", "attention": "self", "layer": 0, "head": 0}
    edit = {"kind": "ablate", **place, "how": "mean", "reference": ["x" * 30, "y" * 30]}
    edited = {**asked, "text": "x", "edits": [edit]}
    assert site.refusal("/api/jobs", 413, method="POST", json=edited)["code"] == "text_too_long"
    patch = {"kind": "patch_head", **place, "source": "x" * 30, "target": "y" * 30}
    patched = {**asked, "text": "x", "edits": [patch]}
    assert site.refusal("/api/jobs", 413, method="POST", json=patched)["code"] == "text_too_long"
    asked = {"kind": "record", "model": "zoo/tiny", "sequence": "random", "length": 101}
    prefixed = {"kind": "generate", "model": "zoo/tiny", "text": "x", "prefix": [1] * 101}
    for each in (asked, prefixed):
        assert site.refusal("/api/jobs", 422, method="POST", json=each)["code"] == "too_many_tokens"
    assert site.workbench.asked == []


def ask(received: asyncio.Queue[dict[str, Any]], client: str = "127.0.0.1") -> Request:
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": (client, 1)}
    return Request(scope, received.get)


def test_work_that_nobody_waits_for_is_not_begun() -> None:
    async def main() -> None:
        threads = ThreadPools(Settings(threads=1))
        busy, begun = threading.Event(), threading.Event()
        first: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        second: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        holding = asyncio.ensure_future(threads.run(ask(first), lambda: busy.wait(300)))
        waiting = asyncio.ensure_future(threads.run(ask(second), begun.set))
        await asyncio.sleep(0)
        second.put_nowait({"type": "http.request"})
        second.put_nowait({"type": "http.disconnect"})
        with pytest.raises(ApiError, match="was cancelled"):
            await waiting
        busy.set()
        assert await holding is True
        assert await threads.run(ask(first), lambda: begun.is_set()) is False
        threads.close()

    asyncio.run(main())


def test_one_client_leaves_threads_to_others() -> None:
    async def main() -> None:
        threads = ThreadPools(Settings(threads=2, client_share=0.5))
        begun, free = threading.Event(), threading.Event()
        order: list[int] = []

        def work(number: int) -> None:
            order.append(number)
            begun.set()
            assert free.wait(300)

        def look() -> list[int]:
            assert begun.wait(300)
            return order.copy()

        many = [asyncio.ensure_future(threads.run(ask(asyncio.Queue()), partial(work, n))) for n in range(4)]
        await asyncio.sleep(0)
        assert await threads.run(ask(asyncio.Queue(), "127.0.0.2"), look) == [0]
        dropped = many.pop(2)
        dropped.cancel()
        with suppress(asyncio.CancelledError):
            await dropped
        for _ in range(3):  # until the thread would be told
            await asyncio.sleep(0)
        free.set()
        await asyncio.gather(*many)
        assert order == [0, 1, 3]
        assert await threads.run(ask(asyncio.Queue()), lambda: "again") == "again"
        assert threads.waiting == 0
        threads.close()

    asyncio.run(main())


def test_one_client_leaves_places_to_others() -> None:
    async def main() -> None:
        threads = ThreadPools(Settings(threads=1, waiting=4, client_share=0.5))
        free = threading.Event()
        many = [
            asyncio.ensure_future(threads.run(ask(asyncio.Queue()), partial(free.wait, 300)))
            for _ in range(2)
        ]
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="Too many"):
            await threads.run(ask(asyncio.Queue()), lambda: 1)
        other = asyncio.ensure_future(threads.run(ask(asyncio.Queue(), "127.0.0.2"), lambda: 1))
        await asyncio.sleep(0)
        free.set()
        assert [*await asyncio.gather(*many), await other] == [True, True, 1]
        threads.close()

    asyncio.run(main())


def test_too_many_questions_and_too_slow_answers_are_refused() -> None:
    async def main() -> None:
        threads = ThreadPools(Settings(threads=1, waiting=1, response_seconds=0.05))
        free = threading.Event()
        holding = asyncio.ensure_future(threads.run(ask(asyncio.Queue()), lambda: free.wait(300)))
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="Too many"):
            await threads.run(ask(asyncio.Queue()), lambda: 1)
        with pytest.raises(ApiError, match="longer than"):
            await holding
        free.set()
        threads.close()

    asyncio.run(main())


def test_the_cache_forgets_the_least_used(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ResponseCache(1000)
    for number in range(10):
        cache.put(str(number), Encoded(bytes(100), "", "identity"))
    assert cache.get("0") is not None
    cache.put("new", Encoded(bytes(120), "", "identity"))
    assert cache.size <= 1000
    assert cache.get("0") is not None
    assert cache.get("1") is None
    cache.put("huge", Encoded(bytes(500), "", "identity"))
    assert cache.get("huge") is None
    cache.put("0", Encoded(bytes(10), "", "identity"))
    assert cache.size == 10 + 120 + 7 * 100
    monkeypatch.setattr(limits, "ANSWERS", 3)
    cache.put("last", Encoded(b"", "", "identity"))
    assert list(cache._kept) == ["new", "0", "last"]


def test_encoded_answers_are_kept(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address = site.of("decoder") + "/maps/0/weights"
    first = site.client.get(address).content
    monkeypatch.setattr(site.library, "get", lambda id: 1 / 0)
    assert site.client.get(address).content == first
    assert site.client.get(address + "?head=0").status_code == 500


def test_only_so_many_files_are_on_their_way(
    build_site: Callable[..., Any], invented: dict[str, Path]
) -> None:
    site = build_site(uploads=1)
    for _ in range(3):  # each is over before the next begins
        site.refusal("/api/recordings", 422, method="POST", content=b"no bundle")
    site.app.state.uploads._counts["another"] = 1
    error = site.refusal("/api/recordings", 429, method="POST", content=invented["single"].read_bytes())
    assert error["code"] == "busy"
    assert [each.name for each in site.library.folder.iterdir()] == [FILE]


def send_file(
    site: Any, messages: Iterable[dict[str, Any]], path: str = "/api/recordings"
) -> list[int | None]:
    """Send a file as a server hands it on, piece by piece; what was answered."""
    said = iter(messages)
    statuses = []

    async def receive() -> Any:
        return next(said, None) or await asyncio.Event().wait()

    async def send(message: Any) -> None:
        statuses.append(message.get("status"))

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"",
        "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 0), "server": ("localhost", 80),
    }  # fmt: skip
    asyncio.run(site.app(scope, receive, send))
    return statuses


def test_a_file_on_its_way_is_no_recording_to_anybody(site: Any, invented: dict[str, Path]) -> None:
    whole = invented["single"].read_bytes()
    folder = site.library.folder

    def pieces() -> Iterator[dict[str, Any]]:
        yield {"type": "http.request", "body": whole[:5000], "more_body": True}
        assert len(list(folder.iterdir())) == 2  # the index, and what has arrived
        assert not list(folder.glob("*.bundle"))
        other = Library(folder, shipped=None)  # another server, started meanwhile
        assert (other.entries(), other.broken) == ((), [])
        yield {"type": "http.request", "body": whole[5000:], "more_body": False}

    assert send_file(site, pieces())[0] == 201
    found = sorted(path.suffix for path in folder.iterdir() if path.name != FILE)
    assert found == [".bundle", ".json"]  # itself and its card
    assert "file" in {entry.origin for entry in site.library.entries()}


@pytest.mark.skipif(resource is None, reason="only Unix limits the size of files")
def test_a_file_that_does_not_fit_on_the_disk_leaves_nothing(site: Any, invented: dict[str, Path]) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        error = site.refusal("/api/recordings", 413, method="POST", content=invented["single"].read_bytes())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error["code"] == "no_room"
    assert str(site.library.folder) not in error["sentence"]
    assert [each.name for each in site.library.folder.iterdir()] == [FILE]
    assert site.app.state.uploads.total == 0


def test_a_full_disk_is_a_line_in_the_log_and_no_bug(
    site: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("glassformer.api.routes.recordings.write_body", fill)
    strict = TestClient(site.app, "http://localhost:5000")  # raises what reaches the server as a bug
    answer = strict.post("/api/recordings", content=b"x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert [(each.levelname, each.exc_info) for each in caplog.records] == [("WARNING", None)]


@pytest.mark.skipif(resource is None, reason="only Unix limits the size of files")
def test_a_file_that_does_not_fit_is_heard_to_its_end(site: Any) -> None:
    """Who still sends hears no answer: a browser would say that the server is gone."""
    heard = 0

    def pieces() -> Iterator[dict[str, Any]]:
        nonlocal heard
        for number in range(8):
            heard += 1
            yield {"type": "http.request", "body": bytes(1000), "more_body": number < 7}

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        assert send_file(site, pieces())[0] == 413
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert heard == 8


@pytest.mark.parametrize("path", ["/api/recordings", "/api/jobs"])
def test_a_body_that_stops_arriving_is_refused(build_site: Callable[..., Any], path: str) -> None:
    site = build_site(body_pause=0.02)
    started = {"type": "http.request", "body": b"{", "more_body": True}  # and nothing more
    assert send_file(site, [started], path)[0] == 408
    assert site.app.state.uploads.total == 0
    assert [each.name for each in site.library.folder.iterdir()] == [FILE]


def test_who_leaves_in_the_middle_of_a_file_is_no_bug(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    left = ({"type": "http.request", "body": b"abc", "more_body": True}, {"type": "http.disconnect"})
    assert send_file(site, left)[0] == 499
    assert not caplog.records
    assert [each.name for each in site.library.folder.iterdir()] == [FILE]
    assert site.app.state.uploads.total == 0


def test_a_body_that_drips_gets_no_more_time_for_it(build_site: Callable[..., Any]) -> None:
    site = build_site(body_pause=0.2, body_rate=1000)

    def drips() -> Iterator[dict[str, Any]]:
        while True:  # one byte at a time, never silent for long
            time.sleep(0.01)
            yield {"type": "http.request", "body": b"x", "more_body": True}

    assert send_file(site, drips())[0] == 408


def test_a_body_that_is_here_is_taken_however_busy_the_server_was(build_site: Callable[..., Any]) -> None:
    site = build_site(body_pause=0.0)  # its time is up before anybody looks
    whole = {"type": "http.request", "body": b"no bundle", "more_body": False}
    assert send_file(site, [whole])[0] == 422  # it was read
    assert send_file(site, [{**whole, "more_body": True}, whole])[0] == 408


def test_a_body_that_never_comes_does_not_end_an_answer_that_has_begun() -> None:
    """As of an event stream, which listens for its client to leave."""
    anyio.run(_answer_before_the_body)


async def _answer_before_the_body() -> None:
    waiting = asyncio.Event()
    heard: list[Any] = []

    async def receive() -> dict[str, Any]:
        await waiting.wait()
        return {"type": "http.disconnect"}

    async def app(_: Any, hear: Any, send: Any) -> None:
        leaving = asyncio.ensure_future(hear())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.1)  # longer than a body may pause
        waiting.set()
        heard.append(await leaving)

    async def send(message: Any) -> None:
        heard.append(message["type"])

    scope = {"type": "http", "method": "GET", "path": "/events", "headers": []}
    await limits.BodyLimit(app, Settings(body_pause=0.02))(scope, receive, send)
    assert heard == ["http.response.start", {"type": "http.disconnect"}]


def test_a_client_has_a_share_of_uploads() -> None:
    counts = ClientCounts(most=4, share=2)
    with counts.hold("one"), counts.hold("one"):
        with pytest.raises(ApiError, match="uploaded"):
            counts.require("one", "api.too_many_uploads")
        counts.require("another", "api.too_many_uploads")
        assert counts.total == 2
    assert counts.total == 0


@pytest.mark.parametrize("encoding", ["zstd", "gzip", "identity"])
def test_a_compressed_answer_takes_no_more_memory_than_its_bytes(encoding: Encoding) -> None:
    data = bytes(1 << 20)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        made = compress(data, "application/json", encoding)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert encoding == "identity" or len(made.body) < 10_000
    assert taken < 20_000
