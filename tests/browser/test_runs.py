"""Training runs in the page: curves and heads, followed while the run is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import write_training_run
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
    expect(page.locator("[data-curve]").first).to_be_attached()
    settle(page)
    found = Axe().run(page, context={"include": [[".view-host"]]}).response["violations"]
    assert not found, [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found]
    assert page.title() != "broken in"


def test_a_run_is_followed_while_it_is_written(served: Any, open_page: Callable[..., Page]) -> None:
    write_training_run(served.runs / "growing", last=20)
    page = open_page(served.address(run="growing", view="curves"))
    state = page.locator("[data-run=growing] .state")
    expect(state).to_contain_text("step 20")
    write_training_run(served.runs / "growing", first=21, last=40, text="The loss jumped.")
    expect(state).to_contain_text("step 40")  # without a reload
    expect(page.locator(".events")).to_contain_text("The loss jumped.")
    page.get_by_role("button", name="Show the heads of this map").first.click()
    expect(page.locator(".view-learning .cells svg")).to_be_visible()
    expect(page.locator(".view-learning .alarms")).to_contain_text("The loss jumped.")
