"""Recordings in real notebooks, JupyterLab and marimo, in a real browser."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.waiting import PATIENCE
from glassformer import bundle
from glassformer.render.html.export import EMBEDDED
from inventions import invent_decoder
from ports import hold_port

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.first,
    pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: npm run build in web/"),
]

OPENING = """
import glassformer as gf
from glassformer import bundle
r = bundle.open({path!r})
"""


@contextmanager
def running(words: list[str], address: str, folder: Path) -> Iterator[None]:
    """A server of somebody else, ended with everything that it started."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
    }
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            words, cwd=folder, stdout=log, stderr=log, env=environment, start_new_session=True
        )
        try:
            wait_for_answer(address, process, folder / "server.log")
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for_answer(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until a server answers; one that ends instead fails the test with what it wrote."""
    for _ in range(4 * PATIENCE // 1000):
        try:
            urllib.request.urlopen(address, timeout=30).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.25)
    raise AssertionError(f"{address} does not answer: {log.read_text()}")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "one.bundle"
    bundle.save(invent_decoder(), path)
    return path


def write_notebook(path: Path, cells: list[str]) -> None:
    document = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": [cell]}
            for cell in cells
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(document))


def run_cell(page: Page, number: int) -> None:
    """Run one cell of JupyterLab and wait until it has run."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    for _ in range(10):  # JupyterLab shows its cells before it listens to keys, and does not say when it does
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        with suppress(AssertionError):
            expect(prompt).not_to_have_text(before, timeout=PATIENCE / 10)
            break
    expect(prompt).not_to_have_text(before)
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"))


def read_until(page: Page, number: int, text: str) -> None:
    """Run a cell until it prints a text: what a page says reaches the kernel between two cells."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    for _ in range(100):
        run_cell(page, number)
        if text in cell.inner_text():
            return
        page.wait_for_timeout(250)
    expect(cell).to_contain_text(text)


def test_jupyterlab(chromium: Browser, recording: Path, tmp_path: Path) -> None:
    write_notebook(
        tmp_path / "book.ipynb",
        [
            OPENING.format(path=str(recording)) + "w = gf.show(r, height=520, view='lines'); w",
            "w.select(layer=2, head=3, view='heatmap')",
            "print('chosen', w.chosen.get('head'), w.chosen.get('place'))",
            "r",  # a bare recording at the end of a cell
        ],
    )
    port = hold_port()
    words = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    words += ["--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", "--LabApp.news_url="]
    with running(words, f"http://localhost:{port}/api", tmp_path):
        page = chromium.new_page(viewport={"width": 1400, "height": 1200})
        page.set_default_timeout(PATIENCE)
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"http://localhost:{port}/lab/tree/book.ipynb")
        expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(4)

        expect(
            page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        ).to_be_visible()  # the kernel has started
        run_cell(page, 0)
        first = page.locator(".jp-CodeCell").nth(0)
        expect(first.get_by_role("tab", name="Lines", exact=True)).to_have_attribute("aria-selected", "true")

        read_until(page, 2, "chosen 0 decoder.self.0")  # what the page opened with has reached Python

        run_cell(page, 1)  # from Python to the page
        expect(first.get_by_role("tab", name="Heat map", exact=True)).to_have_attribute(
            "aria-selected", "true"
        )
        expect(first.locator(".view-host")).to_contain_text(re.compile("layer 2", re.IGNORECASE))

        first.locator('[data-head="1"]').click()  # from the page to Python
        read_until(page, 2, "chosen 1 decoder.self.2")

        run_cell(page, 0)  # run again: a new widget in its place
        expect(first.get_by_role("tab", name="Lines", exact=True)).to_be_visible()
        run_cell(page, 3)  # a second widget on the same page
        expect(
            page.locator(".jp-CodeCell").nth(3).get_by_role("tab", name="Heat map", exact=True)
        ).to_be_visible()
        page.close()
    assert faults == []


def test_marimo(chromium: Browser, recording: Path, tmp_path: Path) -> None:
    opening = OPENING.format(path=str(recording)).strip().replace("\n", "\n    ")
    (tmp_path / "app.py").write_text(f"""import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    {opening}
    w = mo.ui.anywidget(gf.show(r, height=520, view="heatmap"))
    w
    return (mo, w)

@app.cell
def _(mo, w):
    mo.md("chosen " + w.value["selection"])
    return ()

if __name__ == "__main__":
    app.run()
""")
    port = hold_port()
    words = [sys.executable, "-m", "marimo", "run", "app.py", "--headless", f"--port={port}", "--no-token"]
    with running(words, f"http://localhost:{port}/health", tmp_path):
        page = chromium.new_page(viewport={"width": 1400, "height": 1200})
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://localhost:{port}")
        expect(page.get_by_role("tab", name="Heat map", exact=True)).to_be_visible()
        page.get_by_role("tab", name="Numbers", exact=True).click()
        expect(page.get_by_text(re.compile("chosen .*view=numbers"))).to_be_visible()
        page.close()
