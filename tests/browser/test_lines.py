"""Lines: what is drawn between the tokens is what the recording says."""

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

READ_PIXEL = """([canvas, x, y]) => {
  const ratio = devicePixelRatio;
  return [...canvas.getContext('2d').getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data];
}"""


def weights_of(served: Any, name: str, place: int) -> np.ndarray:
    """(head, query, key)"""
    return served.library.get(served.ids[name]).maps[place].weights()


def token(page: Page, axis: str, row: int) -> Locator:
    return page.locator(f".columns-list[data-axis={axis}] [data-row='{row}']")


def settle(page: Page) -> None:
    """Weights are there and drawn, exact ones included."""
    settle_view(page)
    expect(page.locator(".lines-hidden")).to_contain_text(re.compile("weight|权重"))
    settle_view(page)


def pixel(page: Page, canvas: str, x: float, y: float) -> list[int]:
    handle = page.locator(canvas).element_handle()
    found: list[int] = page.evaluate(READ_PIXEL, [handle, x, y])
    return found


def middle_of(page: Page, axis: str, row: int) -> float:
    """The y of a row in the canvas."""
    box, frame = token(page, axis, row).bounding_box(), page.locator(".lines-front").bounding_box()
    assert box is not None
    assert frame is not None
    return box["y"] + box["height"] / 2 - frame["y"]


def test_tokens_stand_in_order_under_their_labels(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="lines", map=0, head=0))
    settle(page)
    shown = page.request.get(f"{served.url}/api/recordings/{served.ids['decoder']}/tokens/source").json()[
        "shown"
    ]
    for axis in ("query", "key"):
        names = page.locator(f".columns-list[data-axis={axis}] .columns-text").all_text_contents()
        assert names == shown
    assert "Query" in page.locator(".lines-axis").first.inner_text()
    assert "Key" in page.locator(".lines-axis").last.inner_text()


def test_a_line_is_as_opaque_as_its_weight(served: Any, look: Open) -> None:
    """At their right ends lines are apart, so a pixel there is one line."""
    page = look(served.address("decoder", view="lines", map=1, head=2, query=9, lines__threshold=0))
    settle(page)
    weights = weights_of(served, "decoder", 1)[2, 9]
    lane = page.locator(".columns-list[data-axis=key]").bounding_box()
    frame = page.locator(".lines-front").bounding_box()
    assert lane is not None
    assert frame is not None
    end = lane["x"] - frame["x"]
    for key in np.argsort(weights)[-4:].tolist():
        y = middle_of(page, "key", key)
        line = max(pixel(page, ".lines-front", end - 19, y + shift)[3] for shift in (-1, 0, 1))
        box = pixel(page, ".lines-front", end - 9, y)
        assert abs(line - 255 * weights[key]) <= 4, f"key {key}"
        assert abs(box[3] - 255 * weights[key]) <= 2, f"key {key}"


def test_pointing_at_a_token_writes_its_weights(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="lines", map=2, head="mean"))
    settle(page)
    weights = weights_of(served, "decoder", 2).mean(axis=0)
    token(page, "query", 12).hover()
    expect(token(page, "key", 12).locator(".columns-value")).not_to_be_empty()
    settle(page)
    for key in range(13):
        text = token(page, "key", key).locator(".columns-value").inner_text()
        assert abs(float(text or 0) - weights[12, key]) <= 0.006
    assert token(page, "key", 13).locator(".columns-value").inner_text() == ""  # causal: not seen
    token(page, "key", 3).hover()
    expect(token(page, "query", 3).locator(".columns-value")).not_to_be_empty()
    settle(page)
    for query in range(3, 9):
        text = token(page, "query", query).locator(".columns-value").inner_text()
        assert abs(float(text or 0) - weights[query, 3]) <= 0.006
    best = int(weights[:, 3].argmax())
    names = page.locator(".columns-list[data-axis=query] .columns-text").all_text_contents()
    assert names[best] in page.locator(".lines-readout").inner_text()


def test_a_threshold_hides_weak_lines_and_says_how_much(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="lines", map=0, head="mean", lines__threshold=0.1))
    settle(page)
    weights = weights_of(served, "decoder", 0)
    wanted = 100 * weights[weights < 0.1].sum() / weights.sum()
    said = float(re.findall(r"[\d.]+", page.locator(".lines-hidden").inner_text())[0])
    assert abs(said - wanted) < 1.0  # bytes tell weights apart by about 0.003
    slider = page.locator(".lines-slider input")
    slider.focus()
    slider.press("Home")
    expect(page.locator(".lines-hidden")).to_contain_text("0.0 %")
    expect(page).to_have_url(re.compile(r"lines\.threshold=0\.0000"))


def test_heads_are_chosen_by_click_shift_and_keyboard(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="lines", map=0, head=0))
    settle(page)
    heads = page.locator(".headrow-head")

    def expect_pressed(*numbers: int) -> None:
        for number in range(4):
            expect(heads.nth(number)).to_have_attribute("aria-pressed", str(number in numbers).lower())

    expect_pressed(0)
    heads.nth(2).click()
    expect_pressed(2)
    expect(page).to_have_url(re.compile(r"head=2"))
    heads.nth(3).click(modifiers=["Shift"])
    expect_pressed(2, 3)
    page.get_by_role("button", name="None").click()
    expect_pressed()
    expect(page.locator(".lines-readout")).to_have_text("No head is chosen.")
    page.get_by_role("button", name="All", exact=True).click()
    expect_pressed(0, 1, 2, 3)
    heads.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect_pressed(1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    expect_pressed(1, 2)
    expect(page).to_have_url(re.compile("lines.heads=1"))
    page.reload()
    settle(page)
    expect_pressed(1, 2)


def test_a_click_keeps_a_token_and_a_link_brings_it_back(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="lines", map=0, head=0))
    settle(page)
    token(page, "query", 7).click()
    page.mouse.move(5, 5)
    expect(token(page, "query", 7)).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"query=7"))
    page.reload()
    settle(page)
    expect(token(page, "query", 7)).to_have_attribute("aria-selected", "true")
    expect(token(page, "key", 0).locator(".columns-value")).not_to_be_empty()
    page.locator(".columns-list[data-axis=query]").focus()
    page.keyboard.press("Escape")
    expect(token(page, "query", 7)).to_have_attribute("aria-selected", "false")


