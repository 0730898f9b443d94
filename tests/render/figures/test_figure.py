"""Figures: chosen, drawn, and written completely or not at all."""

import io
import itertools
import re
import subprocess
import sys
from typing import Any

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.text import Text

from campaigns import campaign
from drawings import make_recording, read_svg
from glassformer.errors import GlassformerError, InputError, RecordingError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure
from glassformer.render.figures.figure import USED, VIEWS


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
@pytest.mark.slow
def test_files_are_whole_and_the_same_each_time(tmp_path, kind):
    recording = make_recording()
    first = figure(recording).save(tmp_path / f"first.{kind}").read_bytes()
    assert first == figure(recording).encode(kind)
    assert first.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[kind])
    assert [path.name for path in tmp_path.iterdir()] == [f"first.{kind}"]


@pytest.mark.slow
def test_pdf_is_vectors():
    assert b"/Subtype /Image" not in figure(make_recording(), "heatmap").encode("pdf")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"view": "heatmat"}, "heatmap"),
        ({"view": "curves"}, "RunLog"),
        ({"layer": 9}, "layer"),
        ({"head": 7}, "head"),
        ({"head": [0, 1], "view": "difference", "against": make_recording()}, "one head"),
        ({"head": "two"}, "ADDRESS:NUMBER"),
        ({"vmax": 0}, "above zero"),
        ({"vmax": float("nan")}, "above zero"),
        ({"cmap": "viridi"}, "viridis"),
        ({"scale": "log"}, "linear or root"),
        ({"view": "difference"}, "against"),
        ({"view": "heatmap", "against": make_recording()}, "difference"),
        ({"view": "lines", "head": ["decoder.cross.0:1", "decoder.cross.1:1"]}, "one map"),
        ({"view": "bars", "metric": "entrpy"}, "entropy"),
        ({"width": "wide"}, "column"),
        ({"width": 0.1}, "inches"),
        ({"fonts": ["No Such Font"]}, "No Such Font"),
    ],
)
def test_refusals(words, complaint):
    with pytest.raises(GlassformerError, match=complaint):
        figure(make_recording(), **words)


@pytest.mark.slow
def test_bad_places_leave_nothing_behind(tmp_path):
    drawn = figure(make_recording())
    with pytest.raises(InputError, match=r"\.pdf, \.svg or \.png"):
        drawn.save(tmp_path / "figure.docx")
    with pytest.raises(InputError, match="cannot be written"):
        drawn.save(tmp_path / "missing" / "figure.pdf")
    assert list(tmp_path.iterdir()) == []


def test_views_are_listed_and_torch_stays_out():
    assert set(VIEWS) == {
        "heatmap",
        "heads",
        "lines",
        "bars",
        "rollout",
        "difference",
        "picture",
        "sound",
        "curves",
        "learning",
        "strip",
        "atlas",
        "study",
    }
    heavy = "bool({'torch', 'matplotlib'} & set(sys.modules))"
    code = f"import sys, glassformer.render.figures as _; sys.exit({heavy})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_notebooks_get_a_picture():
    from PIL import Image

    assert Image.open(io.BytesIO(figure(make_recording())._repr_png_())).width > 300


@pytest.mark.slow
def test_a_notebook_shows_the_printed_size():
    data, metadata = figure(make_recording(), width=3.4)._repr_mimebundle_()
    assert metadata["image/png"]["width"] == 326  # 3.4 inches of 96 pixels
    assert data["image/png"].startswith(b"\x89PNG")
    assert "Evidence" in data["text/plain"]


@campaign(
    "view, width, inches",
    [
        *((view, "column", 3.4) for view in ("heatmap", "heads", "lines", "bars", "rollout", "difference")),
        ("heatmap", "page", 7.0),
        ("bars", 5.25, 5.25),
    ],
    sample=4,
)
def test_a_file_is_exactly_as_wide_as_asked_for(view, width, inches):
    from PIL import Image

    recording = from_arrays(np.full((2, 2, 12, 12), 1 / 12), [f"a long token {i}" for i in range(12)])
    words = {"against": recording} if view == "difference" else {}
    drawn = figure(recording, view, width=width, title="a title " * 30, **words)
    [box] = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", drawn.encode("pdf"))
    assert float(box[0]) / 72 == pytest.approx(inches, abs=0.005 / 72)  # two decimals of a point
    image = Image.open(io.BytesIO(drawn.encode("png")))
    assert image.width == round(inches * 300)
    assert image.height == pytest.approx(float(box[1]) / 72 * 300, abs=2)
    root = read_svg(drawn)
    points = float(root.get("width").removesuffix("pt"))  # with six decimals
    assert points / 72 == pytest.approx(inches, abs=5e-7)
    drawn.canvas.draw_without_rendering()
    inside = drawn.canvas.get_tightbbox()  # inches: nothing is cut off
    assert inside.x0 > -0.02
    assert inside.x1 < inches + 0.02
    assert inside.y0 > -0.02
    assert inside.y1 < drawn.canvas.get_size_inches()[1] + 0.02


