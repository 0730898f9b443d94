"""The interpretability panel in Chromium: every number against the metric it names."""

import csv
import io
import math
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Served
from browser.waiting import measure_overflow
from browser.waiting import settle as settle_view
from glassformer.metrics import score
from glassformer.recording import Recording
from tolerances import shown

pytestmark = pytest.mark.browser

PANEL = (
    "overall_sparsity",
    "nonzero_share",
    "average_nonzero",
    "maximum_nonzero",
    "entropy",
    "entropy_share",
    "uniform_divergence",
)
Open = Callable[..., Page]


def read(text: str) -> float:
    """A number as the page writes it."""
    return float(text.replace("\u2212", "-").replace(",", ""))


def card(page: Page, metric: str) -> Locator:
    return page.locator(f'.numbers-view [data-metric="{metric}"]')


def settle(page: Page) -> None:
    settle_view(page)
    expect(page.locator(".numbers-view .cards section").first).to_be_visible()
    expect(page.locator(".numbers-view")).not_to_have_class(re.compile("stale"))


def see(page: Page, metric: str, value: float) -> None:
    """A card says the value: all digits on hover, a rounded one in sight."""
    wanted = re.compile(re.escape(f"{value:.6f}"[:6].rstrip("0").rstrip(".")))
    expect(card(page, metric)).to_have_attribute("title", wanted)
    settle(page)
    assert float(card(page, metric).get_attribute("title") or "nan") == pytest.approx(value, rel=1e-12)
    said = read(card(page, metric).evaluate("element => element.firstChild.textContent"))
    assert said == shown(value)


def recording_of(served: Served, name: str) -> Recording:
    return served.library.get(served.ids[name])


def test_cards_show_the_whole_model(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="numbers"))
    settle(page)
    for metric in PANEL:
        see(page, metric, score(recording_of(served, "decoder"), metric, over="model").value)
    sparser = "Lower = fewer non-zero weights for each zero: the map is sparser."
    expect(page.locator(".cards")).to_contain_text(sparser)
    expect(page.locator(".cards")).to_contain_text("Higher = attention is more random")


def test_the_table_shows_every_head(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="numbers", map=1, head=2))
    settle(page)
    recording = recording_of(served, "decoder")
    rows = page.locator(".sort-table tr[data-row]")
    expect(rows).to_have_count(3 * 4)
    for metric in PANEL:
        parts = score(recording, metric).parts
        wanted = [float(value) for part in parts for value in part.values]
        cells = page.locator(f'.sort-table td[data-column="{metric}"]')
        titles = cells.evaluate_all("cells => cells.map(cell => cell.title)")
        assert [float(title) for title in titles] == pytest.approx(wanted, rel=1e-12)
        assert [read(text) for text in cells.all_inner_texts()] == shown(wanted)
    expect(page.locator("tr.chosen")).to_have_attribute("data-row", str(1 * 4 + 2))
    expect(page.locator(".sort-table .spark svg path").first).to_have_attribute("d", re.compile("^M"))


def test_the_threshold_measures_anew(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="numbers", map=0, head=0))
    settle(page)
    slider = page.locator(".numbers-view input[type=range]")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")  # ten steps of a twentieth of a power of ten
    expect(page).to_have_url(re.compile(r"numbers\.tau=0\.032"))
    recording = recording_of(served, "decoder")
    for metric in PANEL[:4]:
        see(page, metric, score(recording, metric, over="model", threshold=0.032).value)
    page.get_by_role("radio", name="times 1/n").check()
    expect(page).to_have_url(re.compile(r"numbers\.relative=1"))
    for metric in PANEL[:4]:
        see(page, metric, score(recording, metric, over="model", threshold=1.0, relative=True).value)


def test_levels_and_other_metrics(served: Served, look: Open) -> None:
    address = served.address(
        "translation", view="numbers", numbers__level="layer", numbers__metrics="distance"
    )
    page = look(address)
    settle(page)
    recording = recording_of(served, "translation")
    cells = page.locator('.sort-table td[data-column="distance"]')
    expect(cells.first).to_be_visible()
    wanted = [float(part.values) for part in score(recording, "distance", over="layer").parts if part.place]
    shown = cells.evaluate_all("cells => cells.map(cell => cell.title)")
    whys = [title for title in shown if not re.match(r"^[\d.e-]+$", title)]
    assert all("cross" in why or len(why) > 10 for why in whys)
    assert [float(title) for title in shown if title not in whys] == pytest.approx(
        [value for value in wanted if not math.isnan(value)], rel=1e-12
    )
    page.get_by_role("radio", name="Whole model").check()
    expect(page.locator(".sort-table tr[data-row]")).to_have_count(1)


