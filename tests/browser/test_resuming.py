"""A run outlives the page that started it: a reload finds it again, and a second window shows it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.waiting import chosen, settle
from rehearsal import Rehearsal

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]


def start(working: Any, rehearsal: Rehearsal, open_page: OpenPage) -> Page:
    """A page whose run has come halfway."""
    page = open_page(working.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-field=text]").fill("Foxes run")
    page.locator("[data-action=run]").click()
    rehearsal.reached = 3
    expect(page.locator("[data-part=progress]")).to_have_attribute("data-stage", "running")
    return page


def test_a_reload_finds_its_run_again(working: Any, rehearsal: Rehearsal, open_page: OpenPage) -> None:
    page = start(working, rehearsal, open_page)
    page.reload()
    settle(page)
    expect(page.locator("[data-part=progress]")).to_have_attribute("data-stage", "running")
    expect(page.locator("[data-field=text]")).to_have_value("Foxes run")
    expect(page.locator("[data-action=run]")).to_be_disabled()
    assert chosen(page)["recording"] == working.ids["decoder"]
    rehearsal.ends = "done"
    page.wait_for_url(re.compile(working.ids["translation"]))
    expect(page.locator("[data-part=progress]")).to_have_count(0)
    assert len(rehearsal.requests) == 1


def test_a_run_found_again_can_be_cancelled(working: Any, rehearsal: Rehearsal, open_page: OpenPage) -> None:
    page = start(working, rehearsal, open_page)
    page.reload()
    settle(page)
    page.locator("[data-part=progress] [data-action=cancel]").click()
    expect(page.locator("[data-part=progress]")).to_have_count(0)
    assert rehearsal.cancelled.wait(300)


def test_a_second_window_shows_the_run_and_offers_its_recording(
    working: Any, rehearsal: Rehearsal, open_page: OpenPage
) -> None:
    start(working, rehearsal, open_page)
    other = open_page(working.address("single", view="lines"))  # a context of its own: another window
    settle(other)
    expect(other.locator("[data-part=other-progress]")).to_contain_text("zoo/translator")
    expect(other.locator("[data-action=run]")).to_be_enabled()
    rehearsal.ends = "done"
    other.locator("[data-action=open-result]").click()
    other.wait_for_url(re.compile(working.ids["translation"]))
    expect(other.locator("[data-notice=other-run]")).to_have_count(0)


def test_an_address_without_a_recording_is_followed(working: Any, open_page: OpenPage) -> None:
    page = open_page(working.address("decoder", view="heatmap", map=2, head=1))
    settle(page)
    page.evaluate("location.hash = 'view=lines'")
    page.wait_for_url(re.compile("view=lines"))
    expect(page.locator(".view-lines")).to_be_visible()
    page.wait_for_url(re.compile(working.ids["decoder"]))
    assert {name: chosen(page)[name] for name in ("view", "place", "head")} == {
        "view": "lines", "place": "decoder.self.2", "head": "1",
    }  # fmt: skip
    page.go_back()
    expect(page.locator(".view-heatmap")).to_be_visible()
