"""Figures: what is drawn, counted in the files; letters, captions, refusals."""

import io
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.text import Text

from glassformer.errors import GlassformerError, InputError, RecordingError
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, from_arrays, measure
from glassformer.render.figures import figure, style
from glassformer.render.figures.figure import VIEWS
from glassformer.render.figures.fonts import choose_fonts
from glassformer.render.figures.heads import CELL, GAP, build_mosaic
from glassformer.runlog import RunWriter, read_run

SVG = "{http://www.w3.org/2000/svg}"
WEB = Path(__file__).parents[3] / "web" / "src" / "marks" / "colours.ts"


def make_tokens(side, texts):
    return Tokens(side, tuple(texts), np.arange(len(texts)))


def make_recording(queries=("a", "b", "c"), keys=("x", "y", "z", "w"), heads=2, layers=2, model="toy"):
    random = np.random.default_rng(0)
    query, key = make_tokens("target", queries), make_tokens("source", keys)
    maps = []
    for layer in range(layers):
        weights = random.dirichlet(np.ones(len(keys)), size=(heads, len(queries))).astype(np.float32)
        maps.append(AttentionMap("decoder", layer, "cross", query, key, measure(weights), dense=weights))
    stamp = Evidence(model, "0123456789abcdef", "eager", "float32", True)
    return Recording(model, stamp, key, query, maps=tuple(maps))


def read_svg(drawn):
    return ElementTree.fromstring(drawn.encode("svg"))


def find(root, name):
    return next(element for element in root.iter() if element.get("id") == name)


def read_text(drawn):
    """Matplotlib keeps the words beside their outlines, as comments."""
    return re.findall(r"<!-- (.*?) -->", drawn.encode("svg").decode())


def test_heat_map_draws_one_cell_for_each_weight_in_its_colour():
    recording = make_recording()
    drawn = figure(recording, "heatmap", layer=1, head=0)
    cells = list(find(read_svg(drawn), "weights").iter(f"{SVG}path"))
    weights = recording.maps[1].weights(0)
    assert len(cells) == weights.size
    colours = [re.search("fill: (#[0-9a-f]{6})", each.get("style"))[1] for each in cells]
    table = style.weight_colours()
    for colour, share in zip(colours, (weights / weights.max()).ravel(), strict=True):
        wanted = table[min(int(share * 256), 255)]
        shown = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        assert np.abs(np.array(shown) - wanted).max() < 0.02


def test_heat_map_names_tokens_model_map_and_evidence():
    words = read_text(figure(make_recording(), "heatmap", layer=1, head=0))
    assert {"x", "y", "z", "w", "a → b", "b → c"} <= set(words)
    assert "toy: decoder layer 1, cross, head 0" in words
    assert any("eager" in line for line in words)


def test_lines_are_as_many_as_weights_above_one_percent():
    recording = make_recording()
    root = read_svg(figure(recording, "lines", layer=0, head=[0, 1]))
    for head in (0, 1):
        lines = list(find(root, f"head-{head}").iter(f"{SVG}path"))
        assert len(lines) == int((recording.maps[0].weights(head) >= 0.01).sum())


def test_bars_are_as_tall_as_scores():
    from glassformer.metrics import score

    recording = make_recording()
    drawn = figure(recording, "bars", metric="entropy")
    values = [part.values for part in score(recording, "entropy").parts]
    axes = drawn.canvas.axes[0]
    heights = np.array([[bar.get_height() for bar in group] for group in axes.containers]).T  # (layer, head)
    np.testing.assert_allclose(heights, np.array(values))


def test_mosaic_holds_every_thumbnail_with_gaps_between():
    recording = make_recording()
    mosaic = build_mosaic(list(recording.maps), 2)
    assert mosaic.shape == (2 * CELL + GAP, 2 * CELL + GAP)
    assert np.isnan(mosaic[CELL : CELL + GAP]).all()
    thumbnail = recording.maps[1].statistics.thumbnail_max[0]
    assert mosaic[CELL + GAP, 0] == pytest.approx(np.sqrt(thumbnail[0, 0]))
    figure(recording, "heads").encode("png")


def test_curves_of_a_run(tmp_path):
    with RunWriter(tmp_path / "run") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 6))
    log = read_run(tmp_path / "run")
    line = figure(log).canvas.axes[0].get_lines()[0]
    np.testing.assert_allclose(line.get_ydata(), [1 / step for step in range(1, 6)])
    with pytest.raises(InputError, match="los"):
        figure(log, names=["los"])


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_files_are_whole_and_the_same_each_time(tmp_path, kind):
    recording = make_recording()
    first = figure(recording).save(tmp_path / f"first.{kind}").read_bytes()
    assert first == figure(recording).encode(kind)
    assert first.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[kind])
    assert [path.name for path in tmp_path.iterdir()] == [f"first.{kind}"]


def test_pdf_is_vectors():
    assert b"/Subtype /Image" not in figure(make_recording(), "heatmap").encode("pdf")


def test_long_maps_become_images_of_means():
    texts = [f"t{place}" for place in range(1500)]
    weights = np.full((1, 1500, 1500), 1 / 1500, dtype=np.float32)
    tokens = make_tokens("source", texts)
    each = AttentionMap("encoder", 0, "self", tokens, tokens, measure(weights), dense=weights)
    recording = Recording("long", Evidence("long", "0" * 12, "eager", "float32", True), tokens, maps=(each,))
    drawn = figure(recording)
    assert drawn.canvas.axes[0].images[0].get_array().shape == (750, 750)
    assert any("mean of 2 × 2" in words for words in read_text(drawn))


