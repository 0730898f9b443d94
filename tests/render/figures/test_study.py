"""All heads of a study by one number."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

import glassformer as gf
from glassformer.errors import InputError
from our_networks import WORDS, build

TEXTS = ["the cat sees the dog", "a red dog", "the big cat sees the dog"]


@pytest.fixture(scope="module")
def study() -> gf.Study:
    model = gf.load(build(shape="decoder").eval(), WORDS, name="ours")
    return gf.study(model, TEXTS, metrics=["entropy", "first_token"], outcome=gf.Loss())


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["entropy", "first_token", "effects"])
def test_a_cell_has_the_number_of_its_head(study: gf.Study, metric: str) -> None:
    drawn = gf.figure(study, metric=metric)
    cells = drawn.canvas.axes[0].collections[0].get_array().reshape(-1)
    table = study.frame("effects").iloc[1:] if metric == "effects" else study.frame()
    wanted = table if metric == "effects" else table[table["metric"] == metric]
    assert cells.tolist() == pytest.approx(wanted["value"].tolist())
    assert "3 texts" in drawn.caption
    title = "".join(text.get_text() for text in drawn.canvas.findobj(Text))
    assert ("effect of changing each head on the mean loss" in title) == (metric == "effects")


def test_the_caption_of_effects_says_from_what_and_for_which_heads(study: gf.Study) -> None:
    [usual, *_] = study.table("effects").to_pylist()
    value, low, high = (f"{usual[name]:.3g}" for name in ("value", "low", "high"))
    caption = gf.figure(study, metric="effects").caption
    assert f"Without an edit, the {usual['outcome']} is {value} [{low}, {high}]." in caption
    assert "Empty" not in caption

    model = gf.load(build(shape="decoder").eval(), WORDS, name="ours")
    head = [gf.AblateHead("decoder", "self", 0, 1)]
    one = gf.study(model, TEXTS[:1], metrics=(), outcome=gf.Loss(), edits=[head])
    [usual, changed] = one.table("effects").to_pylist()
    drawn = gf.figure(one)
    assert f"is {usual['value']:.3g}. Empty: heads that no edit changes alone." in drawn.caption
    cells = drawn.canvas.axes[0].collections[0].get_array()
    assert cells.compressed().tolist() == pytest.approx([changed["value"]])
    assert np.ma.count_masked(cells) == 1


def test_what_was_not_measured_is_refused(study: gf.Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no number called 'entropie'\. Did you mean 'entropy'"):
        gf.figure(study, metric="entropie")
    with pytest.raises(InputError, match="A Study cannot be shown"):
        gf.export(study, tmp_path / "study.html")  # type: ignore[arg-type]
    cut = gf.CutEdge("decoder", "self", 0, None, 1, 0)
    cuts = gf.study(
        gf.load(build(shape="decoder").eval(), WORDS), TEXTS, metrics=(), outcome=gf.Loss(), edits=[cut]
    )
    assert cuts.frame("effects")["head"].isna().all()
    with pytest.raises(InputError, match="no numbers of heads"):
        gf.figure(cuts)
