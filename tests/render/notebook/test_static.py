"""A saved notebook without kernel and network: a picture, a table, and no copy of the page's code."""

import base64
import io
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np
import pytest

from drawings import make_recording
from glassformer import bundle
from glassformer.recording import Recording, from_arrays
from glassformer.render.figures.figure import figure
from glassformer.render.html.export import EMBEDDED
from glassformer.render.notebook.static import write_static, write_static_run
from glassformer.runlog import RunWriter, read_run
from inventions import invent_captioner, invent_listener

PICTURE = re.compile(r'<img src="data:image/png;base64,([^"]+)" width="(\d+)" height="(\d+)"')


@pytest.mark.slow
def test_the_picture_has_its_printed_size_and_the_table_the_weights() -> None:
    from PIL import Image

    recording = make_recording()
    html = write_static(recording, {"place": "decoder.cross.1", "head": "1"}, "here", "en")
    found = PICTURE.search(html)
    assert found is not None
    image = Image.open(io.BytesIO(base64.b64decode(found[1])))
    assert int(found[2]) == 326  # 3.4 inches of 96 pixels
    assert image.width == pytest.approx(2 * 326, abs=1)
    cells = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", html)]
    weights = recording.maps[1].weights(1)
    np.testing.assert_allclose(np.reshape(cells, weights.shape), weights, atol=5e-4)
    assert "<script" not in html
    assert "http" not in html


@pytest.mark.parametrize("chosen", [{}, {"place": "nowhere", "head": "x"}, {"head": "99"}])
@pytest.mark.slow
def test_a_selection_of_anything_still_shows_a_picture(chosen: dict[str, str]) -> None:
    assert PICTURE.search(write_static(make_recording(), chosen, "here", "zh"))


@pytest.mark.parametrize(("view", "build"), [("picture", invent_captioner), ("sound", invent_listener)])
@pytest.mark.slow
def test_attention_is_drawn_on_what_it_looks_at(view: str, build: Callable[[], Recording]) -> None:
    recording = build()
    drawn = {each: write_static(recording, {"view": each}, "here", "en") for each in (view, "heatmap")}
    about = {each: re.search(r'alt="([^"]+)"', html) for each, html in drawn.items()}
    told = figure(recording, view, head=0, language="en").caption
    assert about[view] is not None
    assert about[view][1] == escape(told, quote=True)
    assert about["heatmap"] is not None
    assert about["heatmap"][1] != about[view][1]


@pytest.mark.slow
def test_tokens_are_text() -> None:
    recording = from_arrays(np.full((1, 1, 2, 2), 0.5), ["<script>alert(1)</script>", "&"])
    assert "<script" not in write_static(recording, {}, "here", "en")


def test_a_long_recording_is_described_only() -> None:
    recording = from_arrays(np.full((1, 1, 600, 600), 1 / 600))
    html = write_static(recording, {}, "here", "en")
    assert "600 source tokens" in html
    assert "<img" not in html


@pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
@pytest.mark.slow
def test_a_saved_notebook(tmp_path: Path) -> None:
    """Executed, saved and converted: five widgets, no code of the page, pictures that need no network."""
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbconvert = pytest.importorskip("nbconvert", reason="needs nbconvert")
    import nbformat

    path = tmp_path / "toy.bundle"
    bundle.save(make_recording(), path)
    book = nbformat.v4.new_notebook()
    opening = f"import glassformer as gf; from glassformer import bundle; r = bundle.open({str(path)!r})"
    sources = [opening, *["gf.show(r)"] * 4, "r"]
    book.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    saved = nbformat.writes(book)
    assert len(saved) < 400_000  # the page's code alone is larger; it was stored five times
    assert len(EMBEDDED.read_text(encoding="utf-8")) > 400_000
    assert "widget-view+json" in saved  # with a kernel the views themselves are shown
    html, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(book)
    assert len(re.findall(r'<img [^>]*src="data:image/png;base64,[^>]* width="326"', html)) == 5
    assert html.count("<td>") >= 5 * 12


def test_a_run_is_a_picture_of_its_curves_and_a_table_of_their_last_values(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "<b>run") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 5))
    html = write_static_run(read_run(tmp_path / "<b>run"), "here", "en")
    assert PICTURE.search(html)
    assert "<tr><th>loss</th><td>4</td><td>0.25</td></tr>" in html
    assert "<script" not in html
    assert "<b>" not in html, "names are text"
    with RunWriter(tmp_path / "empty"):
        pass
    assert '<div id="here">' in write_static_run(read_run(tmp_path / "empty"), "here", "zh")
