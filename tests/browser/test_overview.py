"""The overview in Chromium: thumbnails against the recording, order and filter against scores, ways in."""

import json
import re
import urllib.request
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Served
from browser.test_heatmap import read_pixels
from browser.test_heatmap import settle as wait_for_map
from browser.waiting import chosen, measure_overflow, rest
from glassformer.messages import literal

pytestmark = pytest.mark.browser


def scroller(page: Page) -> Locator:
    return page.locator(".over-scroll")


def count(page: Page) -> Locator:
    return page.locator(".over-filter output.over-count")


def settle(page: Page, all_heads: int) -> None:
    """Until scores and thumbnails are here and drawn."""
    rest(page)
    expect(count(page)).to_have_text(re.compile(rf"\d+ of {all_heads} heads"))
    rest(page)


def ask(served: Served, path: str) -> Any:
    with urllib.request.urlopen(f"{served.url}/api/{path}") as answer:
        return json.load(answer)


def scores(served: Served, name: str, metric: str) -> dict[tuple[int, int], float]:
    """By map and head."""
    answer = ask(served, f"recordings/{served.ids[name]}/scores/{metric}?over=head")
    parts = enumerate(answer["parts"])
    return {(map, head): value for map, part in parts for head, value in enumerate(part["values"])}


def ranking(page: Page) -> list[tuple[int, int]]:
    """Layers and heads as the data table lists them."""
    page.get_by_role("button", name=re.compile("table", re.IGNORECASE)).first.click()
    rows = page.get_by_role("dialog").locator("tbody tr")
    expect(rows.first).to_be_visible()
    found = [row.locator("td, th").all_inner_texts() for row in rows.all()]
    page.keyboard.press("Escape")
    return [(int(cells[2]), int(cells[3])) for cells in found]


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_the_thumbnails(served: Served, look: Callable[..., Page], dark: bool) -> None:
    """Every pixel of the larger picture: the root of its share of the head's largest."""
    page = look(served.address("decoder", view="overview", map=2, head=1), dark=dark)
    settle(page, 12)
    heat = look(served.address("decoder", view="heatmap", map=0, head=0), dark=dark)
    wait_for_map(heat)
    table = read_pixels(heat.locator(".legend-bar"))[0, :, :3].astype(int)
    statistics = served.library.get(served.ids["decoder"]).maps[2].statistics
    pixels = statistics.thumbnail_mean  # 24 tokens: a pixel each, mean and maximum are the same
    assert pixels.shape[1:] == (24, 24)
    maximum = pixels.max()
    bytes_ = np.clip(np.floor(255 * np.sqrt(pixels[1].astype(np.float64) / maximum) + 0.5), 1, 255)
    bytes_ = np.where(pixels[1] > 0, bytes_, 0)
    share = bytes_ / bytes_.max() * 255
    image = read_pixels(page.locator(".over-preview")).astype(int)
    size = image.shape[0] / 24
    middle = np.floor((np.arange(24) + 0.5) * size).astype(int)
    seen = image[middle][:, middle][..., :3]
    allowed = np.tril(np.ones((24, 24), bool))
    near = [table[np.clip(np.floor(share + 0.5 + shift), 1, 255).astype(int)] for shift in (-0.02, 0, 0.02)]
    same = np.any([(each == seen).all(axis=-1) for each in near], axis=0)
    assert same[allowed & (bytes_ > 0)].all()
    assert len(np.unique(seen[~allowed], axis=0)) == 1, "masked pixels have one colour"


def test_the_grid_shows_every_head(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("wide", view="overview"), height=1000)
    settle(page, 144)
    image = read_pixels(page.locator(".over-canvas")).astype(int)
    assert (image[..., 3] > 0).mean() > 0.3
    titles = page.locator(".over-titles h3").all_inner_texts()
    assert titles == ["Decoder · self-attention"]
    assert len(ranking(page)) == 144


def test_groups_of_a_translator(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("translation", view="overview"))
    settle(page, 18)
    titles = page.locator(".over-titles h3").all_inner_texts()
    assert titles == ["Encoder · self-attention", "Decoder · self-attention", "Decoder · cross-attention"]


@pytest.mark.parametrize(("order", "sign"), [("high", -1), ("low", 1)])
@pytest.mark.parametrize("metric", ["entropy", "first_token"])
def test_order(served: Served, look: Callable[..., Page], order: str, sign: int, metric: str) -> None:
    page = look(served.address("decoder", view="overview"))
    settle(page, 12)
    page.locator(".over-bar select").select_option(metric)
    label = {"high": "High first", "low": "Low first"}[order]
    page.locator(".over-bar").get_by_role("radio", name=label).click()
    settle(page, 12)
    page.wait_for_function(f"() => location.hash.includes('overview.order={order}')")
    values = scores(served, "decoder", metric)
    wanted = sorted(values, key=lambda place: sign * values[place])
    assert ranking(page) == wanted


