"""A heat map: a cell or a pixel for every weight, named by its tokens."""

import re
from dataclasses import replace

import numpy as np
import pytest

from drawings import SVG, find, make_recording, make_tokens, read_svg, read_text
from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, from_arrays, measure
from glassformer.render.figures import figure, style


@pytest.mark.slow
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


@pytest.mark.slow
def test_heat_map_names_tokens_model_map_and_evidence():
    words = read_text(figure(make_recording(), "heatmap", layer=1, head=0))
    assert {"x", "y", "z", "w", "a", "b", "c"} <= set(words)
    assert "toy: decoder layer 1, cross, head 0" in words
    assert any("eager" in line for line in words)


@pytest.mark.parametrize("view", ["heatmap", "lines"])
@pytest.mark.slow
def test_rows_of_cross_attention_are_named_by_the_word_written(view):
    recording = make_recording(queries=("[S]", "b", "c"))
    written = replace(recording.target, special=np.array([True, False, False]))
    maps = tuple(replace(each, query=written) for each in recording.maps)
    recording = replace(recording, target=written, maps=maps)
    words = read_text(figure(recording, view, layer=1, head=0))
    assert {"b", "c", "…"} <= set(words)
    assert "[S]" not in words
    assert "Rows: the word that is written" in words
    entered = read_text(figure(recording, view, layer=1, head=0, reading="entered"))
    assert {"[S]", "b", "c"} <= set(entered)
    assert "Rows: the word that is written" not in entered
    with pytest.raises(InputError, match="reading is 'spoken'"):
        figure(recording, view, reading="spoken")


@pytest.mark.slow
def test_long_maps_become_images_of_means():
    texts = [f"t{place}" for place in range(1500)]
    weights = np.full((1, 1500, 1500), 1 / 1500, dtype=np.float32)
    tokens = make_tokens("source", texts)
    each = AttentionMap(Place("encoder", "self", 0), tokens, tokens, measure(weights), dense=weights)
    recording = Recording("long", Evidence("long", "0" * 12, "eager", "float32", True), tokens, maps=(each,))
    drawn = figure(recording)
    assert drawn.canvas.axes[0].images[0].get_array().shape == (750, 750)
    assert any("mean of 2 × 2" in words for words in read_text(drawn))


@pytest.mark.slow
def test_a_short_side_is_named_beside_a_long_one(chinese_font):
    drawn = figure(make_recording(queries=["汤姆", "追逐"], keys=[f"k{place}" for place in range(80)]))
    assert "汤姆" in read_text(drawn)  # with a font that has it, or this would be a warning


@pytest.mark.parametrize("view", ["heatmap", "heads"])
@pytest.mark.slow
def test_signed_values_have_a_diverging_scale(view: str) -> None:
    values = np.array([[[[-0.5, 0.25], [0.0, 0.5]]]])
    drawn = figure(from_arrays(values, ["a", "b"], content="signed"), view)
    picture = next(each for axes in drawn.canvas.axes for each in (*axes.images, *axes.collections))
    assert picture.get_clim() == (-0.5, 0.5)
    low, high = picture.cmap(0.0), picture.cmap(1.0)
    assert low[2] > low[0]  # blue below zero
    assert high[0] > high[2]  # red above


@pytest.mark.slow
def test_the_scale_and_its_maximum_are_stated_and_settable():
    recording = make_recording()
    weights = recording.maps[1].weights(0)
    words = {"layer": 1, "head": 0}
    for options, top, said in (
        ({}, weights.max(), f"Colours are linear from 0 to {weights.max():.3g}."),
        ({"vmax": 1.0}, 1.0, "Colours are linear from 0 to 1."),
        ({"vmax": 0.1}, 0.1, f"the largest value is {weights.max():.3g}, and all above 0.1 look alike"),
        ({"scale": "root", "vmax": 1.0}, 1.0, "Colours follow the square root, from 0 to 1."),
    ):
        drawn = figure(recording, "heatmap", **words, **options)
        picture = drawn.canvas.axes[0].collections[0]
        np.testing.assert_array_equal(picture.get_array().reshape(weights.shape), weights)
        assert picture.get_clim() == pytest.approx((0, top))
        assert said in drawn.caption
        assert " ".join(drawn.canvas.get_supxlabel().split()) == drawn.caption
        bar = drawn.canvas.axes[1]
        assert bar.get_yticks()[-1] == pytest.approx(top)
        assert bar.get_yticklabels()[-1].get_text() == f"{top:.3g}"
        assert picture.norm(top / 4) == pytest.approx(0.5 if options.get("scale") else 0.25)
    assert figure(recording, cmap="viridis").canvas.axes[0].collections[0].cmap.name == "viridis"


@pytest.mark.slow
def test_heads_side_by_side_share_one_scale():
    recording = make_recording(heads=3)
    chosen = ["decoder.cross.0:2", "decoder.cross.1:0", "decoder.cross.1:1"]
    drawn = figure(recording, "heatmap", head=chosen)
    pictures = [axes.collections[0] for axes in drawn.canvas.axes[:3]]
    wanted = [recording.maps[0].weights(2), recording.maps[1].weights(0), recording.maps[1].weights(1)]
    for picture, weights in zip(pictures, wanted, strict=True):
        np.testing.assert_array_equal(picture.get_array().reshape(weights.shape), weights)
        assert picture.get_clim() == pytest.approx((0, max(each.max() for each in wanted)))
    assert len(drawn.canvas.axes) == 4  # and one colour bar
    titles = [" ".join(axes.get_title(loc="left").split()) for axes in drawn.canvas.axes[:3]]
    assert titles[0] == "decoder layer 0, cross, head 2"
    [first] = figure(recording, "heads", head=[2, 0]).canvas.axes[0].images
    assert first.get_array()[0, 0] == recording.maps[0].statistics.thumbnail_max[2, 0, 0]


@pytest.mark.parametrize(("words", "patches"), [(5, 81), (6, 4)])
def test_the_name_of_the_rows_stays_beside_them(words: int, patches: int) -> None:
    """A caption of few words looks at many patches: such a map is flat, and its name was over the title."""
    names = [f"w{at}" for at in range(words)]
    recording = make_recording(queries=names, keys=[str(at) for at in range(patches)])
    written = replace(recording.target, special=np.arange(words) == 0)
    maps = tuple(replace(each, query=written) for each in recording.maps)
    drawn = figure(replace(recording, target=written, maps=maps), "heatmap", layer=1, head=0)
    axes = drawn.canvas.axes[0]
    assert "the word that is" in axes.yaxis.label.get_text().replace("\n", " ")
    drawn.canvas.draw_without_rendering()
    beside, matrix = axes.yaxis.label.get_window_extent(), axes.get_window_extent()
    room = 0.35 * drawn.canvas.dpi  # to what stands above: the keys
    assert matrix.y0 - room < beside.y0
    assert beside.y1 < matrix.y1 + room
