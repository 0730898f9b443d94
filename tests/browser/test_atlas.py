"""The atlas in the page: found from a recording and the header, searched in words, opened at an example."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from atlases.invented import invent_atlas
from browser.waiting import settle
from glassformer.atlases import Atlas
from glassformer.render.html.export import export

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=\"document.title='broken in'\">"


def save_atlas(served: Any, name: str, model: str = "invented", *, seed: int = 0) -> None:
    invent_atlas(model, layers=2, seed=seed).save(served.runs.with_name("atlases") / name)


@pytest.mark.parametrize(("locale", "dark", "width"), [("en-GB", False, 1440), ("zh-CN", True, 360)])
def test_a_hostile_atlas_has_nothing_for_axe(
    served: Any, open_page: Callable[..., Page], locale: str, dark: bool, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    save_atlas(served, "hostile", HOSTILE)
    page = open_page(
        served.address(study="hostile", place="decoder.self.0", head=3),
        locale=locale,
        dark=dark,
        width=width,
    )
    expect(page.locator(".example")).to_have_count(2)
    settle(page)
    found = Axe().run(page).response["violations"]
    assert not found, [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_from_the_header_to_a_head_and_its_example(served: Any, open_page: Callable[..., Page]) -> None:
    save_atlas(served, "mine")
    save_atlas(served, "other", seed=1)
    page = open_page(served.address("decoder", view="heatmap"))
    page.locator("[data-action=atlas]").select_option("mine")
    page.locator(".atlas-view input[name=search]").fill("heads that look at the object of a verb")
    expect(page.locator(".atlas-view > [role=status]")).to_contain_text("looks at the object of a verb")
    page.locator(".found .link").first.click()
    expect(page.locator(".card-type")).to_contain_text("looks at the object of a verb")
    expect(page).to_have_url(re.compile("atlas.search="))
    chosen = page.locator('.head-cell[aria-pressed="true"]')
    chosen.focus()
    page.keyboard.press("ArrowUp" if "layer 1" in page.locator(".card h2").inner_text() else "ArrowDown")
    expect(page.locator('.head-cell[aria-pressed="true"]')).to_be_focused()
    page.locator(".labelled select").last.select_option("other")
    expect(page.locator(".pairs tbody tr").first).to_be_visible()
    wide = page.locator(".scroll:has(> .pairs)").evaluate("part => [part.scrollWidth, part.clientWidth]")
    assert wide[0] <= wide[1]  # all columns, the other model's type and the change of a score included
    page.locator(".example").first.click()
    expect(page.locator(".view-heatmap")).to_have_count(1)
    expect(page).to_have_url(re.compile("recording=mine:example:"))
    page.go_back()
    expect(page.locator(".pairs tbody tr").first).to_be_visible()
    expect(page).to_have_url(re.compile("atlas.beside=other"))


def test_a_recording_leads_to_the_card_of_its_head(served: Any, open_page: Callable[..., Page]) -> None:
    save_atlas(served, "of-the-decoder", served.library.get(served.ids["decoder"]).model)
    page = open_page(served.address("decoder", view="heatmap", place="decoder.self.1", head=1))
    page.locator("[data-action=usually]").click()
    expect(page.locator(".card h2")).to_contain_text("layer 1, self-attention, head 1")
    wide = page.locator(".scroll:has(> .scores)").evaluate("part => [part.scrollWidth, part.clientWidth]")
    assert wide[0] <= wide[1]  # all columns


def test_the_file_of_an_atlas_opens_its_examples(tmp_path: Path, open_file: Callable[..., Page]) -> None:
    atlas: Atlas = invent_atlas(layers=1)
    page = open_file(export(atlas, tmp_path / "atlas.html"))
    page.locator(".head-cell").nth(1).click()
    page.locator(".example").first.click()
    expect(page.locator(".view-heatmap")).to_have_count(1)
