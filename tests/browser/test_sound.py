"""Sound: the colours under the wave are the weights of the frames at their time; playing lights up words."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.test_heatmap import read_pixels
from browser.waiting import measure_overflow, settle
from glassformer.recording import Recording
from glassformer.render.html.export import export
from inventions import invent_listener

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
GUTTER, ROW, AXIS = 76, 20, 18  # pixels, as in chart.ts


@pytest.fixture(scope="module")
def listener(served: Any) -> Recording:
    """On the server, as "listener"."""
    recording = invent_listener()
    served.ids["listener"] = served.library.add(recording)
    return recording


def read_rows(page: Page, words: int, frames: int) -> np.ndarray:
    """The colours of words over time, (word, frame, red green blue)."""
    image = read_pixels(page.locator(".sound-chart canvas").nth(1)).astype(int)
    height, width = image.shape[:2]
    tops = height - AXIS - ROW * (words - np.arange(words))
    middles = GUTTER + ((np.arange(frames) + 0.5) * (width - GUTTER) / frames).astype(int)
    return image[tops + 3][:, middles, :3]  # above the dot of the largest


def test_rows_are_the_weights_and_pointing_reads_them(served: Any, look: Open, listener: Recording) -> None:
    weights = listener.maps[2].weights(1)  # (word, frame)
    page = look(served.address("listener", view="sound", place="decoder.cross.0", head=1, query=0))
    settle(page)
    darkness = 765 - read_rows(page, *weights.shape).sum(axis=-1)
    for row, seen in zip(weights, darkness, strict=True):
        order = np.argsort(row)
        assert np.all(np.diff(seen[order]) >= 0), (row, seen)  # the more, the stronger
        assert seen.argmax() == row.argmax()
    box = page.locator(".sound-chart").bounding_box()
    assert box is not None
    for frame in (0, 7, 19):
        x = box["x"] + GUTTER + (frame + 0.5) * (box["width"] - GUTTER) / 20
        page.mouse.move(x, box["y"] + 60)
        settle(page)
        said = page.locator(".sound-readout").inner_text()
        name, number = said.split(". ")[0].split(" s: ")
        assert name == listener.source.texts[frame]
        assert float(number) == pytest.approx(weights[0, frame], rel=1e-3)  # four digits are shown
    expect(page.locator(".sound-readout")).to_contain_text(re.compile(r"\d of 2 words listen most"))


def test_playing_runs_through_time_on_a_small_screen(served: Any, look: Open, listener: Recording) -> None:
    page = look(
        served.address("listener", view="sound", place="decoder.cross.0", head=0), width=360, height=740
    )
    settle(page)
    assert measure_overflow(page) <= 0
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator(".sound-clock")).to_have_text(re.compile(r"^1\.00 of 1\.00"))  # it came to its end
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_file_has_the_sound_and_plays_it(open_file: Open, listener: Recording, tmp_path: Path) -> None:
    path = export(listener, tmp_path / "a.html", exact=True)
    page = open_file(path, "#view=sound&place=decoder.cross.0&head=1")
    settle(page)
    weights = listener.maps[2].weights(1)
    darkness = 765 - read_rows(page, *weights.shape).sum(axis=-1)
    assert darkness.argmax(axis=1).tolist() == weights.argmax(axis=1).tolist()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator(".sound-clock")).to_have_text(re.compile(r"^1\.00 of 1\.00"))


def test_the_moment_in_focus_is_framed(served: Any, look: Open, listener: Recording) -> None:
    page = look(served.address("listener", view="sound", place="encoder.self.0", head=0, query=7))
    settle(page)
    image = read_pixels(page.locator(".sound-chart canvas").nth(1))
    painted = np.flatnonzero(image[60, :, 3])  # at the height of the wave
    edges = GUTTER + np.array([7, 8]) * (image.shape[1] - GUTTER) / 20
    assert (
        np.abs(painted[:, None] - edges).min(axis=1).max() <= 4
    )  # half of a line, and a pixel that it shares
    assert np.abs(painted[:, None] - edges).min(axis=0).max() <= 1
