"""Names, parameters, levels and reasons: what every metric shares."""

import inspect
from typing import Annotated

import numpy as np
import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages.catalogues import find_template
from glassformer.metrics import METRICS, PANEL, About, head_metric, pool, score
from glassformer.metrics.parameters import declare
from glassformer.place import Place
from glassformer.recording import Tokens

# Two rows, two keys: entropies log 2 and 0.
HALF = [[[0.5, 0.5], [1.0, 0.0]]]


def test_an_unknown_metric_is_answered_with_the_nearest(make_map, record) -> None:
    with pytest.raises(ConfigurationError, match=r"no metric called 'entropi'. Did you mean 'entropy'\?"):
        score(record(make_map(HALF)), "entropi")


def test_an_unknown_parameter_is_answered_with_the_nearest(make_map, record) -> None:
    with pytest.raises(ConfigurationError, match=r"no parameter called 'treshold'. Did you mean 'threshold'"):
        score(record(make_map(HALF)), "nonzero_share", treshold=0.1)
    with pytest.raises(
        ConfigurationError, match=r"entropy has no parameter called 'threshold'. There are none."
    ):
        score(record(make_map(HALF)), "entropy", threshold=0.1)


@pytest.mark.parametrize("value", [-0.1, "0.1", True, float("nan"), None])
def test_a_value_that_cannot_be_is_refused(make_map, record, value) -> None:
    with pytest.raises(ConfigurationError, match="The threshold of nonzero_share is"):
        score(record(make_map(HALF)), "nonzero_share", threshold=value)


def test_a_whole_number_does_for_a_float_but_not_for_a_bool(make_map, record) -> None:
    assert score(record(make_map(HALF)), "nonzero_share", threshold=0).parameters["threshold"] == 0.0
    with pytest.raises(ConfigurationError, match="Expected True or False"):
        score(record(make_map(HALF)), "nonzero_share", relative=1)


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


def test_levels_are_averages_weighted_by_rows(make_map, record) -> None:
    # Layer 0 has two real rows, layer 1 three: the model's mean is over five rows, not over two layers.
    even = np.full((1, 3, 3), 1 / 3)
    first = make_map(even, rows=[True, True, False])
    second = make_map(np.eye(3)[None], layer=1)
    recording = record(first, second)
    assert score(recording, "entropy", over="layer").parts[0].values == pytest.approx(np.log(3))
    assert score(recording, "entropy", over="model").value == pytest.approx(2 / 5 * np.log(3))


def test_heads_of_a_layer_count_by_their_rows(make_map, record) -> None:
    # The second head may look in one row only: (log 2 + 0 + log 2) / 3.
    weights = [[[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]]
    allowed = np.array([[[1, 1], [1, 1]], [[1, 1], [0, 0]]], dtype=bool)
    recording = record(make_map(weights, allowed=allowed))
    assert score(recording, "entropy").part().values == pytest.approx([np.log(2) / 2, np.log(2)])
    assert score(recording, "entropy", over="layer").value == pytest.approx(2 * np.log(2) / 3)


def test_rows_that_are_padding_have_no_value_and_say_so(make_map, record) -> None:
    rows = score(record(make_map(HALF, rows=[True, False])), "entropy", over="query")
    assert rows.part().axes == ("head", "query")
    assert rows.part().values[0, 0] == pytest.approx(np.log(2))
    assert np.isnan(rows.part().values[0, 1])
    assert "padding" in " ".join(map(str, rows.undefined))
    assert rows.roll_up("model").value == pytest.approx(np.log(2))


def test_scores_roll_up_in_one_direction_only(make_map, record) -> None:
    whole = score(record(make_map(HALF)), "entropy", over="model")
    with pytest.raises(InputError, match=r"is over model. It cannot be rolled up to head"):
        whole.roll_up("head")


def test_generation_steps_count_only_where_the_whole_map_is_missing(make_map, record) -> None:
    even, sharp = np.full((1, 1, 2), 0.5), np.array([[[1.0, 0.0]]])
    steps = [make_map(even, step=0), make_map(sharp, step=1)]
    assert score(record(*steps), "entropy").roll_up("layer").value == pytest.approx(np.log(2) / 2)
    assert len(score(record(*steps), "entropy").parts) == 2
    whole = make_map(np.eye(2)[None])
    assert score(record(whole, *steps), "entropy", over="model").value == 0.0


def test_pooling_adds_up_texts(make_map, record) -> None:
    short, long = record(make_map(HALF)), record(make_map(np.full((1, 4, 4), 0.25)))
    both = pool([score(short, "entropy"), score(long, "entropy")])
    assert both.part().values == pytest.approx([(np.log(2) + 4 * np.log(4)) / 6])
    with pytest.raises(InputError, match="Expected one metric"):
        pool([score(short, "entropy"), score(short, "distance")])
    with pytest.raises(InputError, match="at least one"):
        pool([])
    with pytest.raises(InputError, match="different numbers of heads"):
        pool([score(short, "entropy"), score(record(make_map(np.full((2, 2, 2), 0.5))), "entropy")])


def test_a_score_is_read_only_and_shows_itself(make_map, record) -> None:
    found = score(record(make_map(HALF)), "entropy")
    with pytest.raises(ValueError, match="read-only"):
        found.part().values[0] = 1.0
    with pytest.raises(TypeError):
        found.parameters["x"] = 1
    assert repr(found).startswith("Entropy (entropy) over head, nats\n  encoder layer 0, self: 0.3466")
    with pytest.raises(
        InputError, match=r"entropy has no value at any stack layer 3, self.*at: encoder layer 0, self"
    ):
        found.part(layer=3)


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


def test_parameters_are_declared_in_the_signature() -> None:
    def plain(attention_map: object, *, cut: Annotated[int, About("where to cut", 1, 3)]) -> None: ...

    (cut,) = declare(plain)
    assert (cut.name, cut.type, cut.required, cut.default) == ("cut", int, True, inspect.Parameter.empty)
    with pytest.raises(ConfigurationError, match="Expected a whole number from 1 to 3: where to cut"):
        cut.check("plain", 4)

    def bare(attention_map: object, *, cut: int = 0) -> None: ...

    with pytest.raises(TypeError, match="annotate cut"):
        declare(bare)


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
        np.testing.assert_allclose(other.values[text], part.values, atol=1e-6)


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


def test_values_in_one_array(make_map, record) -> None:
    recording = record(make_map(HALF), make_map(HALF, layer=1))
    found = score(recording, "entropy")
    assert found.values.shape == (2, recording.maps[0].heads)
    assert np.array_equal(found.values[1], found.part("encoder", -1).values)
    assert np.array_equal(found.values[1], found.part(Place("encoder", "self", 1)).values)
    assert found.part("encoder.self.0") is found.parts[0]
    assert found.roll_up("model").values.shape == ()
    uneven = score(record(make_map(HALF), make_map(HALF * 2, layer=1)), "entropy")
    with pytest.raises(InputError) as caught:
        _ = uneven.values
    assert caught.value.message.code == "metrics.uneven_parts"
