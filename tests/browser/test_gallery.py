"""The first minute: the page opens on what it shows best, and every example opens exactly at its point."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
import uvicorn
from playwright.sync_api import Page, expect

from glassformer.show.library import Library
from glassformer.show.server.app import create_app
from glassformer.show.server.settings import STATIC, Settings
from glassformer.workbench import LocalWorkbench, WorkbenchSettings
from glassformer.workbench.gallery import PIECES
from glassformer.workbench.presets import read_presets

pytestmark = pytest.mark.browser

PRESETS = {preset.id: preset for preset in read_presets()}
Open = Callable[..., Page]


@dataclass
class Zoo:
    """A running server with all that ships."""

    url: str
    library: Library


@pytest.fixture(scope="module")
def zoo(served: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    """The page as it is started. Without a built one `served` has skipped already."""
    library = Library(tmp_path_factory.mktemp("made"))
    workbench = LocalWorkbench(
        WorkbenchSettings(offline=True),
        folder=library.folder,
        add=lambda path, request: library.adopt(path, request=request),
    )
    static = Path(os.environ.get("GLASSFORMER_STATIC", STATIC))
    app = create_app(library, workbench, Settings(static=static))
    config = uvicorn.Config(app, port=0, log_level="warning", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Zoo(f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}", library)
    server.should_exit = True
    thread.join(10)
    workbench.close()
    library.close()


def read_address(page: Page) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(page.url).fragment))


def test_the_page_opens_on_its_best_picture(zoo: Zoo, open_page: Open) -> None:
    page = open_page(zoo.url)
    page.wait_for_url(re.compile("recording=red-car"))
    first = PRESETS[PIECES[0].preset]
    assert first.selection is not None
    assert first.selection.items() <= read_address(page).items()
    expect(page.get_by_role("tab", name="Lines")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".preset-note")).to_contain_text(first.point.en)
    expect(page.locator("[data-action=preset]")).to_have_value(first.id)
    expect(page.locator(".view-host")).to_contain_text("voiture")


def test_a_link_goes_before_the_example(zoo: Zoo, open_page: Open) -> None:
    red_car = zoo.library.find_preset("red-car")
    page = open_page(f"{zoo.url}/#recording={red_car}&view=heatmap&map=2&head=5")
    page.wait_for_url(re.compile("view=heatmap"))
    expect(page.get_by_role("tab", name="Heat map")).to_have_attribute("aria-selected", "true")
    chosen = read_address(page)
    assert (chosen["map"], chosen["head"]) == ("2", "5")


def test_first_in_chinese_on_a_telephone(zoo: Zoo, open_page: Open) -> None:
    page = open_page(zoo.url, width=360, height=740, locale="zh-CN", dark=True)
    expect(page.locator(".preset-note")).to_contain_text(PRESETS["red-car"].point.zh)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", PRESETS)
def test_an_example_opens_at_its_point(name: str, zoo: Zoo, open_page: Open) -> None:
    preset = PRESETS[name]
    page = open_page(zoo.url)
    page.wait_for_url(re.compile("recording="))
    page.locator("[data-action=preset]").select_option(name)
    shipped = zoo.library.find_preset(name)
    note = page.locator(".preset-note")
    expect(page.locator("[data-part=progress]")).to_have_count(0, timeout=90_000)
    expect(note).to_contain_text(preset.point.en, timeout=90_000)
    page.wait_for_url(re.compile(f"recording={shipped or 'zoo-'}"))
    assert preset.selection is not None
    assert preset.selection.items() <= read_address(page).items()
    recording = zoo.library.get(read_address(page)["recording"])
    assert recording.model == preset.model
    assert recording.source.text == preset.text
    expect(page.locator(".view-host")).not_to_be_empty()
    expect(page.locator("[data-field=text]")).to_have_value(preset.text)


def test_the_list_of_recordings_opens_the_example(zoo: Zoo, open_page: Open) -> None:
    page = open_page(f"{zoo.url}/#recording={zoo.library.find_preset('red-car')}")
    expect(page.locator(".preset-note")).to_be_visible()
    fox = zoo.library.find_preset("fox")
    assert fox is not None
    page.get_by_role("combobox", name="Recording").select_option(fox)
    page.wait_for_url(re.compile(f"recording={fox}"))
    expect(page.locator(".preset-note")).to_contain_text(PRESETS["fox"].point.en)
    expect(page.locator(".view-host")).to_contain_text("0.979")  # j looks at um, under the crosshair


def test_the_weight_that_a_point_names_is_on_the_page(zoo: Zoo, open_page: Open) -> None:
    page = open_page(zoo.url)
    page.wait_for_url(re.compile("recording="))
    page.locator("[data-action=preset]").select_option("animal-street")
    expect(page.locator(".view-host")).to_contain_text("animal 0.62")


def test_every_view_shows_the_first_recording(zoo: Zoo, open_page: Open) -> None:
    page = open_page(f"{zoo.url}/#recording={zoo.library.find_preset('red-car')}")
    tabs = page.get_by_role("tablist").first.get_by_role("tab")
    expect(tabs.nth(10)).to_be_visible()
    for index in range(tabs.count()):
        tabs.nth(index).click()
        expect(tabs.nth(index)).to_have_attribute("aria-selected", "true")
        expect(page.locator(".view-host")).not_to_be_empty()
        expect(page.get_by_text("cannot show this recording")).to_have_count(0)
