"""The walk in a browser: steps, cells with their arithmetic, scrubbing, links, keys, languages, phones."""

import json
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from playwright.sync_api import Page, Position, expect

from browser.conftest import Bench, require_page, serve
from browser.test_running import fill, press_run
from browser.waiting import measure_overflow, rest
from campaigns import campaign
from glassformer import bundle, load
from glassformer.api.frames import decode_frame
from glassformer.api.library import Library
from tiny_models import build_model
from tolerances import near

pytestmark = pytest.mark.browser

TEXT = "the animal was too tired to cross the street"
WANT = ("weights", "output", "hidden", "queries", "keys", "values", "scores", "trace", "parameters")
Open = Callable[..., Page]


@dataclass
class Walks:
    """A running server; `ids` are its recordings by a short name."""

    url: str
    ids: dict[str, str]

    def address(self, name: str, **selection: object) -> str:
        """The walk of a recording, as `address("decoder", walk__step="decoder.0.self.keys")`."""
        chosen = {"recording": self.ids[name], "view": "walk", **selection}
        return f"{self.url}/#" + "&".join(f"{key.replace('__', '.')}={chosen[key]}" for key in chosen)

    def read(self, path: str) -> bytes:
        """An answer of the API."""
        with urlopen(f"{self.url}/api/recordings/{path}") as answer:
            found: bytes = answer.read()
        return found

    def steps(self, name: str) -> list[dict[str, Any]]:
        """The steps that the walk shows while layer 0 is open."""
        plan = json.loads(self.read(f"{self.ids[name]}/walk"))
        every = [step for chapter in plan["chapters"] for step in chapter["steps"]]
        return [step for step in every if step["layer"] in (None, 0)]

    def array(self, name: str, array: str, head: int) -> np.ndarray[Any, Any]:
        """An array of the trace."""
        frame = decode_frame(self.read(f"{self.ids[name]}/trace/{array}?head={head}"))
        return np.asarray(frame.arrays["values"].array)


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walks]:
    """Traced recordings of three shapes, and one without its trace."""
    require_page()
    folder = tmp_path_factory.mktemp("walks")
    library = Library(folder / "made")
    ids = {}
    shapes = {"encoder": "masked", "decoder": "language", "encoder-decoder": "language"}
    for shape, head in shapes.items():
        pre = {"norm_position": "pre", "activation": "gelu"} if shape == "decoder" else {}
        subject = load(build_model(folder / shape, shape, head, **pre))
        target = "the street was too tired" if shape == "encoder-decoder" else None
        wants = {shape: WANT, "plain": WANT[:3]} if shape == "decoder" else {shape: WANT}
        for name, want in wants.items():
            path = folder / f"{name}.bundle"
            bundle.save(subject.record(TEXT, target, want=want), path)
            ids[name] = library.open_file(path)
    with serve(library) as url:
        yield Walks(url, ids)
    library.close()


def settled(page: Page, step: str) -> None:
    expect(page.locator(f'.walk[data-scene="{step}"]')).to_be_visible()
    expect(page.locator(".walk-scene > [aria-busy=true]")).to_have_count(0)
    rest(page)


@campaign("name", ["encoder", "decoder", "encoder-decoder"], sample=["decoder", "encoder-decoder"])
def test_every_step_is_shown_with_its_arithmetic(walks: Walks, look: Open, name: str) -> None:
    page = look(walks.address(name))
    expect(page.locator(".walk[data-scene]")).to_be_visible()
    rest(page)
    for step in walks.steps(name):
        while (scene := page.locator(".walk").get_attribute("data-scene")) != step["id"]:
            page.locator(".walk-title").press("ArrowRight")  # also past scenes that sum up other layers
            expect(page.locator(f'.walk[data-scene="{scene}"]')).to_have_count(0)
        settled(page, step["id"])
        assert page.locator(".walk-missing").count() == 0, step["id"]
        if step["operation"] != "choose":
            expect(page.locator(".walk-arithmetic h3 > b")).to_contain_text("=")


