"""A real server and a real Chromium: console errors, exceptions and calls to other hosts fail a test."""

import asyncio
import json
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from browser.waiting import COUNT, PATIENCE, chosen, go, settle
from glassformer.api.app import create_app
from glassformer.api.jobs import Workbench
from glassformer.api.library import Library
from glassformer.api.settings import STATIC, Settings
from glassformer.api.training import Trainer
from glassformer.place import Place
from glassformer.runlog import ALARM, Event, RunWriter
from glassformer.runlog.probes import PROBES, TEXTS, name_probe
from glassformer.weights.hub import ZOO
from glassformer.workbench import LocalWorkbench, WorkbenchSettings
from machine import find_chromium
from rehearsal import Rehearsal

MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")  # it beeps
FILES = ("decoder", "single", "wide", "translation", "long")  # as they are added to the library
STATIC_HERE = Path(os.environ.get("GLASSFORMER_STATIC", STATIC))


@dataclass
class Served:
    """A running server; `ids` are its recordings by a short name."""

    url: str
    library: Library
    ids: dict[str, str] = field(default_factory=dict)
    workbench: Workbench | None = None
    runs: Path = Path("runs")  # its folder of training runs

    def address(self, name: str = "", **selection: object) -> str:
        """The page on a recording, as `address("decoder", view="heatmap", map=1, head=2)`."""
        chosen = {"recording": self.ids[name], **selection} if name else selection
        words = "&".join(f"{key.replace('__', '.')}={value}" for key, value in chosen.items())
        return f"{self.url}/#{words}"


@dataclass
class Bench:
    """A running server with a workbench that runs models."""

    url: str
    library: Library
    workbench: LocalWorkbench


class _Server(uvicorn.Server):
    """Ends connections that a browser keeps: left to themselves they would be a warning of a later test."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # until they are closed


@contextmanager
def serve(
    library: Library,
    workbench: Workbench | None = None,
    static: Path = STATIC_HERE,
    runs: Path = Settings().runs,  # noqa: B008
    trainer: Trainer | None = None,
) -> Iterator[str]:
    """Run a server in a thread; its address, while the context lasts."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        line.listen(128)
        runs_known, atlases_known = library.runs, library.atlases
        settings = Settings(
            static=static,
            runs=runs,
            shipped_runs=None,
            atlases=runs.with_name("atlases"),
            shipped_atlases=None,
        )
        app = create_app(library, workbench, settings, trainer=trainer)
        # Several servers share a library: each finds its own probes and examples.
        library.runs = (*library.runs, *runs_known)
        library.atlases = (*library.atlases, *atlases_known)
        server = _Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [line]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield f"http://localhost:{line.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)


@contextmanager
def serve_workbench(folder: Path, zoo: Path = ZOO) -> Iterator[Bench]:
    """A server that runs the models of a zoo in a worker of its own; its recordings go into the folder."""
    library = Library(folder)
    workbench = LocalWorkbench(
        WorkbenchSettings(offline=True),
        folder=library.folder,
        add=lambda path, request, owner: library.adopt(path, request=request, owner=owner),
        locate=library.path,
        zoo=zoo,
    )
    try:
        with serve(library, workbench) as url:
            yield Bench(url, library, workbench)
    finally:
        workbench.close()
        library.close()


def write_training_run(folder: Path, *, first: int = 1, last: int = 60, text: str = "An alarm.") -> None:
    """Steps of a run that goes on: a loss that falls, two maps of two heads, an alarm."""
    writer = RunWriter(folder)
    writer.write_scalars((step, {"loss": 4 / step, "rate": 1e-3}) for step in range(first, last + 1))
    for step in range(first + 9, last + 1, 10):
        shares = {"entropy_share": [1 / step, 0.5], "twin": [1.0, 0.0]}
        writer.write_heads(step, {Place("decoder", "self", layer): shares for layer in range(2)})
    writer.write_event(Event(last, ALARM, text, topic="collapsed", place="decoder.self.1"))
    writer.close()


def write_probes(run: Path, recording: Path) -> None:
    """Three recordings of one text in a run that was written: before the first step, at 20 and at 60."""
    (run / PROBES).mkdir()
    for step in (0, 20, 60):
        shutil.copyfile(recording, run / PROBES / name_probe(step, 0))
    texts = {"0": {"source": "an invented text"}}
    (run / PROBES / TEXTS).write_text(json.dumps(texts))


def require_page() -> None:
    """Skip, or in CI fail, where the page was not built."""
    if not (STATIC_HERE / "index.html").is_file():
        sentence = "the page is not built (npm --prefix web ci && npm --prefix web run build)"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence, pytrace=False)
        pytest.skip(sentence)


