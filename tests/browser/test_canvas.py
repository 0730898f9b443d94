"""The canvas in Chromium: four panels that move together."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Served
from browser.waiting import measure_overflow, settle

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
PANELS = ("encoder", "attention", "input", "output")

# Another text when any pixel of a panel's canvases is another one, or a bar behind a token.
PIXELS = """panel => [...panel.querySelectorAll('canvas, .field-labels span')].map((canvas) => {
  if (canvas.localName === 'span') return canvas.style.getPropertyValue('--weight');
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [canvas.width, canvas.height];
  if (copy.width * copy.height === 0) return 0;
  const context = copy.getContext('2d');
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  return data.reduce((sum, value, at) => (sum * 31 + value * (at % 7 + 1)) % 1000003, 7);
}).join(' ')"""


def picture(page: Page) -> dict[str, str]:
    """The pixels of each panel."""
    settle(page)
    return {name: page.locator(f"[data-canvas={name}]").evaluate(PIXELS) for name in PANELS}


def test_four_panels_move_together(served: Served, look: Open) -> None:
    page = look(served.address("translation", view="canvas", place="decoder.cross.0", head=0, query=2))
    settle(page)
    heading = [page.locator(f"[data-canvas={name}] h2").inner_text() for name in PANELS]
    assert heading == ["Encoder", "Attention weights", "Input embeddings", "Output embeddings"]
    seen = served.library.get(served.ids["translation"]).map("decoder.cross.0")
    weights = np.asarray(seen.weights(head=0))[2]
    shares = page.locator("[data-side=source] bdi").evaluate_all(
        "words => words.map(word => parseInt(word.style.getPropertyValue('--weight')))"
    )
    assert shares == pytest.approx(100 * weights, abs=0.51)
    before = picture(page)

    page.locator("[data-action=next-step]").click()
    expect(page).to_have_url(re.compile("query=3"))
    after = picture(page)
    assert all(after[name] != before[name] for name in PANELS), "the time step moves all four"

    page.locator(".control-bar [data-head='1']").click()
    expect(page).to_have_url(re.compile("head=1"))
    other = picture(page)
    assert [name for name in PANELS if other[name] == after[name]] == ["output"], "it has no keys"

    page.locator("[data-side=source] bdi").nth(1).hover()
    marked = picture(page)
    assert [name for name in PANELS if marked[name] == other[name]] == ["output"], "a token of the source"
    page.locator("[data-side=target] bdi").nth(1).hover()
    assert all(each != marked[name] for name, each in picture(page).items())

    expect(page.locator("[data-action=step]")).to_have_count(1)  # one control of time
    page.locator("[data-canvas=output] button").click()
    expect(page).to_have_url(re.compile("view=embeddings.*head=1&query=3.*embeddings.stack=decoder"))


def test_on_a_telephone_they_stand_below_one_another(served: Served, look: Open) -> None:
    page = look(served.address("translation", view="canvas"), width=360, height=740)
    settle(page)
    assert measure_overflow(page) <= 0
    boxes = [page.locator(f"[data-canvas={name}]").bounding_box() for name in PANELS]
    tops = [box["y"] for box in boxes if box is not None]
    assert tops == sorted(tops)
    assert all(box is not None and box["width"] > 280 and box["height"] > 280 for box in boxes)
    page.mouse.move(180, tops[0] + 200)  # over a panel
    page.mouse.wheel(0, 400)
    page.wait_for_function("() => document.scrollingElement.scrollTop > 200")  # scrolling is the page's


def test_without_hidden_states_the_weights_are_shown(served: Served, look: Open) -> None:
    page = look(served.address("long", view="canvas"))
    settle(page)
    expect(page.locator("[data-canvas=output]")).to_contain_text("no hidden states")
    expect(page.locator("[data-canvas=attention] .heat-cells canvas")).to_be_visible()