def test_choosers_are_within_the_view_at_any_width(walks: Walks, look: Open) -> None:
    page = look(
        walks.address("encoder-decoder", walk__step="encoder.0.self.products"), width=1440, height=800
    )
    settled(page, "encoder.0.self.products")
    for width in (1440, 1280, 1200, 1000, 900, 600, 561, 560, 360):
        page.set_viewport_size({"width": width, "height": 800})
        rest(page)
        host = page.locator(".view-host").bounding_box()
        choosers = page.locator(".walk-controls").bounding_box()
        assert host is not None, width
        assert choosers is not None, width
        assert choosers["x"] + choosers["width"] <= host["x"] + host["width"], width


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_result_of_a_step_is_on_a_small_page_without_scrolling(
    walks: Walks, look: Open, locale: str
) -> None:
    chapters = ["encoder.embedding.sum", "encoder.0.self.queries", "encoder.0.self.products"]
    chapters += ["encoder.0.self.weights", "encoder.0.feed_forward.active", "decoder.0.self.scores"]
    chapters += ["decoder.0.cross.mixed", "decoder.0.feed_forward.sum", "output.logits"]
    page = look(walks.address("encoder-decoder"), width=1280, height=720, locale=locale)
    for step in chapters:
        page.evaluate(
            "hash => { location.hash = hash }",
            walks.address("encoder-decoder", walk__step=step).split("#")[1],
        )
        settled(page, step)
        host = page.locator(".view-host").bounding_box()
        board = page.locator('.walk-scene [data-role="result"] .walk-board').bounding_box()
        assert host is not None
        assert board is not None
        assert board["y"] + board["height"] <= host["y"] + host["height"] + 1, step
        assert board["height"] >= 20, step
    pages = {"encoder.glance": ".walk-glance", "decoder.glance": ".walk-glance", "training": ".walk-train"}
    for scene, seen in pages.items():
        address = walks.address("encoder-decoder", walk__step=scene)
        page.evaluate("hash => { location.hash = hash }", address.split("#")[1])
        settled(page, scene)
        host, shown = (page.locator(each).bounding_box() for each in (".view-host", seen))
        assert host is not None
        assert shown is not None
        assert shown["y"] + shown["height"] <= host["y"] + host["height"] + 1, scene


def test_a_cell_tells_the_number_that_the_server_has(walks: Walks, look: Open) -> None:
    address = walks.address("decoder", head=1, walk__step="decoder.1.self.queries", walk__cell="3,2")
    page = look(address)
    settled(page, "decoder.1.self.queries")
    true = walks.array("decoder", "decoder/1/self/queries", 1)[3, 2]
    shown = page.locator(".walk-arithmetic h3 > b")
    expect(shown).to_be_visible()
    assert float(shown.get_attribute("title") or "nan") == near(float(true))
    # The row and the column that made it are lit in the input and in the weight.
    row = page.locator('[data-role="input"] .walk-mark:not([hidden])')
    column = page.locator('[data-role="parameter"][data-symbol="W_Q"] .walk-mark:not([hidden])')
    board = page.locator('[data-role="input"] .walk-board')
    expect(row).to_have_count(1)
    expect(column).to_have_count(1)
    assert row.bounding_box()["width"] >= board.bounding_box()["width"] - 2  # type: ignore[index]
    expect(page.locator('[data-role="input"] bdi[data-lit]')).to_have_text(
        "␣too" if "␣" in page.content() else "too"
    )


def test_hovering_shows_another_cell_and_clicking_pins_it(walks: Walks, look: Open) -> None:
    page = look(walks.address("decoder", walk__step="decoder.0.self.weights"))
    settled(page, "decoder.0.self.weights")
    board = page.locator('[data-role="result"] .walk-board')
    box = board.bounding_box()
    assert box is not None
    weights = walks.array("decoder", "decoder/0/self/weights", 0)
    side = box["width"] / len(weights), box["height"] / len(weights)
    place: Position = {"x": 2.5 * side[0], "y": 6.5 * side[1]}
    board.hover(position=place)
    shown = page.locator(".walk-arithmetic h3 > b")
    expect(shown).to_have_attribute("title", re.compile(f"^{float(weights[6, 2]):.4}"[:6]))
    rest(page)
    assert "walk.cell" not in page.evaluate("location.hash")
    board.click(position=place)
    page.wait_for_url(re.compile(r"walk\.cell=6,2"))
    assert "query=6" in page.evaluate("location.hash")


