"""Flow: the bands are the rollout of the recording."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.waiting import measure_overflow
from browser.waiting import settle as settle_view
from glassformer.metrics.rollout import mix

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


def settle(page: Page) -> None:
    settle_view(page)
    expect(page.locator(".flow-note")).not_to_have_text("")
    settle_view(page)


def mixes_of(served: Any, name: str, stack: str) -> list[np.ndarray]:
    maps = [
        each
        for each in served.library.get(served.ids[name]).maps
        if each.stack == stack and each.kind == "self"
    ]
    return [mix(each, 0.5) for each in sorted(maps, key=lambda each: each.layer)]


def roll_out(served: Any, name: str, stack: str) -> np.ndarray:
    rolled = np.eye(len(mixes_of(served, name, stack)[0]))
    for mixed in mixes_of(served, name, stack):
        rolled = mixed @ rolled
    return rolled


def shares(page: Page, count: int) -> list[float]:
    """Percentages beside the input tokens."""
    texts = [
        page.locator(f".columns-list[data-axis=key] [data-row='{row}'] .columns-value").inner_text()
        for row in range(count)
    ]
    return [float(text.removesuffix("\u202f%") or 0) for text in texts]


def test_shares_at_the_input_are_the_rollout(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="flow", map=0, query=17))
    settle(page)
    wanted = 100 * roll_out(served, "decoder", "decoder")[17]
    for found, share in zip(shares(page, 24), wanted, strict=True):
        assert abs(found - share) <= (0.51 if share > 9 else 0.06)
    answer = page.request.get(f"{served.url}/api/recordings/{served.ids['decoder']}/scores/rollout")
    assert answer.ok  # the metric of the same name


def test_another_token_by_click_and_keyboard(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="flow", map=0))
    settle(page)
    page.locator(".columns-list[data-axis=query] [data-row='2']").click()
    expect(page).to_have_url(re.compile("query=2"))
    settle(page)
    wanted = 100 * roll_out(served, "decoder", "decoder")[2]
    assert np.allclose(shares(page, 3), wanted[:3], atol=0.51)
    page.locator(".columns-list[data-axis=query]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("query=3"))


def test_bands_in_the_saved_picture_carry_the_shares(served: Any, look: Open, tmp_path: Path) -> None:
    page = look(served.address("decoder", view="flow", map=0, query=17))
    settle(page)
    with page.expect_download() as download:
        page.locator("button:has-text('SVG')").click()
    path = tmp_path / "flow.svg"
    download.value.save_as(path)
    mixes = mixes_of(served, "decoder", "decoder")
    down = [np.eye(24)[17]]
    for mixed in reversed(mixes):
        down.insert(0, down[0] @ mixed)
    bands = [
        each
        for each in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}path")
        if each.get("data-share")
    ]
    assert len(bands) > 50
    for band in bands:
        layer, start, end = (int(band.get(f"data-{name}", -1)) for name in ("layer", "from", "to"))
        share = down[layer + 1][end] * mixes[layer][end, start]
        assert abs(float(band.get("data-share", "nan")) - share) < 6e-4
        ends = [float(part) for part in re.findall(r"-?[\d.]+", band.get("d", ""))]
        thick = ends[9] - ends[7]  # of the right end: M x y C … x y L x y
        assert abs(thick - max(0.35, share * 15)) < 0.02  # 15 pixels are everything


def test_the_part_of_one_input_token_is_shown(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="flow", map=0, query=17, key=4))
    settle(page)
    share = 100 * roll_out(served, "decoder", "decoder")[17, 4]
    said = float(re.findall(r"[\d.]+", page.locator(".flow-readout").inner_text())[0])
    assert abs(said - share) <= 0.51


def test_encoder_and_decoder_stacks(served: Any, look: Open) -> None:
    page = look(served.address("translation", view="flow", map=0))
    settle(page)
    assert page.locator(".columns-list[data-axis=key] .columns-token").count() == 6
    page.locator(".flow-stacks").get_by_label("Decoder").check()
    expect(page.locator(".columns-list[data-axis=key] .columns-token")).to_have_count(9)
    settle(page)
    wanted = 100 * roll_out(served, "translation", "decoder")[8]
    assert np.allclose(shares(page, 9), wanted, atol=0.51)


def test_heat_at_every_layer_is_drawn(served: Any, look: Open) -> None:
    page = look(served.address("decoder", view="flow", map=0, query=17))
    settle(page)
    script = """canvas => {
      const { width, height } = canvas;
      const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
      let painted = 0;
      for (let at = 3; at < data.length; at += 4) painted += data[at] > 0;
      return painted / (width * height);
    }"""
    assert page.locator(".columns-window canvas").evaluate(script) > 0.02
    layers = page.locator(".flow-layer").all_inner_texts()
    assert layers == ["input", "0", "1", "2"]


def test_too_long_texts_are_refused_with_the_reason(served: Any, look: Open) -> None:
    page = look(served.address("long", view="lines", map=0))
    page.get_by_role("tab", name="Flow").click()  # also while the recording is still being opened
    expect(page.get_by_text(re.compile("3,000 tokens; rollout"))).to_be_visible()


def test_one_token_and_a_narrow_screen(served: Any, look: Open) -> None:
    page = look(
        served.address("single", view="flow", map=0), width=360, height=740, locale="zh-CN", dark=True
    )
    settle(page)
    assert shares(page, 1) == [100.0]
    assert "来自输入" in page.locator(".flow-readout").inner_text()
    assert measure_overflow(page) <= 0
