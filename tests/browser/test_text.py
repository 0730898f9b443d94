"""Text: the colours of words are the weights of the recording."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from browser.waiting import measure_overflow
from browser.waiting import settle as settle_view

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


def weights_of(served: Any, name: str, place: int, head: int | None = None) -> np.ndarray:
    """(head, query, key), or (query, key)"""
    return np.asarray(served.library.get(served.ids[name]).maps[place].weights(head))


def token(page: Page, number: int, pane: int = 0) -> Locator:
    return page.locator(".passage").nth(pane).locator(f"[data-token='{number}']")


def settle(page: Page) -> None:
    settle_view(page)
    expect(page.locator(".text-largest")).not_to_have_text("")
    settle_view(page)


def darkness(page: Page, pane: int = 0) -> list[float]:
    """How far each token's ground is from white: 0 where there is none."""
    script = """element => [...element.querySelectorAll('.passage-token')].map(span => {
      const part = getComputedStyle(span).backgroundColor.match(/[\\d.]+/g).map(Number);
      return part[3] === 0 ? 0 : 765 - part[0] - part[1] - part[2];
    })"""
    found: list[float] = page.locator(".passage").nth(pane).evaluate(script)
    return found


def test_the_text_is_as_it_was_written(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="text", map=0, head=0, query=5))
    settle(page)
    text = served.library.get(served.ids["decoder"]).source.text
    words = [word for word in re.split(r"\s+", text) if word][:6]
    shown = page.locator(".passage").inner_text()
    for word in words:
        assert word in shown
    assert page.locator(".passage b").count() == 0  # markup in a token stays text
    assert token(page, 4).inner_text() == "⏎"


def test_words_are_the_darker_the_more_the_chosen_one_looks_at_them(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="text", map=1, head=3, query=15))
    settle(page)
    weights = weights_of(served, "decoder", 1, 3)[15]
    found = darkness(page)
    order = np.argsort(weights[:16])
    assert list(np.argsort(found[:16])) == order.tolist() or np.all(np.diff(np.array(found)[order]) >= 0)
    assert found[16:] == [0.0] * 8  # causal
    expect(token(page, 15)).to_have_attribute("aria-selected", "true")
    largest = float(page.locator(".text-largest").inner_text())
    assert abs(largest - weights.max()) < 6e-4
    token(page, 3).hover()
    settle(page)
    said = re.findall(r"([\d.]+(?:e\u2212\d+)?)$", page.locator(".text-readout").inner_text())[0]
    assert abs(float(said.replace("\u2212", "-")) - weights[3]) < 6e-4


def test_who_looks_at_it_and_what_all_look_at(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="text", map=0, head="mean"))
    settle(page)
    page.get_by_label("what attends to it").check()
    token(page, 4).click()
    settle(page)
    expect(page).to_have_url(re.compile("key=4"))
    column = weights_of(served, "decoder", 0).mean(axis=0)[:, 4]
    found = np.array(darkness(page))
    assert np.all(np.diff(found[np.argsort(column)]) >= 0)
    page.get_by_label("what all attend to").check()
    settle(page)
    mass = weights_of(served, "decoder", 0).mean(axis=0).sum(axis=0)
    assert abs(float(page.locator(".text-largest").inner_text()) - mass.max()) < 6e-3


def test_arrow_keys_choose_the_token(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="text", map=0, head=0, query=5))
    settle(page)
    page.locator(".passage").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("query=7"))
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile("query=0"))
    page.keyboard.press("ArrowDown")
    below = page.locator(".passage-token[aria-selected=true]")
    expect(below).not_to_have_attribute("data-token", "0")
    settle(page)
    first, below = token(page, 0).bounding_box(), below.bounding_box()
    assert first
    assert below
    assert below["y"] > first["y"] + first["height"] / 2  # the line below
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile("query=23"))


def test_two_texts_side_by_side_and_a_click_in_either(served: Any, look: Open) -> None:
    page = look(served.address("translation", view="text", map=2, head=1, query=4))
    settle(page)
    headings = page.locator(".text-heading").all_inner_texts()
    assert "Source" in headings[0]
    assert "Target" in headings[1]
    panes = [page.locator(".text-pane").nth(pane).bounding_box() for pane in (0, 1)]
    assert panes[0]
    assert panes[1]
    assert abs(panes[0]["y"] - panes[1]["y"]) < 2
    weights = weights_of(served, "translation", 2, 1)
    found = np.array(darkness(page, 0))
    assert np.all(np.diff(found[np.argsort(weights[4])]) >= 0)
    assert darkness(page, 1) == [0.0] * 9
    token(page, 2, 0).click()
    settle(page)
    found = np.array(darkness(page, 1))
    assert np.all(np.diff(found[np.argsort(weights[:, 2])]) >= 0)
    assert darkness(page, 0) == [0.0] * 6


def test_texts_are_stacked_on_a_narrow_screen(served: Any, look: Open) -> None:
    page = look(
        served.address("translation", view="text", map=2, head=0, query=1),
        width=360,
        height=740,
        locale="zh-CN",
    )
    settle(page)
    panes = [page.locator(".text-pane").nth(pane).bounding_box() for pane in (0, 1)]
    assert panes[0]
    assert panes[1]
    assert panes[1]["y"] >= panes[0]["y"] + panes[0]["height"]
    assert "源文" in page.locator(".text-heading").first.inner_text()
    assert measure_overflow(page) <= 0


def test_layer_and_model_averages(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="text", map=1, head="model", query=10))
    settle(page)
    layers = [weights_of(served, "decoder", layer).mean(axis=0) for layer in range(3)]
    wanted = np.mean(layers, axis=0)[10].max()
    assert abs(float(page.locator(".text-largest").inner_text()) - wanted) < 4e-3


def test_long_texts_are_read_through_a_window(served: Any, look: Open) -> None:
    page = look(served.address("long", view="text", map=0, head=1, query=2900))
    settle(page)
    assert page.locator(".passage-token").count() == 2000
    row: Any = served.library.get(served.ids["long"]).maps[0].weights(1, queries=slice(2900, 2901))
    weights = np.asarray(row)[0]
    best = int(weights.argmax())
    readout = page.locator(".text-readout")
    expect(readout).to_contain_text(f"({best})")
    expect(readout).not_to_contain_text("…")  # tokens beyond the window have names, too
    page.get_by_role("button", name="Earlier").click()
    settle(page)
    assert page.locator(".passage-token").first.get_attribute("data-token") == "0"
    page.locator(".text-strip").click(position={"x": 5, "y": 7})
    settle(page)
    expect(page).to_have_url(re.compile("text.queries=0"))


def test_the_saved_picture_shows_the_same_numbers(served: Any, look: Open, tmp_path: Path) -> None:
    page = look(served.address("decoder", view="text", map=1, head=3, query=15), dark=True)
    settle(page)
    with page.expect_download() as download:
        page.locator("button:has-text('SVG')").click()
    path = tmp_path / "text.svg"
    download.value.save_as(path)
    weights = weights_of(served, "decoder", 1, 3)[15]
    words = [
        each
        for each in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
        if each.get("data-token")
    ]
    assert len(words) == 24
    for word in words:
        assert abs(float(word.get("data-value", "nan")) - weights[int(word.get("data-token", -1))]) < 1e-6
