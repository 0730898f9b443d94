"""Every head of a network that is known by construction is named; in untrained networks, none is."""

import numpy as np
import pytest

from glassformer.atlases import Atlas, open_atlas
from glassformer.corpus.atlas.build import _passes, atlas
from glassformer.corpus.atlas.detector import DETECTORS
from glassformer.corpus.atlas.estimates import bootstrap
from glassformer.corpus.atlas.measuring import Column
from glassformer.errors import InputError
from known_heads import build_known, build_random, write_texts

TEXTS = write_texts(16)


@pytest.fixture(scope="module")
def known() -> tuple[Atlas, tuple]:
    model, types = build_known()
    done = []
    found = atlas(model, [*TEXTS, "w1 " * 80], cost_texts=2, on_progress=lambda *steps: done.append(steps))
    assert done == [(number, 19) for number in range(1, 20)]
    return found, types


def test_heads_set_by_hand_are_named(known) -> None:
    found, types = known
    assert [[head.type for head in found.heads[start : start + 4]] for start in (0, 4, 8)] == [
        list(layer) for layer in types
    ]


def test_heads_of_an_encoder_set_by_hand_are_named() -> None:
    model, types = build_known("encoder")
    found = atlas(model, TEXTS, cost_texts=0)
    assert tuple(head.type for head in found.heads) == types[0]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["decoder", "encoder"])
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_found_in_networks_that_learnt_nothing(shape: str, seed: int) -> None:
    found = atlas(build_random(shape, seed, sharpness=4.0), write_texts(16, seed), cost_texts=0)
    assert [head.types for head in found.heads] == [()] * 12  # 0 of 48 in all; at most 5 % may be


def test_scores_have_intervals_and_chance_levels(known) -> None:
    card = known[0].head("decoder.self.0", 0)
    score = card.scores["previous_token"]
    assert score is not None
    assert score.null < score.null_high < score.low <= score.mean <= score.high <= 1
    assert score.p < 0.001
    assert (score.texts, card.scores["induction"].texts) == (16, 16)
    assert card.cost is not None
    assert card.cost.texts == 2


def test_texts_that_are_too_long_are_counted(known) -> None:
    assert (known[0].body.corpus.texts, known[0].body.corpus.skipped) == (16, 1)


def test_examples_show_what_a_head_does(known, tmp_path) -> None:
    found = known[0]
    opened = open_atlas(found.save(tmp_path / "atlas"))
    for card in opened.heads:
        for example in card.examples:
            shown = opened.open_example(example.bundle).map(card.place)
            assert shown.weights(card.head)[example.query, example.key] == pytest.approx(
                example.value, abs=1e-4
            )
    previous = opened.head("decoder.self.0", 0).examples
    assert previous
    assert all(example.query - example.key == 1 for example in previous)


def test_what_could_not_be_measured_is_said(known) -> None:
    assert "alignment" in str(known[0])


def test_an_atlas_of_nothing_is_refused() -> None:
    model = build_random("decoder", 1, 1.0)
    with pytest.raises(InputError, match="no texts"):
        atlas(model, [])
    with pytest.raises(InputError, match="none of the 1"):
        atlas(model, ["w1 " * 80])
    with pytest.raises(InputError, match="not a text"):
        atlas(model, [3])


def test_a_head_has_to_beat_the_best_fixed_offset_text_by_text() -> None:
    shares = np.random.default_rng(0).uniform(0.1, 0.8, 30)  # of words for which the offset is right
    scores = np.stack([shares + 0.05, shares, shares - 0.05], axis=1)
    column = Column(DETECTORS["governor"], "obj", list(range(30)), list(scores), list(0 * scores))
    column.guesses = [{-1: share, 2: 0.0} for share in shares]
    bounds = [bootstrap(np.array(each), 0) for each in (column.scores, column.nulls)]
    assert _passes(column, *bounds, np.zeros(3)).tolist() == [True, False, False]
    assert bounds[0].low[0] < shares.mean()  # the intervals of both overlap: texts differ more than heads