@pytest.fixture
def chinese_font():
    """Skips the test where no font has Chinese."""
    try:
        return choose_fonts(["汤姆追逐杰瑞"])
    except InputError:
        pytest.skip("no font with Chinese is installed (fonts-noto-cjk)")


def test_chinese_is_drawn_with_a_font_that_has_it(chinese_font):
    assert len(chinese_font) > 1
    drawn = figure(make_recording(queries=("汤姆", "追逐"), keys=("Tom", "chases")))
    for kind in ("pdf", "svg", "png"):
        drawn.encode(kind)  # a missing glyph would be a warning, and warnings are errors here


def test_letters_without_a_font_are_named():
    with pytest.raises(InputError, match=r"No font .* 𒀀"):
        figure(make_recording(queries=("𒀀",)))


def test_dollar_signs_are_text():
    assert "$y_1$ → …" in read_text(figure(make_recording(queries=("$y_1$",))))


def test_colours_are_those_of_the_page():
    light = re.search(r"SEQUENTIAL.*?light: \[(.*?)\n  \]", WEB.read_text(), re.DOTALL)[1]
    stops = [tuple(map(float, each.split(","))) for each in re.findall(r"\[([^\[\]]+)\]", light)]
    assert tuple(stops) == style._STOPS
    lightness = style.weight_colours() @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < 0).all()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"view": "heatmat"}, "heatmap"),
        ({"view": "curves"}, "RunLog"),
        ({"layer": 9}, "layer"),
        ({"head": 7}, "head"),
        ({"head": [0, 1]}, "one head"),
        ({"view": "bars", "metric": "entrpy"}, "entropy"),
        ({"width": "wide"}, "column"),
        ({"width": 0.1}, "inches"),
        ({"fonts": ["No Such Font"]}, "No Such Font"),
    ],
)
def test_refusals(words, complaint):
    with pytest.raises(GlassformerError, match=complaint):
        figure(make_recording(), **words)


def test_a_map_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(InputError, match=r"^toy has no encoder attention\. Choose cross\.$"):
        figure(make_recording(), "heads", part="encoder", layer=9)
    with pytest.raises(InputError, match=r"no layer 9 of cross\. Choose a layer from 0 to 1\.$"):
        figure(make_recording(), "heads", part="cross", layer=9)


def test_bad_places_leave_nothing_behind(tmp_path):
    drawn = figure(make_recording())
    with pytest.raises(InputError, match=r"\.pdf, \.svg or \.png"):
        drawn.save(tmp_path / "figure.docx")
    with pytest.raises(InputError, match="cannot be written"):
        drawn.save(tmp_path / "missing" / "figure.pdf")
    assert list(tmp_path.iterdir()) == []


def test_views_are_listed_and_torch_stays_out():
    assert set(VIEWS) == {"heatmap", "heads", "lines", "bars", "curves"}
    heavy = "bool({'torch', 'matplotlib'} & set(sys.modules))"
    code = f"import sys, glassformer.render.figures as _; sys.exit({heavy})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_notebooks_get_a_picture():
    from PIL import Image

    assert Image.open(io.BytesIO(figure(make_recording())._repr_png_())).width > 300


def test_a_short_side_is_named_beside_a_long_one(chinese_font):
    drawn = figure(make_recording(queries=["汤姆", "追逐"], keys=[f"k{place}" for place in range(80)]))
    assert "汤姆 → 追逐" in read_text(drawn)  # with a font that has it, or this would be a warning


def test_a_place_names_the_map():
    recording = make_recording()
    place = recording.maps[-1].place
    by_place = figure(recording, "heatmap", place=place, head=0).encode("svg")
    assert by_place == figure(recording, "heatmap", place=place.address, head=0).encode("svg")
    part = "cross" if place.kind == "cross" else place.stack
    assert by_place == figure(recording, "heatmap", part=part, layer=place.layer, head=0).encode("svg")
    with pytest.raises(RecordingError) as error:
        figure(recording, "heatmap", place="decoder.self.9")
    assert error.value.message.code == "recording.no_map"


@pytest.mark.usefixtures("chinese_font")
@pytest.mark.parametrize("view", ["heatmap", "heads", "lines", "bars"])
def test_figures_speak_chinese(view):
    drawn = figure(make_recording(), view, language="zh")
    texts = " ".join(text.get_text() for text in drawn.canvas.findobj(Text))
    assert "依据：" in texts
    assert "Evidence" not in texts
    with pytest.raises(InputError, match="language is 'tlh'"):
        figure(make_recording(), view, language="tlh")


@pytest.mark.parametrize("view", ["heatmap", "heads"])
def test_signed_values_have_a_diverging_scale(view: str) -> None:
    values = np.array([[[[-0.5, 0.25], [0.0, 0.5]]]])
    drawn = figure(from_arrays(values, ["a", "b"], content="signed"), view)
    picture = next(each for axes in drawn.canvas.axes for each in (*axes.images, *axes.collections))
    assert picture.get_clim() == (-0.5, 0.5)
    low, high = picture.cmap(0.0), picture.cmap(1.0)
    assert low[2] > low[0]  # blue below zero
    assert high[0] > high[2]  # red above
