"""The encoder view in Chromium: cells against hidden states, colours against values."""

import re
from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from browser.conftest import Served
from browser.waiting import measure_overflow, settle
from tolerances import near, shown

pytestmark = pytest.mark.browser

ROW = 22  # pixels of a token
Open = Callable[..., Page]


def states(served: Served, name: str, stack: str = "decoder") -> np.ndarray:
    """(layer, token, width)"""
    return np.asarray(served.library.get(served.ids[name]).hidden[stack], dtype=np.float64)


def point_at(page: Page, token: int, layer: int, layers: int) -> None:
    """Move the pointer to a cell."""
    settle(page)
    box = page.locator(".encoder-view .field-grid canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + (layer + 0.5) * box["width"] / layers, box["y"] + (token + 0.5) * ROW)


def expect_value(page: Page, value: float) -> None:
    """The readout names the value; its title has every digit."""
    readout = page.locator(".encoder-view .readout")
    expect(readout).to_have_attribute("title", re.compile(re.escape(f"{value:.5f}"[:6])))
    assert float(readout.get_attribute("title") or "nan") == near(value)


def test_hovering_reads_norm_change_and_neuron(served: Served, look: Open) -> None:
    hidden = states(served, "decoder")
    page = look(served.address("decoder", view="encoder"))
    expect(page.locator(".encoder-view .profile svg")).to_be_visible()
    settle(page)
    point_at(page, 7, 3, 4)
    expect_value(page, np.linalg.norm(hidden[3, 7] - hidden[2, 7]))
    point_at(page, 7, 0, 4)
    expect(page.locator(".encoder-view .readout")).to_contain_text("undefined")
    page.get_by_role("radio", name="Norm").check()
    expect(page).to_have_url(re.compile("encoder.by=norm"))
    point_at(page, 5, 2, 4)
    expect_value(page, np.linalg.norm(hidden[2, 5]))
    page.get_by_role("radio", name="Neuron").check()
    number = page.get_by_role("spinbutton", name="Number")
    number.fill("11")
    number.press("Enter")
    expect(page).to_have_url(re.compile("encoder.neuron=11"))
    point_at(page, 3, 1, 4)
    value = abs(hidden[1, 3, 11])
    expect(page.locator(".encoder-view .readout")).to_have_attribute(
        "title", re.compile(re.escape(f"{value:.5f}"[:6]))
    )


def test_darker_cells_have_larger_norms(served: Served, look: Open) -> None:
    norms = np.linalg.norm(states(served, "decoder"), axis=-1)  # (layer, token)
    page = look(served.address("decoder", view="encoder") + "&encoder.by=norm&encoder.range=all")
    expect(page.locator(".encoder-view .profile svg")).to_be_visible()
    settle(page)
    canvas = page.locator(".encoder-view .field-grid canvas")
    read = """(canvas, places) => {
        const context = canvas.getContext('2d');
        return places.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data]);
    }"""
    box = canvas.bounding_box()
    assert box is not None
    wide = box["width"] / 4
    tokens = min(24, int(box["height"] // ROW))
    places = [(layer, token) for layer in range(4) for token in range(tokens)]
    asked = [[int((layer + 0.5) * wide), int((token + 0.5) * ROW)] for layer, token in places]
    light = [sum(colour[:3]) for colour in canvas.evaluate(read, asked)]
    order = np.argsort([norms[place] for place in places])
    assert light[order[0]] > 700  # near white
    assert light[order[-1]] < 250  # deep violet
    assert all(light[one] >= light[other] - 12 for one, other in pairwise(order))


def test_a_click_focuses_and_keys_move(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="encoder") + "&encoder.by=norm")
    expect(page.locator(".encoder-view .profile svg")).to_be_visible()
    settle(page)
    box = page.locator(".encoder-view .field-grid canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 5, box["y"] + 4.5 * ROW)
    expect(page).to_have_url(re.compile("query=4.*encoder.layer=0"))
    page.mouse.move(5, 5)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("query=5.*encoder.layer=1"))
    expect_value(page, np.linalg.norm(states(served, "decoder")[1, 5]))


def test_both_stacks_of_a_translator(served: Served, look: Open) -> None:
    page = look(served.address("translation", view="encoder", place="decoder.self.0"))
    expect(page.locator(".encoder-view .field-labels span")).to_have_count(6)
    page.get_by_role("radio", name="Decoder").and_(page.locator(".encoder-view input")).check()
    expect(page.locator(".encoder-view .field-labels span")).to_have_count(9)
    point_at(page, 8, 1, 3)
    expect_value(page, np.linalg.norm(np.subtract(*states(served, "translation")[[1, 0], 8])))
    expect(page.locator(".pictures [data-name=encoder]")).to_have_text("Decoder")


def test_the_picture_and_the_table(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="encoder"))
    expect(page.locator(".encoder-view .profile svg")).to_be_visible()
    settle(page)
    with page.expect_download() as download:
        page.locator('[data-action="save-svg"]').click()
    root = ElementTree.parse(download.value.path()).getroot()
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any("invented decoder" in text for text in texts)
    assert " animal".strip() in "".join(texts)
    paths = [element.get("d", "") for element in root.iter("{http://www.w3.org/2000/svg}path")]
    assert sum(path.count("M") for path in paths) > 4 * 24 * 0.9  # neighbours of one colour are joined
    page.locator('[data-action="table"]').click()
    cell = page.locator("table.data tbody tr").nth(5).locator("td").nth(2 + 2)
    expect(cell).not_to_be_empty()
    assert float(cell.inner_text()) == shown(
        float(np.linalg.norm(np.subtract(*states(served, "decoder")[[2, 1], 5])))
    )


def test_what_cannot_be_shown_says_why(served: Served, open_page: Open) -> None:
    page = open_page(served.address("long", view="encoder"))
    page.locator(".pictures [data-name=encoder]").click()
    expect(page.get_by_text("no hidden states")).to_be_visible()


def test_a_tab_clicked_while_a_recording_opens_stays(served: Served, open_page: Open) -> None:
    page = open_page(served.address("decoder", view="encoder"))
    settle(page)
    held: list[Route] = []
    page.route(f"**/api/recordings/{served.ids['long']}", lambda route: held.append(route))
    with page.expect_request(f"**/api/recordings/{served.ids['long']}"):
        page.evaluate(
            "hash => { location.hash = hash }", served.address("long", view="encoder").split("#")[1]
        )
    page.locator(".pictures [data-name=encoder]").click()
    held[0].continue_()
    expect(page.get_by_text("no hidden states")).to_be_visible()


def test_one_token_in_chinese_on_a_small_screen(served: Served, look: Open) -> None:
    page = look(served.address("single", view="encoder"), width=360, height=740, locale="zh-CN")
    expect(page.locator(".encoder-view .field-labels span")).to_have_count(1)
    expect(page.locator(".encoder-view")).to_contain_text("色条对应当前层")
    assert measure_overflow(page) <= 0
