"""The atlases that ship belong to the models that ship, and what they say of their heads holds."""

import numpy as np
import pytest

import glassformer as gf
from glassformer.corpus.atlas.build import make_probes
from glassformer.workbench.atlases import OUTPUT, PLANS, list_examples

SHIPPED = sorted(each.name for each in OUTPUT.iterdir()) if OUTPUT.is_dir() else []


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_of_the_weights_that_ship_and_small(name: str) -> None:
    atlas = gf.open_atlas(f"zoo/{name}")
    assert atlas.body.model.identity == gf.load(f"zoo/{name}").identity.hash()
    assert sum(each.stat().st_size for each in (OUTPUT / name).rglob("*.*")) < 800_000
    assert all(card.examples for card in atlas.heads if card.type is None)


def test_every_planned_model_has_one() -> None:
    assert set(SHIPPED) <= set(PLANS)


@pytest.mark.parametrize("name", SHIPPED)
def test_examples_were_written_for_it(name: str) -> None:
    """No text of the data is shipped: each is one of ours, or random tokens."""
    atlas = gf.open_atlas(f"zoo/{name}")
    ours = {each.text for each in list_examples(PLANS[name])}
    ours |= {each.text for each in make_probes(gf.load(f"zoo/{name}"), (), 0)}
    bundles = {example.bundle for card in atlas.heads for example in card.examples}
    for number in bundles:
        source = atlas.open_example(number).source
        assert source.text in ours or source.offsets is None


def test_induction_heads_of_gpt2_score_high_on_a_repeated_sequence() -> None:
    """The metric of Olsson et al. finds the same heads."""
    atlas, model = gf.open_atlas("zoo/gpt2"), gf.load("zoo/gpt2")
    ids = np.random.default_rng(5).choice(4000, 20, replace=False)
    scores = gf.score(gf.record(model, np.tile(ids, 2)), "induction_on_repeats").values  # (layer, head)
    found = {(card.layer, card.head) for card in atlas.find("induction")}
    assert len(found) >= 2
    assert found == {tuple(pair) for pair in np.argwhere(scores > 0.2).tolist()}
