"""Training runs in the page: curves and heads, followed while the run is written."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import write_probes, write_training_run
from browser.waiting import settle

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=\"document.title='broken in'\">"


@pytest.mark.parametrize(("view", "locale"), [("curves", "en-GB"), ("learning", "zh-CN")])
def test_a_view_of_a_hostile_run(
    served: Any, open_page: Callable[..., Page], view: str, locale: str, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    write_training_run(served.runs / "<b onclick=x>", text=HOSTILE)
    page = open_page(served.address(run="%3Cb%20onclick%3Dx%3E", view=view), locale=locale)
    expect(page.locator(f".view-host > .view-{view}")).to_have_count(1)
    expect(page.locator(".chart svg").first).to_be_attached()
    settle(page)
    found = Axe().run(page, context={"include": [[".view-host"]]}).response["violations"]
    assert not found, [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found]
    assert page.title() == "<b onclick=x> – Glassformer"


# A process that trains, as far as a page can tell: each line on its input is the last step to write.
TRAINING = """
import sys
from pathlib import Path
from glassformer.place import Place
from glassformer.runlog import AlarmRecord, Event, RunWriter

place = Place("decoder", "self", 1)
with RunWriter(Path(sys.argv[1])) as writer:
    writer.write_event(Event(0, "started", "It began."))
    step = 0
    for line in sys.stdin:
        first, step = step + 1, int(line)
        writer.write_scalars((each, {"loss": 4 / each, "rate": 1e-3}) for each in range(first, step + 1))
        for look in range(first + 9, step + 1, 10):
            writer.write_heads(look, {place: {"entropy_share": [1 / look, 0.5]}})
        record = AlarmRecord(step, "dead_heads", first, step, {place: (1,)})
        writer.write_event(Event(step, "alarm", f"Seen at {step}.", alarm=record.to_json()))
        print(step, flush=True)
    writer.write_event(Event(step, "finished", "It is done."))
"""


@contextmanager
def training(folder: Path) -> Iterator[Callable[[int], None]]:
    """A process that writes a run; call what is given to have it write up to a step."""
    command = [sys.executable, "-c", TRAINING, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def write(step: int) -> None:
            stdin.write(f"{step}\n")
            stdin.flush()
            assert stdout.readline() == f"{step}\n"

        try:
            yield write
        finally:
            process.stdin.close()
            process.wait()


def test_a_run_is_followed_while_a_process_writes_it(served: Any, open_page: Callable[..., Page]) -> None:
    with training(served.runs / "growing") as write:
        write(20)
        page = open_page(served.address(run="growing", view="curves"))
        run = page.locator("[data-run=growing]")
        expect(run).to_contain_text("20 steps")
        expect(run).to_have_attribute("data-state", "running")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        write(40)
        expect(run).to_contain_text("40 steps")  # without a reload
        expect(page.locator(".alarms li").first).to_contain_text("Seen at 40.")
        page.get_by_role("button", name="Decoder, layer 1").first.click()
        expect(page.locator(".view-learning .cells svg")).to_be_visible()
        write(60)
        expect(page.locator(".view-learning .alarms li").first).to_contain_text("Seen at 60.")
        assert not [url for url in asked if url.endswith("/api/runs/growing")]  # told, not asked
    page.get_by_role("tab", name="Training curves").click()
    expect(run).to_have_attribute("data-state", "finished")


def test_training_time_moves_while_the_view_and_its_place_stay(
    served: Any, open_page: Callable[..., Page], invented: dict[str, Path]
) -> None:
    write_training_run(served.runs / "probed")
    write_probes(served.runs / "probed", invented["decoder"])
    page = open_page(served.address(run="probed", view="curves"))
    page.locator("[data-action=watch-training]").click()
    slider, where = page.locator("[data-action=training-step]"), page.locator(".training-time output")
    expect(where).to_contain_text("60")
    for view, drawn in (("heatmap", ".heat-cells canvas"), ("walk", ".walk-title")):
        page.locator(f".pictures [data-name={view}]").click()
        slider.fill("1")
        page.wait_for_url(re.compile(f"recording=probed:20:0&view={view}"))
        expect(where).to_contain_text("20")
        expect(page.locator(drawn).first).to_be_visible()
        slider.fill("2")
        page.wait_for_url(re.compile("recording=probed:60:0"))
    settle(page)
    page.locator(".walk-top button").nth(
        3
    ).click()  # the next step of the walk stays while training time moves
    page.wait_for_url(re.compile(r"walk\.step="))
    step = re.search(r"walk\.step=[^&]*", page.url)
    slider.fill("0")
    page.wait_for_url(re.compile("recording=probed:0:0"))
    assert step is not None
    assert step[0] in page.url
    expect(page.locator(".view:not(.view-still) .walk-title")).not_to_be_empty()