def test_filter(served: Served, look: Callable[..., Page]) -> None:
    values = scores(served, "decoder", "entropy")
    bound = sorted(values.values())[8]
    page = look(served.address("decoder", view="overview", overview__keep=f"at_least_{bound:.6g}"))
    settle(page, 12)
    expect(count(page)).to_have_text("4 of 12 heads")
    assert sorted(ranking(page)) == sorted(place for place, value in values.items() if value >= bound - 1e-9)
    slider = page.locator(".over-filter input[type=range]")
    slider.focus()
    slider.press("End")
    expect(count(page)).to_have_text("1 of 12 heads")
    slider.press("Home")
    expect(count(page)).to_have_text("12 of 12 heads")
    page.wait_for_function("() => !location.hash.includes('overview.keep')")
    page.locator(".over-filter").get_by_role("radio", name="at most").click()
    slider = page.locator(".over-filter input[type=range]")
    slider.focus()
    slider.press("Home")
    expect(count(page)).to_have_text("1 of 12 heads")
    page.wait_for_function("() => location.hash.includes('overview.keep')")
    kept = chosen(page)["overview.keep"]
    again = look(page.evaluate("location.href"))
    settle(again, 12)
    expect(count(again)).to_have_text("1 of 12 heads")
    assert chosen(again)["overview.keep"] == kept


def test_keyboard_only(served: Served, open_page: Callable[..., Page]) -> None:
    page = open_page(served.address("decoder", view="overview", map=0, head=0))
    settle(page, 12)
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement?.classList.contains('over-scroll') ?? false"):
            break
    else:
        pytest.fail("the overview cannot be reached with Tab")
    for press in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(press)
    rest(page)
    active = page.locator(f"#{scroller(page).get_attribute('aria-activedescendant')}")
    value = scores(served, "decoder", "entropy")[1, 2]
    expect(active).to_have_text(re.compile(r"Layer 1, head 2 · Entropy: "))
    assert active.inner_text().rsplit(" ", 1)[1] == f"{value:.3f}"
    expect(page.locator(".over-name")).to_contain_text("Layer 1, head 2")
    page.keyboard.press("Enter")
    expect(page.locator(".heat-heading")).to_have_text("Decoder layer 1, self-attention · head 2")
    wait_for_map(page)
    words = chosen(page)
    assert (words["view"], words["place"], words["head"]) == ("heatmap", "decoder.self.1", "2")


def test_pointing_and_opening(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("decoder", view="overview", map=0, head=0))
    settle(page, 12)
    box = scroller(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 110)
    flag = page.locator(".over-area .tooltip")
    expect(flag).to_be_visible()
    layer, head = map(int, re.findall(r"\d+", flag.inner_text())[:2])
    value = scores(served, "decoder", "entropy")[layer, head]
    assert flag.inner_text().split()[-1] == f"{value:.3f}"
    page.mouse.click(box["x"] + 60, box["y"] + 110)
    expect(page.locator(".heat-heading")).to_contain_text(f"layer {layer}, self-attention · head {head}")


def test_long_recordings_and_refusals(served: Served, open_page: Callable[..., Page]) -> None:
    page = open_page(served.address("long", view="overview"))
    heads = sum(each.heads for each in served.library.get(served.ids["long"]).maps)
    settle(page, heads)
    assert (read_pixels(page.locator(".over-canvas"))[..., 3] > 0).any()
    said = "Too long for that."
    error = {"code": "too_long", "sentence": said, "message": literal(said).to_json()}
    page.route("**/scores/distance*", lambda route: route.fulfill(status=422, json={"error": error}))
    page.locator(".over-bar select").select_option("distance")
    expect(page.locator(".over-trouble")).to_have_text("Too long for that.")
    assert (read_pixels(page.locator(".over-canvas"))[..., 3] > 0).any(), "the pictures stay"
    page.faults.clear()  # type: ignore[attr-defined]
    page.locator(".over-bar select").select_option("entropy")
    settle(page, heads)
    expect(page.locator(".over-trouble")).to_have_count(0)


def test_chinese_on_a_telephone(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("wide", view="overview"), width=360, height=740, locale="zh-CN", dark=True)
    expect(count(page)).to_have_text("144 个头中的 144 个")
    assert measure_overflow(page) <= 0
    area = scroller(page).bounding_box()
    assert area is not None
    assert area["width"] > 280
    assert (
        page.evaluate(
            "() => { const e = document.querySelector('.over-scroll'); return e.scrollWidth - e.clientWidth }"
        )
        <= 4
    )


def test_saved_picture(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("decoder", view="overview"))
    settle(page, 12)
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("SVG")).click()
    text = download.value.path().read_text("utf-8")
    for word in (
        "L2·H3",
        "Entropy",
        "invented decoder",
        "data:image/png;base64,",
        "Decoder · self-attention",
    ):
        assert word in text
    assert "style=" not in text