def test_undefined_values_say_why(served: Served, look: Open) -> None:
    page = look(served.address("single", view="numbers"))
    settle(page)
    expect(card(page, "entropy_share")).to_contain_text("undefined")
    expect(card(page, "entropy_share")).to_contain_text("one key only")
    cell = page.locator('.sort-table td[data-column="overall_sparsity"]').first
    expect(cell).to_have_text("undefined")
    expect(cell).to_have_attribute("title", re.compile("nothing to divide by"))


def test_reasons_are_said_in_chinese(served: Served, look: Open) -> None:
    page = look(served.address("single", view="numbers"), locale="zh-CN")
    settle(page)
    expect(card(page, "entropy_share")).to_contain_text("最大熵为零")
    expect(card(page, "overall_sparsity")).to_contain_text("未定义")


def test_sorting_and_choosing(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="numbers"))
    settle(page)
    page.locator('.sort-table th[data-column="entropy"] button').click()
    expect(page).to_have_url(re.compile("numbers.sort=-entropy"))
    settle(page)
    cells = page.locator('.sort-table td[data-column="entropy"]')
    values = [float(title) for title in cells.evaluate_all("cells => cells.map(cell => cell.title)")]
    assert values == sorted(values, reverse=True)
    label = page.locator(".sort-table tr[data-row='3'] th button").inner_text()
    page.locator(".sort-table tr[data-row='3'] td").first.click()
    layer, head = map(int, re.findall(r"\d+", label))
    expect(page).to_have_url(re.compile(rf"place=decoder\.self\.{layer}&head={head}"))
    page.locator(".sort-table tr.chosen button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".sort-table tr.chosen")).to_have_attribute("data-row", "4")


def test_the_grid_colours_and_chooses_heads(served: Served, look: Open) -> None:
    page = look(served.address("wide", view="numbers", map=0, head=0))
    settle(page)
    cells = page.locator(".grids rect[data-head]")
    expect(cells).to_have_count(144)
    wanted = [float(v) for part in score(recording_of(served, "wide"), "entropy").parts for v in part.values]
    fills = cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('fill'))")
    light = [sum(map(int, re.findall(r"\d+", fill))) for fill in fills]
    order = sorted(range(144), key=lambda place: wanted[place])
    assert all(light[one] >= light[other] - 12 for one, other in pairwise(order))  # darker means more
    page.locator('.grids rect[data-layer="7"][data-head="5"]').click()
    expect(page).to_have_url(re.compile(r"place=\w+\.self\.7&head=5"))
    page.locator(".grids").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page).to_have_url(re.compile(r"place=\w+\.self\.6&head=6"))


def test_the_table_can_be_saved(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="numbers"))
    settle(page)
    with page.expect_download() as download:
        page.locator(".numbers-view").get_by_role("button", name="Save as CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(io.StringIO(file.read())))
    assert len(rows) == 1 + 12
    column = next(at for at, name in enumerate(rows[0]) if name.startswith("Entropy (nats"))
    wanted = [
        float(v) for part in score(recording_of(served, "decoder"), "entropy").parts for v in part.values
    ]
    assert [float(row[column]) for row in rows[1:]] == pytest.approx(wanted, rel=1e-12)


def test_chinese_on_a_small_screen(served: Served, look: Open) -> None:
    page = look(
        served.address("translation", view="numbers"), width=360, height=740, locale="zh-CN", dark=True
    )
    settle(page)
    expect(page.locator(".cards")).to_contain_text("越低 = 每个零权重对应的非零权重越少：注意力图越稀疏。")
    expect(page.locator(".cards")).to_contain_text("奈特")
    assert measure_overflow(page) <= 0
    box = page.locator(".numbers-view").evaluate("element => element.scrollWidth - element.clientWidth")
    assert box <= 0
