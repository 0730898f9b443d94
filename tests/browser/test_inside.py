"""The debugging panel in Chromium: distributions, values, products and the multiplier as recorded."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Bench, Served
from browser.test_running import TEXT, fill, press_run
from browser.waiting import measure_overflow, settle
from glassformer.recording import AttentionMap
from glassformer.rounding import rounding
from tolerances import largest, near, shown

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


def read(text: str) -> float:
    """A number as the page writes it."""
    return float(re.sub(r"[^\d.e\-]", "", text.replace("\u2212", "-")))


def map_of(served: Served, name: str, index: int) -> AttentionMap:
    return served.library.get(served.ids[name]).maps[index]


def softmax(scores: np.ndarray) -> np.ndarray:
    exponents = np.exp(scores - scores.max())
    return np.asarray(exponents / exponents.sum())


def term(page: Page, name: str) -> Locator:
    return page.locator(f'.equation [data-term="{name}"]')


def test_distributions_count_what_was_recorded(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="inside", map=1, head=2))
    attention_map = map_of(served, "decoder", 1)
    hidden = served.library.get(served.ids["decoder"]).hidden["decoder"]
    scores = np.asarray(attention_map.scores(2), dtype=np.float64)
    allowed = scores[np.isfinite(scores)]
    assert attention_map.queries is not None
    assert attention_map.scale is not None
    wanted = {
        "hidden": hidden[1],
        "hiddenAfter": hidden[2],
        "queries": attention_map.queries[2],
        "scores": allowed,
        "scores_unscaled": allowed / attention_map.scale,
    }
    for name, numbers in wanted.items():
        caption = page.locator(f'figure[data-of="{name}"] figcaption')
        expect(caption).to_contain_text(f"{numbers.size:,}".replace(",", ""))
        settle(page)
        mean, deviation = map(float, (caption.get_attribute("title") or "").split(" ± "))
        assert mean == near(float(np.mean(numbers, dtype=np.float64)), magnitude=largest(numbers))
        assert deviation == near(float(np.std(numbers, dtype=np.float64)))
    expect(page.locator('figure[data-of="scores"] figcaption')).to_contain_text("left out")
    bars = page.locator('figure[data-of="queries"] path.bars').get_attribute("d") or ""
    counts, _ = np.histogram(attention_map.queries[2], bins=64)
    assert bars.count("M") == np.count_nonzero(counts)


def test_values_are_the_floats_themselves(served: Served, look: Open) -> None:
    page = look(
        served.address("decoder", view="inside", map=1, head=2, inside__part="values", inside__array="keys")
    )
    attention_map = map_of(served, "decoder", 1)
    assert attention_map.keys is not None
    cell = page.locator('.value-grid td[data-at="4,6"]')
    value = attention_map.keys[2, 4, 6]
    expect(cell).not_to_have_text("…")
    assert np.float32(cell.get_attribute("title")) == value
    assert read(cell.inner_text()) == shown(float(value))
    page.get_by_label("Array").select_option("scores")
    expect(page.locator('.value-grid td[data-at="0,1"]')).to_have_text("−∞")
    cell = page.locator('.value-grid td[data-at="7,3"]')
    expect(cell).not_to_have_text("…")
    assert np.float32(cell.get_attribute("title")) == np.float32(attention_map.scores(2)[7, 3])
    cell.click()
    expect(page).to_have_url(re.compile("query=7&key=3"))


def test_products_add_up_to_the_score(served: Served, look: Open) -> None:
    page = look(
        served.address("translation", view="inside", map=5, head=1, query=4, key=2, inside__part="products")
    )
    attention_map = map_of(served, "translation", 5)  # cross
    assert attention_map.queries is not None
    assert attention_map.keys is not None
    query, key = (
        vectors.astype(np.float64) for vectors in (attention_map.queries[1, 4], attention_map.keys[1, 2])
    )
    expect(page.locator(".verdict")).to_contain_text("agrees with the recorded score")
    assert float(term(page, "sum").get_attribute("title") or "nan") == pytest.approx(
        float(query @ key), rel=rounding(summands=8, dtype="float64")
    )
    score = float(attention_map.scores(1)[4, 2])
    assert float(term(page, "score").get_attribute("title") or "nan") == near(score)
    weight = float(attention_map.weights(1)[4, 2])
    assert float(term(page, "weight").get_attribute("title") or "nan") == near(weight)
    bars = page.locator(".products rect[data-dimension]")
    expect(bars).to_have_count(8)
    heights = np.array(
        [float(height) for height in bars.evaluate_all("bars => bars.map(b => b.getAttribute('height'))")]
    )
    sizes = np.abs(query * key)
    assert heights / heights.max() == pytest.approx(sizes / sizes.max(), abs=1e-3)
    page.get_by_role("button", name="Strongest key").click()
    strongest = int(np.argmax(attention_map.weights(1)[4]))
    expect(page).to_have_url(re.compile(f"key={strongest}"))


def test_a_masked_pair_says_so(served: Served, look: Open) -> None:
    page = look(
        served.address("decoder", view="inside", map=0, head=0, query=2, key=9, inside__part="products")
    )
    expect(page.locator(".verdict")).to_contain_text("The mask hides this key")


def test_the_multiplier_shows_what_softmax_does(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="inside", map=1, head=2, query=11, inside__part="multiplier"))
    slider = page.locator(".multiplier input[type=range]")
    expect(page.locator(".pairs rect[data-key]").first).to_be_visible()
    settle(page)
    slider.focus()
    for _ in range(14):
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("inside.factor=1.7"))
    settle(page)
    scores = np.asarray(map_of(served, "decoder", 1).scores(2), dtype=np.float64)[11, :12]
    before, after = softmax(scores), softmax(1.7 * scores)
    for series, weights in ((0, before), (1, after)):
        for key in range(12):
            bar = page.locator(f'.pairs rect[data-key="{key}"][data-series="{series}"] title')
            assert float((bar.text_content() or "").split(": ")[1]) == pytest.approx(
                float(weights[key]), abs=1e-6
            )
    entropies = page.locator(".live dd").first.get_attribute("title") or ""
    wanted = [float(-(row * np.log(row)).sum()) for row in (before, after)]
    assert [float(part) for part in entropies.split(" → ")] == pytest.approx(wanted, abs=1e-5)
    expect(page.locator(".again")).to_contain_text("no model to run here")
    expect(page.get_by_role("button", name="Run again")).to_be_hidden()


def test_pictures_are_whole(served: Served, look: Open) -> None:
    for part in ("distributions", "values", "products", "multiplier"):
        page = look(served.address("decoder", view="inside", map=1, head=2, query=11, inside__part=part))
        expect(page.locator(".inside-view .part > div")).to_be_visible()
        settle(page)
        with page.expect_download() as download:
            page.locator('[data-action="save-svg"]').click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "invented decoder" in text
        assert "var(" not in text


def test_chinese_on_a_small_screen(served: Served, look: Open) -> None:
    address = served.address("translation", view="inside", map=2)
    page = look(address, width=360, height=740, locale="zh-CN", dark=True)
    expect(page.locator('figure[data-of="queries"] figcaption')).to_contain_text("标准差")
    assert measure_overflow(page) <= 0


def test_the_model_runs_again_with_other_scores(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "decoder", TEXT)
    recording = press_run(page)
    page.goto(f"{bench.url}/#recording={recording}&view=inside&inside.part=multiplier&query=4")
    slider = page.locator(".multiplier input[type=range]")
    expect(page.locator(".pairs rect[data-key]").first).to_be_visible()
    settle(page)
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    state = page.locator(".again .note")
    expect(state).to_contain_text("The re-run confirms")
    assert float(state.get_attribute("data-difference") or "nan") < 1e-5
    expect(page.locator(".result .outline")).to_have_attribute("d", re.compile("^M"))
    expect(page.locator(".outputs li").first).to_be_visible()