def test_colours_are_those_of_the_numbers(walks: Walks, look: Open) -> None:
    """Masked cells are clear; the largest weight of a row is the darkest of it."""
    page = look(walks.address("decoder", walk__step="decoder.0.self.weights"))
    settled(page, "decoder.0.self.weights")
    weights = walks.array("decoder", "decoder/0/self/weights", 0)
    light = page.evaluate(
        """(count) => {
          const canvas = document.querySelector('[data-role="result"] canvas');
          const context = canvas.getContext("2d");
          const size = [canvas.width / count, canvas.height / count];
          return Array.from({length: count}, (_, row) => Array.from({length: count}, (_, column) => {
            const [r, g, b] =
              context.getImageData((column + 0.08) * size[0], (row + 0.12) * size[1], 1, 1).data;
            return r + g + b;
          }));
        }""",
        len(weights),
    )
    allowed = np.tril_indices(len(weights))
    order = np.argsort(weights[allowed])
    assert (np.diff(np.array(light)[allowed][order]) <= 0).all()  # more weight is never lighter


def test_scrubbing_and_chapters(walks: Walks, look: Open) -> None:
    page = look(walks.address("encoder-decoder"))
    settled(page, "encoder.text")
    whole = "(all) => all.every((each) => each.scrollWidth <= each.clientWidth)"
    assert page.locator(".walk-marks button").evaluate_all(whole)  # no chapter's name is cut
    page.locator(".walk-marks button", has_text="Cross-attention").click()
    settled(page, "decoder.0.cross.queries")
    slider = page.locator(".walk-scrub input")
    slider.fill("3")
    settled(page, "encoder.embedding.positions")
    page.get_by_role("button", name="Last step").click()
    settled(page, "tree")
    page.get_by_role("button", name="First step").click()
    settled(page, "encoder.text")


def test_the_diagram_is_the_models_own(walks: Walks, look: Open) -> None:
    page = look(walks.address("encoder-decoder"))
    settled(page, "encoder.text")
    names = page.locator(".walk-block").evaluate_all("(all) => all.map((each) => each.dataset.block)")
    assert "decoder.0.cross.block" in names
    assert names.index("encoder.0.self.add") < names.index("encoder.0.self.norm")  # norms come last
    expect(page.locator(".walk-memory")).to_have_count(1)
    page.locator('[data-block="decoder.0.cross.block"]').click()
    settled(page, "decoder.0.cross.queries")
    page.goto(walks.address("decoder"))
    settled(page, "decoder.text")
    names = page.locator(".walk-block").evaluate_all("(all) => all.map((each) => each.dataset.block)")
    assert names.index("decoder.0.self.norm") < names.index("decoder.0.self.block")  # norms come first
    expect(page.locator(".walk-memory")).to_have_count(0)


def test_keys_layer_head_and_link(walks: Walks, look: Open) -> None:
    page = look(walks.address("decoder", walk__step="decoder.0.self.keys"))
    settled(page, "decoder.0.self.keys")
    page.locator(".walk-controls select").nth(0).select_option("1")
    settled(page, "decoder.1.self.keys")
    page.locator(".walk-controls select").nth(1).select_option("1")
    page.wait_for_url(re.compile("head=1"))
    page.locator(".walk-controls select").nth(2).select_option("4")
    page.wait_for_url(re.compile("query=4"))
    rest(page)
    shown = page.locator(".walk-arithmetic h3").inner_text()
    again = look(page.evaluate("location.href"))
    settled(again, "decoder.1.self.keys")
    expect(again.locator(".walk-arithmetic h3")).to_have_text(shown)
    again.locator(".walk-title").press("ArrowLeft")
    settled(again, "decoder.1.self.queries")
    again.locator(".walk-title").press("Home")
    settled(again, "decoder.text")


def test_playing_goes_on_and_pauses(walks: Walks, open_page: Open) -> None:
    page = open_page(walks.address("decoder"), reduced_motion=False)
    settled(page, "decoder.text")
    page.get_by_label("Speed").select_option("4")
    page.locator(".walk-play").click()
    page.evaluate(
        """async () => {
          await until(() => Number(document.querySelector('.walk-scrub input').value) >= 2);
          document.querySelector('.walk-play').click();
        }"""
    )
    expect(page.locator(".walk-play")).to_have_attribute("aria-pressed", "false")
    at = page.locator(".walk-scrub input").input_value()
    assert int(at) < int(page.locator(".walk-scrub input").get_attribute("max") or 0)
    rest(page)  # no timer is left that would go on
    assert page.locator(".walk-scrub input").input_value() == at


