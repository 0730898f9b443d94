"""Metrics are found by name, worded, and measured at the levels they have."""

import re

import numpy as np
import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages.catalogues import find_template
from glassformer.metrics import METRICS, PANEL, head_metric, score
from glassformer.recording import Tokens
from tolerances import assert_near

# Two rows, two keys: entropies log 2 and 0.
HALF = [[[0.5, 0.5], [1.0, 0.0]]]


def test_an_unknown_metric_is_answered_with_the_nearest(make_map, record) -> None:
    with pytest.raises(ConfigurationError, match=r"no metric called 'entropi'. Did you mean 'entropy'\?"):
        score(record(make_map(HALF)), "entropi")


def test_a_level_that_a_metric_does_not_have_is_refused(make_map, record) -> None:
    recording = record(make_map(HALF))
    with pytest.raises(ConfigurationError, match="Expected query, head, layer or model"):
        score(recording, "entropy", over="pair")
    with pytest.raises(ConfigurationError, match="measures whole heads"):
        score(recording, "sink_mass", over="query")
    with pytest.raises(
        ConfigurationError, match=r"attention_received was asked for over 'model'. Expected token"
    ):
        score(recording, "attention_received", over="model")


def test_a_recording_without_maps_is_refused(record) -> None:
    with pytest.raises(InputError, match="no attention map"):
        score(record(), "entropy")


def test_rows_that_are_padding_have_no_value_and_say_so(make_map, record) -> None:
    rows = score(record(make_map(HALF, rows=[True, False])), "entropy", over="query")
    assert rows.part().axes == ("head", "query")
    assert rows.part().values[0, 0] == pytest.approx(np.log(2))
    assert np.isnan(rows.part().values[0, 1])
    assert "padding" in " ".join(map(str, rows.undefined))
    assert rows.roll_up("model").value == pytest.approx(np.log(2))


FEW_KEYS = re.compile("sparser|concentrated|focused|集中|稀疏")
MANY_KEYS = re.compile("denser|spread|random|分散|稠密|均匀|随机")


@pytest.mark.parametrize("name", PANEL)
def test_the_readings_of_the_panel_say_what_its_numbers_do(name: str, make_map, record) -> None:
    """Of two maps, one looks at fewer keys: the reading on its side of the number says so."""
    few, many = (
        score(record(make_map([[row] * 2], kind="cross")), name, over="model").value
        for row in ([0.9, 0.1, 0.0, 0.0], [0.4, 0.3, 0.3, 0.0])
    )
    metric = METRICS[name]
    focused, spread = (metric.lower, metric.higher) if few < many else (metric.higher, metric.lower)
    assert few != many
    for text, said, other in ((focused, FEW_KEYS, MANY_KEYS), (spread, MANY_KEYS, FEW_KEYS)):
        for language in ("en", "zh"):
            assert said.search(text.text(language)), language
            assert not other.search(text.text(language)), language


def test_every_metric_is_worded_in_both_languages() -> None:
    for name in METRICS:
        metric = METRICS[name]
        readings = [text for text in (metric.lower, metric.higher) if text is not None]
        assert len(readings) == (0 if metric.unit == "cluster" else 2), (
            name
        )  # a cluster's number says nothing
        for text in (metric.caption, metric.label, *readings):
            assert find_template(text.code, "en")
            assert any("\u4e00" <= character <= "\u9fff" for character in text.text("zh")), (name, text)
        assert metric.caption.text("en") == metric.caption.default  # the catalogue says what the code says
        assert metric.caption.text("en").endswith("."), name


def test_the_panel_keeps_the_labels_of_its_first_description() -> None:
    labels = [METRICS[name].label.text("en") for name in PANEL]
    assert labels == [
        "Overall Sparsity", "Overall Sparsity, share", "Avg. Token Sparsity", "Max Token Sparsity",
        "Entropy", "Entropy, share of its maximum", "KL Divergence with Softmax(QK^T)",
    ]  # fmt: skip


# How the panel's sentences call a focused map, and a map that is spread out.
FOCUSED = {"en": ("sparser", "concentrated", "focused"), "zh": ("稀疏", "集中")}
SPREAD = {"en": ("denser", "spread", "random"), "zh": ("稠密", "分散", "随机", "均匀")}


@pytest.mark.parametrize("name", PANEL)
def test_numbers_of_the_panel_move_as_their_sentences_say(name: str, make_map, record) -> None:
    focused = score(record(make_map([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])), name, over="model").value
    spread = score(record(make_map([[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]])), name, over="model").value
    metric = METRICS[name]
    assert metric.lower
    assert metric.higher
    assert focused != spread
    of_focused, of_spread = (
        (metric.lower, metric.higher) if focused < spread else (metric.higher, metric.lower)
    )
    for language, (low, high) in {"en": ("Lower = ", "Higher = "), "zh": ("越低 = ", "越高 = ")}.items():
        assert metric.lower.text(language).startswith(low)
        assert metric.higher.text(language).startswith(high)
        for reading, own, other in ((of_focused, FOCUSED, SPREAD), (of_spread, SPREAD, FOCUSED)):
            text = reading.text(language)
            assert any(word in text for word in own[language]), text
            assert not any(word in text for word in other[language]), text


def test_a_metric_needs_a_caption_and_a_name_of_its_own() -> None:
    with pytest.raises(TypeError, match="caption"):
        head_metric("something_new", unit="share")(lambda attention_map: None)

    def take(attention_map: object) -> None:
        """Taken."""

    assert "entropy" in METRICS
    with pytest.raises(ConfigurationError, match="two metric entries called 'entropy'"):
        head_metric("entropy", unit="share")(take)


WORDS, PADDING = (5, 6, 9, 5, 6, 7, 5, 6, 9, 7), 7  # the text has the token that fills it up, too


FOREIGN = ("alignment", "dependency")  # these need gold data


@pytest.mark.parametrize("name", [name for name in METRICS if not name.startswith(FOREIGN)])
@pytest.mark.parametrize("backing", ["dense", "factors"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("left", "right"), [(0, 3), (3, 0), (2, 2)])
def test_a_padded_text_scores_as_it_does_alone(
    make_map, record, draw, name: str, backing: str, causal: bool, left: int, right: int
) -> None:
    count = len(WORDS)
    weights, allowed = draw(4, (2, count, count), causal)
    alone = _score_padded(make_map, record, name, backing, weights, allowed, 0, 0)
    padded = _score_padded(make_map, record, name, backing, weights, allowed, left, right)
    for part, other in zip(alone.parts, padded.parts, strict=True):
        text = tuple(
            slice(left, left + count) if length == count + left + right else slice(None)
            for length in other.values.shape
        )
        assert_near(other.values[text], part.values, operations=1, summands=16)


def _score_padded(make_map, record, name, backing, weights, allowed, left, right):
    """One metric of a text with so much padding; rows of padding look evenly, as a softmax leaves them."""
    length = left + len(WORDS) + right
    real = np.zeros(length, dtype=bool)
    real[left : left + len(WORDS)] = True
    filled = np.where(real[:, None], 0.0, 1 / length) * np.ones((2, length, length))
    filled[:, left : left + len(WORDS), left : left + len(WORDS)] = weights
    permitted = np.zeros((length, length), dtype=bool)
    permitted[np.ix_(real, real)] = allowed
    ids = np.full(length, PADDING)
    ids[real] = WORDS
    tokens = Tokens("source", tuple(map(str, ids)), ids, special=np.zeros(length, dtype=bool))
    return score(record(make_map(filled, backing, permitted, real, query=tokens, key=tokens)), name)