def test_the_keyboard_walks_along_and_across(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="lines", map=0, head=0))
    settle(page)
    page.locator(".columns-list[data-axis=query]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(token(page, "query", 3)).to_have_attribute("data-focus", "")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"query=3"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    last = token(page, "key", 23)
    expect(last).to_have_attribute("data-focus", "")
    active = page.locator(".columns-list[data-axis=key]").get_attribute("aria-activedescendant")
    assert active == last.get_attribute("id")


def test_only_rows_in_view_exist(served: Any, look: Open) -> None:
    page = look(served.address("wide", view="lines", map=5, head="mean", query=120))
    settle(page)
    assert 10 < page.locator(".columns-list[data-axis=query] .columns-token").count() < 80
    expect(token(page, "query", 120)).to_be_visible()  # the chosen one is scrolled to
    weights = weights_of(served, "wide", 5).mean(axis=0)[120]
    text = token(page, "key", 118).locator(".columns-value").inner_text()
    assert abs(float(text or 0) - weights[118]) <= 0.001
    page.locator(".columns").evaluate("element => { element.scrollTop = 0 }")
    expect(token(page, "query", 0)).to_be_visible()
    expect(token(page, "query", 120)).to_have_count(0)


def test_long_maps_are_fetched_in_blocks_of_queries(served: Any, look: Open) -> None:
    page = look(served.address("long", view="lines", map=0, head=0))
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.url) if "/weights" in request.url else None)
    page.reload()
    settle(page)
    assert any("queries=0" in call for call in calls)
    page.locator(".columns").evaluate("element => { element.scrollTop = 2500 * 22 }")
    expect(token(page, "query", 2510)).to_be_visible()
    settle(page)
    idle = page.locator(".lines-readout").inner_text()
    token(page, "query", 2510).hover()
    expect(page.locator(".lines-readout")).not_to_have_text(idle)
    settle(page)
    weights = weights_of_row(served, 2510)
    text = token(page, "key", 2505).locator(".columns-value").inner_text()
    assert abs(float(text or 0) - weights[2505]) <= 0.001
    assert len(calls) < 12


def weights_of_row(served: Any, query: int) -> np.ndarray:
    row: Any = served.library.get(served.ids["long"]).maps[0].weights(0, queries=slice(query, query + 1))
    return np.asarray(row)[0]


def test_cross_attention_names_source_and_target(served: Any, look: Open) -> None:
    page = look(served.address("translation", view="lines", map=2, head=0, query=4))
    settle(page)
    assert "target" in page.locator(".lines-axis").first.inner_text()
    assert "source" in page.locator(".lines-axis").last.inner_text()
    assert page.locator(".columns-list[data-axis=key] .columns-token").count() == 6
    assert page.locator(".columns-list[data-axis=query] .columns-token").count() == 9
    weights = weights_of(served, "translation", 2)[0, 4]
    text = token(page, "key", 5).locator(".columns-value").inner_text()
    assert abs(float(text or 0) - weights[5]) <= 0.006


def test_the_saved_picture_has_every_line(served: Any, look: Open, tmp_path: Path) -> None:
    page = look(served.address("decoder", view="lines", map=1, head=1, lines__threshold=0.05))
    settle(page)
    with page.expect_download() as download:
        page.locator("[data-action=svg], button:has-text('SVG')").first.click()
    path = tmp_path / "lines.svg"
    download.value.save_as(path)
    tree = ElementTree.parse(path)
    drawn = {
        (int(each.get("data-query", -1)), int(each.get("data-key", -1))): float(each.get("stroke-opacity", 0))
        for each in tree.iter("{http://www.w3.org/2000/svg}path")
        if each.get("data-query") is not None
    }
    weights = weights_of(served, "decoder", 1)[1]
    sure = {(q, k) for q, k in zip(*np.nonzero(weights > 0.055), strict=True)}
    assert sure <= set(drawn)
    for (query, key), opacity in drawn.items():
        assert abs(opacity - weights[query, key]) < 0.005
    text = " ".join(each.text or "" for each in tree.iter("{http://www.w3.org/2000/svg}text"))
    assert "invented decoder" in text
    assert "layer 1" in text


@pytest.mark.parametrize("name", ["single", "decoder"])
def test_a_narrow_screen_in_chinese(served: Any, look: Open, name: str) -> None:
    page = look(
        served.address(name, view="lines", map=0, head=0), width=360, height=740, locale="zh-CN", dark=True
    )
    settle(page)
    assert "查询" in page.locator(".lines-axis").first.inner_text()
    assert measure_overflow(page) <= 0
    boxes = [page.locator(f".columns-list[data-axis={axis}]").bounding_box() for axis in ("query", "key")]
    assert boxes[0]
    assert boxes[1]
    assert boxes[1]["x"] - boxes[0]["x"] - boxes[0]["width"] >= 60  # room for lines
