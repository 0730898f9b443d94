"""One recording minus another, for every metric, and refusals where the two are not alike."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics import METRICS, difference, score
from glassformer.metrics.gold import AlignedPair, Sentence, Word

TEXT = "a b a b"
PIECES = TEXT.split()
GOLD = AlignedPair(tuple(PIECES), tuple(PIECES), frozenset({(0, 0)}), frozenset())
TREE = Sentence("tree", TEXT, tuple(Word(form, "X", place - 1, "dep") for place, form in enumerate(PIECES)))
GIVEN = {
    "alignment_error": {"gold": GOLD},
    "alignment_precision": {"gold": GOLD},
    "alignment_recall": {"gold": GOLD},
    "dependency_accuracy": {"sentence": TREE},
}


@pytest.fixture(scope="module")
def pair(make_map, record, draw, tokens):
    """Two recordings of one text: an encoder's self-attention and a decoder's cross-attention."""
    spans = np.array([[2 * place, 2 * place + 1] for place in range(4)])
    source, target = (tokens(side, PIECES, offsets=spans, text=TEXT) for side in ("source", "target"))

    def make(seed):
        weights, _ = draw(seed, (2, 4, 4))
        crossed = make_map(weights[::-1], kind="cross", query=target, key=source)
        return record(make_map(weights, query=source, key=source), crossed)

    return make(0), make(1)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_has_a_difference(pair, name: str) -> None:
    given = GIVEN.get(name, {})
    if METRICS[name].unit == "cluster":
        with pytest.raises(InputError, match="names, not amounts"):
            difference(*pair, name)
        return
    found = difference(*pair, name, **given)
    parts = zip(*(score(each, name, **given).parts for each in pair), found.parts, strict=True)
    for first, second, both in parts:
        np.testing.assert_array_equal(both.values, first.values - second.values)
    same = difference(pair[0], pair[0], name, **given)
    assert all((part.values[~np.isnan(part.values)] == 0).all() for part in same.parts)
    assert str(found.label).endswith(", first minus second")
    assert found.lower is not None
    assert "first recording has the lower" in found.lower.text("en")


def test_levels_and_ranges(pair) -> None:
    layers = difference(*pair, "entropy", over="layer")
    whole = difference(*pair, "entropy", over="model")
    scores = [score(each, "entropy", over="model").value for each in pair]
    assert whole.value == scores[0] - scores[1]
    assert len(layers.parts) == 2
    assert layers.range == (None, None)
    assert difference(*pair, "sink_mass").range == (-1, 1)
    with pytest.raises(InputError, match="roll up before taking a difference"):
        difference(*pair, "entropy").roll_up("model")


def test_a_head_without_a_value_on_one_side_is_left_out_of_averages_on_both(make_map, record, draw) -> None:
    weights, _ = draw(0, (2, 4, 4))
    silenced = weights.copy()
    silenced[1] = 0.0  # as AblateHead leaves it: no distribution, so no entropy
    pair = record(make_map(weights)), record(make_map(silenced, relaxed="zeroed"), edits=("zeroed",))
    heads = difference(*pair, "entropy").part().values
    assert heads[0] == 0
    assert np.isnan(heads[1])
    assert difference(*pair, "entropy", over="layer").part().values == 0
    assert difference(*pair, "entropy", over="model").value == 0


def test_reasons_of_both_are_kept(make_map, record) -> None:
    first, second = record(make_map(np.eye(2)[None])), record(make_map(np.eye(2)[None], "statistics"))
    found = difference(first, second, "self_token")
    assert np.isnan(found.part().values).all()
    assert "only statistics" in " ".join(map(str, found.undefined))


def test_recordings_that_are_not_alike_are_refused(make_map, record, tokens) -> None:
    def recorded(texts, heads=1, **more):
        text = tokens("source", texts)
        return record(make_map(np.stack([np.eye(len(texts))] * heads), query=text, key=text, **more))

    plain = recorded(["a", "b"])
    with pytest.raises(InputError, match="has 2 source tokens, the second 3"):
        difference(plain, recorded(["a", "b", "c"]), "entropy")
    with pytest.raises(InputError, match=r"Token 1 of the source is 'b' \(1\) in the first recording, 'c'"):
        difference(plain, recorded(["a", "c"]), "entropy")
    with pytest.raises(
        InputError,
        match=r"layer 0, self the first recording has a map of shape \(1, 2, 2\), the",
    ):
        difference(plain, recorded(["a", "b"], heads=2), "entropy")
    other = tokens("source", ["a", "b"], ids=[0, 7])
    with pytest.raises(InputError, match=r"Token 1 of the source is 'b' \(1\) .* 'b' \(7\)"):
        difference(plain, record(make_map(np.eye(2)[None], query=other, key=other)), "entropy")
    with pytest.raises(InputError, match="the second –"):
        difference(plain, recorded(["a", "b"], layer=1), "entropy")
    crossed = record(
        make_map(np.eye(2)[None], query=plain.source, key=plain.source), make_map(SQUARE, kind="cross")
    )
    with pytest.raises(InputError, match="has 0 target tokens, the second 2"):
        difference(record(make_map(np.eye(2)[None])), crossed, "entropy")


SQUARE = np.full((1, 2, 2), 0.5)