def test_a_recording_without_its_trace_says_what_is_missing(walks: Walks, look: Open) -> None:
    page = look(walks.address("plain", walk__step="decoder.0.self.queries"))
    expect(page.locator(".walk-notice")).to_be_visible()
    expect(page.locator(".walk-missing")).to_be_visible()
    page.goto(walks.address("plain", walk__step="decoder.0.self.weights"))
    settled(page, "decoder.0.self.weights")
    expect(page.locator('[data-role="result"] canvas')).to_be_visible()


def test_chinese_and_small_screens(walks: Walks, look: Open) -> None:
    page = look(
        walks.address("encoder-decoder", walk__step="decoder.1.cross.mixed"),
        width=360,
        height=740,
        locale="zh-CN",
        dark=True,
    )
    settled(page, "decoder.1.cross.mixed")
    expect(page.locator(".walk-title")).to_have_text("值的加权和")
    expect(page.locator(".walk-map")).to_be_hidden()
    expect(page.locator(".walk-jump")).to_be_visible()
    assert measure_overflow(page) <= 0
    page.locator(".walk-jump").select_option(index=0)
    settled(page, "encoder.text")
    page.goto(walks.address("encoder-decoder", walk__step="training"))
    settled(page, "training")
    said, table = page.locator(".walk-said").first, page.locator(".walk-scroll")
    ends = [each.evaluate("(node) => node.getBoundingClientRect().right") for each in (said, table)]
    assert ends[0] <= ends[1] + 1  # what the model says is seen without scrolling


def test_step_as_svg_and_walk_as_gif(walks: Walks, look: Open, tmp_path: Path) -> None:
    page = look(walks.address("decoder", walk__step="decoder.0.self.products"))
    settled(page, "decoder.0.self.products")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    svg = Path(download.value.path()).read_text(encoding="utf-8")
    assert "Every query is multiplied with every key" in svg
    assert svg.count("<rect") > 100
    save = page.locator(".walk-save")
    page.evaluate(
        """async () => {
          const save = document.querySelector('.walk-save');
          save.click();
          await until(() => save.textContent.includes('Cancel'));
          save.click();  // given up: the next one is the only file that comes
        }"""
    )
    expect(save).to_have_text("Save walk (GIF)")
    with page.expect_download() as download:
        save.click()
    gif = Path(download.value.path()).read_bytes()
    assert gif[:6] == b"GIF89a"
    assert gif[-1:] == b";"
    width, height = struct.unpack("<HH", gif[6:10])
    assert width > 300
    assert height > 200
    scenes = page.locator(".walk-jump option").count()
    assert scenes > len(walks.steps("decoder")) + 2  # text and layers at a glance, too
    assert gif.count(b"\x21\xf9\x04\x04") == scenes - 1  # all of them but a tree that was not grown


def test_the_model_runs_again_for_its_trace(bench: Bench, open_page: Open) -> None:
    page = open_page(f"{bench.url}/#view=overview")
    fill(page, "decoder", TEXT)
    press_run(page)
    page.get_by_role("tab", name="Walk").click()
    expect(page.locator(".walk-title")).to_have_text("Text becomes tokens")
    expect(page.locator(".walk-notice")).to_be_hidden()
    page.locator(".walk-title").press("ArrowRight")
    settled(page, "decoder.embedding.tokens")
    expect(page.locator(".walk-arithmetic h3 > b")).to_contain_text("=")
    expect(page.locator(".walk-missing")).to_have_count(0)
    # The second run is in no list, and whoever comes back finds it done.
    listed = [entry.id for entry in bench.library.entries()]
    page.wait_for_url(re.compile(r"walk\.step=decoder\.embedding\.tokens"))
    page.reload()
    settled(page, "decoder.embedding.tokens")
    expect(page.locator(".walk-notice")).to_be_hidden()
    expect(page.locator(".walk-arithmetic h3 > b")).to_contain_text("=")
    assert [entry.id for entry in bench.library.entries()] == listed
    assert listed[0] in page.url