def overlapping(drawn):
    """Labels of ticks that touch, measured by the renderer."""
    drawn.canvas.draw_without_rendering()
    found = []
    for axes in drawn.canvas.axes:
        for axis in (axes.xaxis, axes.yaxis):
            boxes = [each.get_window_extent() for each in axis.get_ticklabels() if each.get_text()]
            turned = [each.get_rotation() % 90 for each in axis.get_ticklabels()]
            if not any(turned):
                found += [(a, b) for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]
    return found


@pytest.mark.parametrize("tokens", [17, 64, 200])
@pytest.mark.slow
def test_labels_never_touch(tokens):
    weights = np.random.default_rng(0).dirichlet(np.ones(tokens), size=(1, 3, tokens))
    recording = from_arrays(weights, [f"token{i}" for i in range(tokens)])
    assert overlapping(figure(recording, "rollout")) == []
    assert overlapping(figure(recording, head=[0, 1, 2])) == []


@pytest.mark.slow
def test_all_labels_are_drawn_where_there_is_room():
    recording = from_arrays(np.full((1, 5, 17, 17), 1 / 17), [f"t{i}" for i in range(17)])
    drawn = figure(recording, head=[0, 1, 2, 3, 4], width="page")
    shown = [each.get_text() for each in drawn.canvas.axes[0].yaxis.get_ticklabels()]
    assert shown == [f"t{i}" for i in range(17)]
    assert [each.get_text() for each in drawn.canvas.axes[1].yaxis.get_ticklabels()] == []


@pytest.mark.slow
def test_the_fonts_of_a_persons_settings_are_used():
    with matplotlib.rc_context({"font.family": ["serif"], "font.size": 9}):
        drawn = figure(make_recording())
    texts = [text for text in drawn.canvas.findobj(Text) if text.get_text()]
    assert len(texts) > 8
    for text in texts:
        assert text.get_fontfamily()[0] == "DejaVu Serif"
    assert max(text.get_fontsize() for text in texts) == 9
    usual = [text for text in figure(make_recording()).canvas.findobj(Text) if text.get_text()]
    assert {text.get_fontfamily()[0] for text in usual} == {"DejaVu Sans"}
    assert max(text.get_fontsize() for text in usual) == 7


@pytest.mark.slow
def test_axes_of_a_persons_own_figure():
    own = matplotlib.figure.Figure(figsize=(6, 3), layout="constrained")
    left, right = own.subplots(1, 2)
    recording = make_recording()
    drawn = figure(recording, "heatmap", layer=1, head=0, ax=left)
    figure(recording, "bars", ax=right)
    assert not any(spine.get_visible() for spine in left.spines.values())  # no half frame around a matrix
    assert left.title.get_wrap()
    assert drawn.canvas is own
    assert own.get_size_inches().tolist() == [6, 3]
    np.testing.assert_array_equal(left.collections[0].get_array().reshape(3, 4), recording.maps[1].weights(0))
    assert right.containers
    assert own.get_supxlabel() == ""
    assert "Colours are linear" in drawn.caption
    with pytest.raises(InputError) as error:
        figure(recording, head=[0, 1], ax=left)
    assert error.value.message.code == "render.figures.one_panel"


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("view", "options", "unused"),
    [
        ("heatmap", {"metric": "entropy"}, "--metric"),
        ("heatmap", {"names": ["loss"]}, "--curve"),
        ("heads", {"reading": "entered"}, "--reading"),
        ("lines", {"vmax": 1.0}, "--vmax"),
        ("bars", {"head": 1}, "--head"),
        ("bars", {"cmap": "viridis"}, "--cmap"),
        ("rollout", {"head": 1, "steps": [1]}, "--head"),
    ],
)
def test_a_choice_that_would_change_nothing_is_refused(view: str, options: Any, unused: str) -> None:
    with pytest.raises(InputError) as caught:
        figure(make_recording(), view, **options)
    assert caught.value.message.code == "render.figures.unused"
    assert unused in str(caught.value)


def test_every_view_says_which_choices_it_uses() -> None:
    assert USED.keys() == VIEWS.keys()
