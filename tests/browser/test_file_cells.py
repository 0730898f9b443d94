"""The arithmetic of cells in an exported file, computed by the page itself: the same as the server's."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.waiting import measure_overflow, rest
from campaigns import LONG, rounds
from glassformer import load
from glassformer.recording import Recording
from glassformer.render.html.export import EMBEDDED, export
from glassformer.walk import explain, make_plan
from glassformer.walk.types import Step
from tiny_models import build_model
from traces import record_perceived

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: npm run build in web/"),
]

TEXT = "the animal was too tired to cross the street"
WANT = ("weights", "output", "hidden", "queries", "keys", "values", "scores", "trace", "parameters")
# Each shape, and between them every kind of step.
MODELS: dict[str, dict[str, Any]] = {
    "encoder": {"head": "masked", "activation": "gelu", "embedding_norm": True},
    "decoder": {
        "positions": "rotary",
        "norm_position": "pre",
        "activation": "gelu-tanh",
        "residual_scale": True,
    },
    "encoder-decoder": {
        "positions": "alibi",
        "heads": 4,
        "key_heads": 2,
        "query_key_norm": True,
        "window": 3,
        "score_scale": 0.5,
    },
    "classifier": {
        "shape": "encoder",
        "head": "classes",
        "pooler": True,
        "pooling": "max",
        "similarity": "cosine",
        "activation": "silu",
        "best_keys": 3,
        "positions": "sinusoidal-halves",
    },
    "basic": {
        "shape": "encoder",
        "head": "classes",
        "pooling": "mean",
        "basic_attention": True,
        "norm": "batch",
        "positions": "learned",
    },
}
OFFLINE = {
    "waves",
    "fall",
    "scale",
    "add",
    "norm",
    "split",
    "turn",
    "dot",
    "cosine",
    "divide",
    "mask",
    "softmax",
}
OFFLINE |= {"mix", "join", "activate", "pool", "cut", "fourier", "mel"}
ONLINE = {"lookup", "product", "prepend", "convolve"}  # their weights stay at home
# What only networks that look or listen do, and positions in two dimensions.
PERCEIVED: dict[str, dict[str, Any]] = {
    "picture": {"reads": "picture"},
    "grey picture": {"reads": "picture", "positions": "rotary", "color": False, "layers": 2},
    "sound": {"reads": "sound"},
}
PERCEIVING = {"cut", "fourier", "mel", "waves", "turn", "prepend", "convolve"}

# Every answer about a cell, as the page reads it.
LISTEN = """(() => {
  window.cells = {};
  const read = Response.prototype.text;
  Response.prototype.text = async function () {
    const text = await read.call(this);
    if (text.startsWith('{"step":')) {
      const { step, head, row, column } = JSON.parse(text);
      window.cells[[step, head, row, column]] = text;
    }
    return text;
  };
})()"""

Open = Callable[..., Page]


@dataclass
class Exported:
    """A recording, and the file that was made of it."""

    recording: Recording
    path: Path
    perceives: bool = False

    def steps(self) -> list[Step]:
        """Those outside of layers, and of the last layer; chosen words are no cells."""
        every = [step for chapter in make_plan(self.recording).chapters for step in chapter.steps]
        here = [step for step in every if step.layer in (None, 1) and step.operation != "choose"]
        return [step for step in here if step.operation in PERCEIVING] if self.perceives else here


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exported]:
    folder = tmp_path_factory.mktemp("files")
    made = {}
    for name, settings in MODELS.items():
        words = {"shape": name, **settings}
        subject = load(build_model(folder / name, **words))
        target = "the street was too tired" if words["shape"] == "encoder-decoder" else None
        recording = subject.record(TEXT, target, want=WANT)
        made[name] = Exported(recording, export(recording, folder / f"{name}.html"))
    for name, settings in PERCEIVED.items():
        recording = record_perceived(want=WANT, **settings)
        made[name] = Exported(recording, export(recording, folder / f"{name}.html"), perceives=True)
    return made


def go(page: Page, file: Exported, step: str, cell: tuple[int, int], head: int | None) -> None:
    """To a cell of a step; the layer that is open is that of the chosen map."""
    place = step.split(".")[:2]
    maps = [[each.stack, str(each.layer)] for each in file.recording.maps]
    number = maps.index(place) if place in maps else 0
    link = f"view=walk&map={number}&head={head or 0}&walk.step={step}&walk.cell={cell[0]},{cell[1]}"
    page.evaluate("(link) => { location.hash = link; }", link)
    expect(page.locator(f'.walk[data-scene="{step}"]')).to_be_visible()
    expect(page.locator(".walk-scene > [aria-busy=true]")).to_have_count(0)
    rest(page)


def compare(mine: Any, theirs: Any, place: str) -> None:
    """The same words and numbers; these to nine digits, since sums are taken in another order."""
    if isinstance(theirs, dict):
        assert sorted(mine) == sorted(theirs), place
        for name in theirs:
            compare(mine[name], theirs[name], f"{place} {name}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), place
        for number, (one, other) in enumerate(zip(mine, theirs, strict=True)):
            compare(one, other, f"{place} {number}")
    elif isinstance(theirs, float) and mine is not None:
        assert math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-12), (place, mine, theirs)
    else:
        assert mine == theirs, place


def choose_steps(steps: list[Step]) -> list[Step]:
    """All of them in `make test-long`, else the last of each kind and number of axes."""
    kinds = {(step.operation, len(step.shape.output or ())): step for step in steps}
    return steps if LONG else list(kinds.values())


@pytest.mark.long
@pytest.mark.parametrize("name", [*MODELS, *PERCEIVED])
def test_cells_in_a_file_are_those_of_the_server(
    exported: dict[str, Exported], open_file: Open, name: str
) -> None:
    file, chance = exported[name], np.random.default_rng(0)
    page = open_file(file.path, "#view=walk", init=LISTEN)
    expect(page.locator(".walk[data-scene]")).to_be_visible()
    for step in choose_steps(file.steps()):
        assert step.arithmetic
        shape = step.shape.output or ()
        for _ in range(1 if step.operation in ONLINE else rounds(1, 4)):
            place = [int(chance.integers(length)) for length in shape]
            head = place[0] if len(shape) == 3 else None
            row = place[-2] if len(shape) > 1 else 0
            group = file.recording.maps[0].heads // shape[0] if head is not None else 1
            looking = (
                None if head is None else head * group + int(chance.integers(group))
            )  # of those that share
            go(page, file, step.id, (row, place[-1]), looking)
            told = page.locator(".walk-arithmetic")
            if step.operation in ONLINE:
                expect(told).to_contain_text("The learned weights of this step are not in this file")
                expect(told).to_contain_text("workbench")
                continue
            cells = {
                key: json.loads(text)
                for key, text in page.evaluate("() => window.cells").items()
                if key.startswith(f"{step.id},")
            }
            assert cells, step.id
            if step.axes[-1] != "vocabulary":  # of that, a few columns are shown
                assert f"{step.id},{'' if head is None else head},{row},{place[-1]}" in cells
                expect(told.locator("h3 > b")).to_contain_text("=")
            for cell in cells.values():
                true = explain(file.recording, step.id, cell["row"], cell["column"], cell["head"])
                compare(cell, true.model_dump(mode="json"), step.id)


def test_every_kind_of_step_is_looked_at(exported: dict[str, Exported]) -> None:
    kinds = {step.operation for file in exported.values() for step in file.steps()}
    assert kinds == OFFLINE | ONLINE


def test_pointing_lights_the_row_and_the_column(exported: dict[str, Exported], open_file: Open) -> None:
    file = exported["encoder-decoder"]
    page = open_file(file.path, "#view=walk")
    expect(page.locator(".walk[data-scene]")).to_be_visible()
    go(page, file, "decoder.1.cross.products", (0, 0), 1)
    board = page.locator('[data-role="result"] .walk-board')
    box = board.bounding_box()
    assert box is not None
    products = file.recording.trace["decoder/1/cross/products"][1]  # (query, key)
    rows, columns = products.shape
    board.hover(position={"x": 3.5 * box["width"] / columns, "y": 2.5 * box["height"] / rows})
    shown = page.locator(".walk-arithmetic h3 > b")
    expect(shown).to_have_attribute("title", re.compile(f"^{re.escape(str(products[2, 3])[:6])}"))
    lit = page.locator('[data-role="input"] .walk-mark:not([hidden])')
    expect(lit).to_have_count(2)
    boxes = [lit.nth(number).bounding_box() for number in range(2)]
    query, key = sorted((box for box in boxes if box is not None), key=lambda box: box["height"])
    assert query["width"] > 3 * query["height"]  # a row of the queries
    assert key["height"] > 3 * key["width"]  # a column of the keys, which lie on their side


def test_on_a_telephone_in_chinese(exported: dict[str, Exported], open_file: Open) -> None:
    look = {"viewport": {"width": 360, "height": 740}, "locale": "zh-CN", "color_scheme": "dark"}
    file = exported["decoder"]
    page = open_file(file.path, "#view=walk", **look)
    expect(page.locator(".walk[data-scene]")).to_be_visible()
    go(page, file, "decoder.0.self.mixed", (4, 2), 1)
    expect(page.locator(".walk-arithmetic")).to_contain_text("以双精度重新计算")
    go(page, file, "decoder.0.self.queries", (4, 2), 1)
    expect(page.locator(".walk-arithmetic")).to_contain_text("这个文件里没有这一步学到的权重")
    expect(page.locator(".walk-arithmetic")).to_contain_text("工作台")
    assert measure_overflow(page) <= 0