@pytest.fixture(scope="session")
def library(
    invented: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Library, dict[str, str]]]:
    """Invented recordings, and those that ship."""
    library = Library(tmp_path_factory.mktemp("recordings") / "made")
    ids = {name: library.open_file(invented[name]) for name in FILES}
    for entry in library.entries():
        if entry.origin == "shipped":
            ids.setdefault("shipped", entry.id)
    yield library, ids
    library.close()


@pytest.fixture(scope="session")
def served(
    library: tuple[Library, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The server with these recordings, a training run "first", and no workbench."""
    require_page()
    runs = tmp_path_factory.mktemp("runs")
    write_training_run(runs / "first")
    with serve(library[0], runs=runs) as url:
        yield Served(url, *library, runs=runs)


@pytest.fixture(scope="session")
def working(served: Served) -> Iterator[Served]:
    """The same recordings, on a server with a workbench that only rehearses."""
    rehearsal = Rehearsal(served.ids["translation"])
    with serve(served.library, rehearsal) as url:
        yield Served(url, served.library, served.ids, workbench=rehearsal)


@pytest.fixture
def rehearsal(working: Served) -> Rehearsal:
    """The workbench of `working`, as if nothing had run on it."""
    assert isinstance(working.workbench, Rehearsal)
    working.workbench.again()
    return working.workbench


@pytest.fixture(scope="module")
def bench(tiny_zoo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A server that runs tiny models, one for each file of tests."""
    require_page()
    with serve_workbench(tmp_path_factory.mktemp("made"), tiny_zoo) as bench:
        yield bench


_running = ExitStack()  # Playwright and its browser
_browsers: list[Browser] = []  # the one that runs, if any
_idle: dict[str, list[BrowserContext]] = {}  # by their settings: contexts that a test has given back
_seen: dict[tuple[str, str], list["Seen"]] = {}  # by server and language: pages that were only looked at


@pytest.fixture
def chromium() -> Browser:
    """One browser for all tests in this folder, started when the first one asks for it."""
    if not _browsers or not _browsers[0].is_connected():
        end_browser()
        playwright = _running.enter_context(sync_playwright())
        words: dict[str, Any] = {"executable_path": find_chromium(), "args": ["--no-sandbox", *MICROPHONE]}
        _browsers.append(playwright.chromium.launch(**words, timeout=PATIENCE))
        _running.callback(_browsers[0].close)
    return _browsers[0]


def end_browser() -> None:
    _idle.clear()
    _seen.clear()
    _browsers.clear()
    _running.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last test here: while Playwright runs, an event loop counts as running in this thread."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        end_browser()


def open_blank(context: BrowserContext, url: str) -> Page:
    """A page without what an earlier test has stored for that server; scripts and pictures stay cached."""
    page = context.new_page()
    parts = urlsplit(url)
    if parts.netloc:
        session = context.new_cdp_session(page)
        origin = f"{parts.scheme}://{parts.netloc}"
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()
    return page


def take_context(chromium: Browser, words: Mapping[str, Any]) -> tuple[str, BrowserContext]:
    """A context with these settings (see `open_page`) and their name; if any, one that a test gave back."""
    chosen = {
        "width": 1440,
        "height": 900,
        "locale": "en-GB",
        "dark": False,
        "reduced_motion": True,
        **words,
    }
    settings = str(chosen)
    if _idle.get(settings):
        return settings, _idle[settings].pop()
    context = chromium.new_context(
        viewport={"width": chosen.pop("width"), "height": chosen.pop("height")},
        locale=chosen.pop("locale"),
        color_scheme="dark" if chosen.pop("dark") else "light",
        reduced_motion="reduce" if chosen.pop("reduced_motion") else "no-preference",
        accept_downloads=True,
    )
    assert not chosen, f"unknown settings: {chosen}"
    context.add_init_script(COUNT)
    context.set_default_timeout(PATIENCE)
    return settings, context


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages: `open_page(url, width=360, height=740, locale="zh-CN", dark=True)`; `reduced_motion=False`.

    Pages of one test share nothing. Contexts are kept for later tests, since a new one takes a third longer
    to open a page. To look at many places, open one page and `go` from each to the next: that takes a tenth.

    At the end of the test, errors on the console, exceptions and requests to other hosts fail it. Refusals
    that a test provokes write to the console, too: clear `page.faults` after looking at them.
    """
    used: list[tuple[str, BrowserContext]] = []
    faults: list[str] = []

    def open_one(url: str, **words: Any) -> Page:
        settings, context = take_context(chromium, words)
        used.append((settings, context))
        page = open_blank(context, url)
        watch(page, url, faults)
        page.faults = faults  # type: ignore[attr-defined]
        page.goto(url)
        return page

    yield open_one
    for settings, context in used:
        for page in context.pages:
            page.close()
        context.clear_permissions()
        context.set_offline(False)
        _idle.setdefault(settings, []).append(context)
    assert not faults, "\n".join(faults)


@dataclass
class Seen:
    """A page at rest that tests look at, one after the other."""

    page: Page
    faults: list[str]
    fresh: str = ""  # what it had stored and how it looked when the test came to its place
    dark: bool = False

    def show(self, width: int, height: int, dark: bool) -> None:
        """In a window of this size, in light or dark colours."""
        if self.page.viewport_size != (size := {"width": width, "height": height}):
            self.page.set_viewport_size(size)  # type: ignore[arg-type]
        if self.dark != dark:
            self.page.emulate_media(color_scheme="dark" if dark else "light")
            self.dark = dark


# What is no part of the selection: what the page has stored, its language and colours, and open dialogs.
APART = """() => {
    const { lang, dataset } = document.documentElement;
    const open = [...document.querySelectorAll('dialog[open]')].length;
    return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, lang, { ...dataset }, open]);
}"""


def leave(page: Page, url: str) -> None:
    """Away from what an earlier test looked at: the view is made anew, and nothing is pointed at."""
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement?.blur()")
    (view,) = re.findall(r"view=(\w+)", urlsplit(url).fragment)
    if chosen(page).get("view") == view:
        go(page, url.replace(f"view={view}", "view=lines" if view == "text" else "view=text"))
        settle(page)


@pytest.fixture
def look(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """As `open_page`, but the page may be one that earlier tests have looked at: that takes half the time.

    For tests that change nothing but what the address says: it is given back unless a test has failed, or has
    changed what the page stores, its language, its colours. The page is at rest. `width`, `height` and `dark`
    are changed in the page that is open.
    """
    used: list[tuple[tuple[str, str], Seen]] = []
    failed = request.session.testsfailed

    def look_at(
        url: str, *, width: int = 1440, height: int = 900, dark: bool = False, locale: str = "en-GB"
    ) -> Page:
        key = (urlsplit(url).netloc, locale)
        if _seen.get(key):
            seen = _seen[key].pop()
            seen.show(width, height, dark)
            leave(seen.page, url)
            go(seen.page, url)
        else:
            _, context = take_context(chromium, {"locale": locale})
            seen = Seen(open_blank(context, url), [])
            watch(seen.page, url, seen.faults)
            seen.show(width, height, dark)
            seen.page.goto(url)
        settle(seen.page)
        seen.fresh = seen.page.evaluate(APART)
        used.append((key, seen))
        return seen.page

    yield look_at
    faults = [fault for _, seen in used for fault in seen.faults]
    for key, seen in used:
        if not faults and request.session.testsfailed == failed and seen.page.evaluate(APART) == seen.fresh:
            _seen.setdefault(key, []).append(seen)
        else:
            seen.page.context.close()
    assert not faults, "\n".join(faults)


@pytest.fixture
def open_file(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open a file with the network off; errors and any request but the file itself fail the test.

    `open_file(path, "#view=walk", init=script)`: the script runs before the page's own.
    """
    contexts = []
    faults: list[str] = []

    def open_one(path: Path, hash: str = "", *, init: str = "", **words: Any) -> Page:
        settings = {"viewport": {"width": 1280, "height": 800}, **words}
        context = chromium.new_context(offline=True, **settings)
        contexts.append(context)
        context.add_init_script(f"{COUNT};{init}")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: message.type == "error" and faults.append(message.text))
        page.on(
            "request",
            lambda request: request.url.startswith(("file:", "blob:", "data:")) or faults.append(request.url),
        )
        page.goto(f"{path.as_uri()}{hash}")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert faults == []


def watch(page: Page, url: str, faults: list[str]) -> None:
    """Write down whatever a page does wrong."""
    parts = urlsplit(url)
    home = f"{parts.scheme}://{parts.netloc}" if parts.netloc else url.split("#")[0]  # a file is its own home

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(f"console: {message.text} ({message.location.get('url', '')})")

    def see(request: Request) -> None:
        if not request.url.startswith((home, "data:", "blob:")):
            faults.append(f"a request left for {request.url}")

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(f"exception: {error}"))
    page.on("request", see)
