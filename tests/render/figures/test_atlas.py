"""All heads of a model by what they do."""

import numpy as np
import pytest

from atlases.invented import invent_atlas
from glassformer.atlases import Atlas
from glassformer.atlases.naming import FAMILIES
from glassformer.errors import InputError
from glassformer.render.figures import figure
from glassformer.render.figures.style import head_colour


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return invent_atlas()


@pytest.mark.slow
def test_types_have_their_colours_and_a_legend(atlas: Atlas) -> None:
    drawn = figure(atlas)
    axes = drawn.canvas.axes[0]
    cells = axes.images[0].get_array()
    assert cells.shape[:2] == (6, 4)
    first = atlas.head("decoder.self.0", 0)
    assert first.type == "previous_token"
    assert tuple(cells[0, 0]) == head_colour(FAMILIES.index("previous_token"))
    shown = {text.get_text() for text in axes.get_legend().get_texts()}
    assert "looks at the object of a verb" in shown
    assert "of 24 heads" in drawn.caption
    assert "动词" in "".join(
        text.get_text() for text in figure(atlas, language="zh").canvas.axes[0].get_legend().get_texts()
    )


@pytest.mark.slow
def test_many_heads_and_relations_leave_room_for_the_map() -> None:
    """Types of one colour are told apart in the cells, and the legend has one line for all of them."""
    body = invent_atlas(layers=6, heads=12, cross=False).body
    [nsubj] = [each for each in body.detectors if each.name == "governor:nsubj"]
    more = [
        nsubj.model_copy(update={"name": f"governor:{detail}", "detail": detail})
        for detail in ("obj", "advmod")
    ]
    names = [each.name for each in (nsubj, *more)]
    heads = tuple(
        card.model_copy(update={"type": names[number % 3]}) if card.type == nsubj.name else card
        for number, card in enumerate(body.heads)
    )
    body = body.model_copy(update={"detectors": (*body.detectors, *more), "heads": heads})
    drawn = figure(Atlas(body))
    axes = drawn.canvas.axes[0]
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(shown) == len(set(shown)) == 5
    assert "from dependents to their head word" in shown
    assert {text.get_text() for text in axes.texts} == {"nsubj", "obj", "advmod"}
    assert len(axes.texts) == sum(card.type in names for card in heads)
    whole, map_ = drawn.canvas.bbox, axes.get_window_extent()
    assert map_.width > 0.7 * whole.width
    assert axes.get_legend().get_window_extent().x1 <= whole.x1
    assert max(text.get_window_extent().width for text in axes.texts) <= map_.width / 12


@pytest.mark.parametrize("metric", ["induction", "cost", "entropy"])
def test_numbers_have_a_scale_and_gaps_where_there_are_none(atlas: Atlas, metric: str) -> None:
    values = figure(atlas, metric=metric).canvas.axes[0].collections[0].get_array()
    head = atlas.head("decoder.self.1", 2)
    found = head.cost if metric == "cost" else head.measures.get(metric) or head.scores[metric]
    assert values[1, 2] == found.mean
    assert bool(np.ma.getmaskarray(values).any()) == (metric != "entropy")


def test_an_unknown_colouring_is_refused(atlas: Atlas) -> None:
    with pytest.raises(InputError) as caught:
        figure(atlas, metric="inductoin")
    assert caught.value.message.code == "render.figures.unknown_colouring"
    with pytest.raises(InputError):
        figure(atlas, "heatmap")


def test_a_number_that_no_head_has_is_refused(atlas: Atlas) -> None:
    heads = tuple(card.model_copy(update={"cost": None}) for card in atlas.heads)
    with pytest.raises(InputError) as caught:
        figure(Atlas(atlas.body.model_copy(update={"heads": heads})), metric="cost")
    assert caught.value.message.code == "render.figures.no_numbers"
