"""Figures: chosen, drawn, and written completely or not at all."""

import io
import subprocess
import sys

import pytest

from drawings import make_recording
from glassformer.errors import GlassformerError, InputError, RecordingError
from glassformer.render.figures import figure
from glassformer.render.figures.figure import VIEWS


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_files_are_whole_and_the_same_each_time(tmp_path, kind):
    recording = make_recording()
    first = figure(recording).save(tmp_path / f"first.{kind}").read_bytes()
    assert first == figure(recording).encode(kind)
    assert first.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[kind])
    assert [path.name for path in tmp_path.iterdir()] == [f"first.{kind}"]


def test_pdf_is_vectors():
    assert b"/Subtype /Image" not in figure(make_recording(), "heatmap").encode("pdf")


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
