"""Pictures: the patch under the pointer is the patch of the number, and its colour is that number."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from browser.test_heatmap import read_pixels
from browser.waiting import measure_overflow, settle
from glassformer.recording import Recording
from glassformer.render.html.export import export
from inventions import invent_captioner

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
ROWS, COLUMNS = 3, 5


@pytest.fixture(scope="module")
def captioner(served: Any) -> Recording:
    """On the server, as "captioner"."""
    recording = invent_captioner()
    served.ids["captioner"] = served.library.add(recording)
    return recording


def point_at(page: Page, cell: int) -> None:
    """At the middle of a patch, on the screen."""
    box = field(page).bounding_box()
    assert box is not None
    row, column = divmod(cell, COLUMNS)
    x = box["x"] + (column + 0.5) * box["width"] / COLUMNS
    page.mouse.move(x, box["y"] + (row + 0.5) * box["height"] / ROWS)
    settle(page)


def field(page: Page) -> Locator:
    return page.locator(".patches")


def readout(page: Page) -> str:
    return page.locator(".picture-readout").inner_text()


def covers(page: Page) -> np.ndarray:
    """How much each patch is covered by its colour, (row, column)."""
    return read_covers(read_pixels(field(page).locator("canvas").nth(1)))


def read_covers(image: np.ndarray) -> np.ndarray:
    """The same of the canvas itself: in the corner of a patch, beside its number."""
    high, wide = image.shape[0] / ROWS, image.shape[1] / COLUMNS
    rows = ((np.arange(ROWS) + 0.2) * high).astype(int)
    columns = ((np.arange(COLUMNS) + 0.2) * wide).astype(int)
    return image[rows][:, columns, 3].astype(int)


def expected(weights: np.ndarray) -> np.ndarray:
    """The same from the weights of the patches: from 45 % at nothing to 80 % at the largest."""
    shares = weights.astype(np.float64) / weights.max()
    return np.floor(255 * (0.45 + 0.35 * shares) + 0.5).astype(int).reshape(ROWS, COLUMNS)


def test_pointing_shows_where_a_patch_looks_and_a_click_keeps_it(
    served: Any, look: Open, captioner: Recording
) -> None:
    weights = captioner.maps[1].weights(2)  # (query, key); token 0 is the class token
    page = look(served.address("captioner", view="picture", place="encoder.self.1", head=2))
    settle(page)
    assert readout(page).startswith("[CLS] looks at")
    np.testing.assert_array_equal(covers(page), expected(weights[0, 1:]))
    for cell in (0, 4, 7, 14):  # without a click: what this patch looks at
        point_at(page, cell)
        row, column = divmod(cell, COLUMNS)
        assert readout(page).startswith(f"patch {row},{column} looks at")
        np.testing.assert_array_equal(covers(page), expected(weights[cell + 1, 1:]))
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"query=15"))
    for cell in (0, 4, 7, 13):  # kept: pointing reads the numbers
        point_at(page, cell)
        row, column = divmod(cell, COLUMNS)
        name, number = readout(page).split(". ")[0].split(": ")
        assert name == f"patch {row},{column}"
        assert float(number) == pytest.approx(weights[15, cell + 1], rel=1e-3)  # four digits are shown
        np.testing.assert_array_equal(covers(page), expected(weights[15, 1:]))


def test_a_word_shows_its_patches_and_a_patch_its_words(
    served: Any, look: Open, captioner: Recording
) -> None:
    weights = captioner.maps[3].weights(0)
    page = look(served.address("captioner", view="picture", place="decoder.cross.0", head=0, query=1))
    settle(page)
    np.testing.assert_array_equal(covers(page), expected(weights[1, 1:]))
    page.get_by_role("option", name="␣car").hover()  # row 2: the word that it writes
    settle(page)
    np.testing.assert_array_equal(covers(page), expected(weights[2, 1:]))
    point_at(page, 7)
    page.mouse.down()
    page.mouse.up()
    settle(page)
    best = ("␣a", "␣red", "␣car", "…")[int(weights[:, 8].argmax())]
    assert readout(page).startswith(f"patch 1,2 is looked at by {best}")


def test_keys_small_screens_and_the_other_colours(served: Any, look: Open, captioner: Recording) -> None:
    link = served.address("captioner", view="picture", place="encoder.self.0", head=1, picture__paint="light")
    page = look(link, width=360, height=740)
    settle(page)
    assert measure_overflow(page) <= 0
    field(page).focus()
    page.keyboard.press("ArrowDown")  # the first key goes to the middle
    expect(page).to_have_url(re.compile(r"query=8"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"query=9"))
    weights = captioner.maps[0].weights(1)[9, 1:].astype(np.float64)
    settle(page)
    dark = np.floor(255 * 0.85 * (1 - weights / weights.max()) + 0.5).reshape(ROWS, COLUMNS)
    np.testing.assert_array_equal(covers(page), dark)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile(r"query="))


def test_a_file_has_the_picture_and_a_text_no_such_tab(
    served: Any, look: Open, open_file: Open, captioner: Recording, tmp_path: Path
) -> None:
    page = open_file(export(captioner, tmp_path / "a.html", exact=True), "#view=picture&head=0")
    expect(page.get_by_role("tab", name="Picture", exact=True)).to_be_visible()
    settle(page)
    np.testing.assert_array_equal(covers(page), expected(captioner.maps[0].weights(0)[0, 1:]))
    below = read_pixels(field(page).locator("canvas").nth(0))
    assert below[..., 3].min() == 255
    assert len(np.unique(below[..., 0])) > 100  # the picture is drawn
    text = look(served.address("decoder", view="heatmap"))
    expect(text.get_by_role("tab", name="Heat map", exact=True)).to_be_visible()
    expect(text.get_by_role("tab", name="Picture", exact=True)).to_have_count(0)
