"""Anyone's matrices become a recording: weights or signed values, checked and measured in float64."""

import numpy as np
import pytest

import glassformer
from glassformer import bundle
from glassformer.errors import GlassformerError
from glassformer.metrics import METRICS, score
from glassformer.place import Place
from glassformer.recording import from_arrays, measure, tile
from tolerances import assert_near

TOKENS = ["The", "cat", "sat", "the"]


def make_weights(*shape, causal=False, seed=0):
    scores = np.random.default_rng(seed).normal(size=shape)
    if causal:
        scores = np.where(np.tri(*shape[-2:], dtype=bool), scores, -np.inf)
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def code_of(function, *arguments, **options):
    with pytest.raises(GlassformerError) as caught:
        function(*arguments, **options)
    return caught.value.message.code


def test_an_array_of_layers_is_a_recording():
    weights = make_weights(3, 2, 4, 4)
    recording = glassformer.from_arrays(weights, TOKENS, model="mine")
    assert [each.place for each in recording.maps] == [Place("encoder", "self", layer) for layer in range(3)]
    np.testing.assert_array_equal(recording.tensor("encoder"), weights.astype(np.float32))
    assert recording.source.texts == tuple(TOKENS)
    assert recording.source.ids.tolist() == [0, 1, 2, 3]  # "The" and "the" are not the same token
    assert recording.map(layer=-1).content == "weights"
    wanted = -(weights[1] * np.log(weights[1])).sum(axis=-1)
    assert_near(recording.map(layer=1).statistics.entropy, wanted, summands=4, dtype="float64")
    assert 0 < recording.evidence.largest_error <= np.finfo(np.float32).eps / 2  # weights are at most 1
    assert recording.evidence.exact  # as exact as float32 can be
    assert from_arrays(weights.astype(np.float32), TOKENS).evidence.largest_error == 0


@pytest.mark.parametrize(
    "given",
    [
        make_weights(2, 4, 4),
        [make_weights(2, 4, 4)],
        (make_weights(1, 2, 4, 4),),  # as transformers returns attentions
        make_weights(1, 1, 2, 4, 4),
        make_weights(1, 2, 4, 4).tolist(),
    ],
    ids=["one layer", "list", "batch of one", "five axes", "nested lists"],
)
def test_one_layer_in_other_forms(given):
    recording = from_arrays(given, TOKENS)
    assert recording.tensor().shape == (1, 2, 4, 4)


def test_tensors_of_torch_in_any_precision():
    torch = pytest.importorskip("torch")
    weights = torch.softmax(torch.zeros(1, 2, 4, 4), dim=-1).to(torch.bfloat16).requires_grad_()
    recording = from_arrays(weights, TOKENS)
    assert recording.map().dtype == "bfloat16"
    assert (recording.map().weights() == 0.25).all()


def test_a_mapping_gives_every_array_its_place():
    given = {
        "encoder.self.0": make_weights(2, 4, 4),
        Place("decoder", "self", 0): make_weights(2, 3, 3, causal=True),
        "decoder.cross.0": make_weights(2, 3, 4),
    }
    recording = from_arrays(given, TOKENS, ["Le", "chat", "dort"])
    assert recording.map("decoder.cross.0").shape == (2, 3, 4)
    assert recording.map("decoder", kind="cross").query.texts == ("Le", "chat", "dort")
    assert recording.map("decoder").statistics.allowed.tolist() == [[1, 2, 3]] * 2  # seen from the weights


def test_cross_attention_is_the_default_where_there_is_a_target():
    recording = from_arrays(make_weights(1, 2, 3, 4), TOKENS, ["a", "b", "c"])
    assert recording.maps[0].place == Place("decoder", "cross", 0)


def test_positions_are_numbered_where_there_are_no_tokens():
    recording = from_arrays(make_weights(1, 2, 3, 4), kind="cross")
    assert (len(recording.source), len(recording.target)) == (4, 3)
    assert recording.source.texts[1] == "1"


def test_a_mask_says_which_keys_could_be_seen():
    weights = make_weights(1, 1, 4, 4, causal=True)
    weights[0, 0, 3] = [1, 0, 0, 0]
    assert from_arrays(weights).map().statistics.allowed[0].tolist() == [1, 2, 3, 1]
    masked = from_arrays(weights, mask=np.tri(4, dtype=bool)).map()
    assert masked.statistics.allowed[0].tolist() == [1, 2, 3, 4]
    wanted = measure(weights[0], np.tri(4, dtype=bool))
    np.testing.assert_array_equal(masked.statistics.above, wanted.above)


def test_rows_without_weight_are_padding():
    weights = make_weights(1, 2, 4, 4)
    weights[:, :, 3] = 0
    assert from_arrays(weights).map().statistics.rows.tolist() == [True, True, True, False]


def test_signed_values_are_kept_with_their_sign(tmp_path):
    values = np.random.default_rng(1).normal(size=(2, 2, 4, 4)).astype(np.float32)
    recording = from_arrays(values, TOKENS, content="signed")
    assert {each.content for each in recording.maps} == {"signed"}
    np.testing.assert_array_equal(recording.tensor(), values)
    strongest = np.abs(values[0]).argmax(axis=-1)
    np.testing.assert_array_equal(recording.map().statistics.peak_key, strongest)
    recording.save(tmp_path / "signed.bundle")
    again = bundle.open(tmp_path / "signed.bundle")
    assert again.map().content == "signed"
    np.testing.assert_array_equal(again.tensor(), values)
    extreme = tile(recording.map(), 0, 2, 0, 0, how="max")
    assert extreme.item() == max(values[0, 0].flatten(), key=abs)


def test_metrics_have_no_value_for_signed_values():
    recording = from_arrays(-make_weights(2, 1, 3, 3), content="signed")
    for name in METRICS:
        metric = METRICS[name]
        if any(each.required for each in metric.parameters):
            continue
        if metric.rule == "none":
            assert code_of(score, recording, name) == "metrics.signed"
        else:
            found = score(recording, name)
            assert np.isnan(found.values).all()
            assert [reason.code for reason in found.undefined] == ["metrics.signed"]


@pytest.mark.parametrize(
    ("weights", "options", "code"),
    [
        (make_weights(1, 2, 4, 4) * 1.01, {}, "not_weights"),
        (make_weights(1, 2, 4, 4) - 0.1, {}, "not_weights"),
        (make_weights(1, 2, 4, 4), {"tokens": ["a", "b"]}, "wrong_tokens"),
        (make_weights(2, 3, 4), {"tokens": TOKENS, "kind": "cross", "target": ["a"]}, "wrong_tokens"),
        (make_weights(4, 4), {}, "wrong_axes"),
        (5, {}, "wrong_axes"),
        ([], {}, "no_arrays"),
        ({}, {}, "no_arrays"),
        ({"encoder.self.0": "abc"}, {}, "not_numbers"),
        (make_weights(1, 2, 4, 4) * 1j, {}, "not_numbers"),
        (np.zeros((1, 0, 2, 2)), {}, "wrong_axes"),
        ([[[[1.0], [0.5, 0.5]]]], {}, "uneven"),
        (make_weights(1, 2, 4, 4), {"mask": np.ones((3, 3))}, "wrong_mask"),
        (make_weights(1, 2, 4, 4), {"mask": [[True], [True, False]]}, "wrong_mask"),
        (np.full((1, 1, 2, 2), np.nan), {}, "not_finite"),
        (np.full((1, 1, 2, 2), np.inf), {"content": "signed"}, "not_finite"),
    ],
)
def test_what_cannot_be_is_refused(weights, options, code):
    assert code_of(from_arrays, weights, **options) == f"recording.from_arrays.{code}"


def test_an_address_that_is_none_is_refused():
    assert code_of(from_arrays, {"encoder.0": make_weights(1, 2, 2)}) == "place.malformed"


def test_nothing_is_guessed_or_lost():
    weights = make_weights(1, 2, 2)
    assert code_of(from_arrays, weights, content="sined") == "recording.wrong_value"
    assert code_of(from_arrays, weights, [["a"], ["b"]]) == "recording.wrong_value"
    twice = {"encoder.self.0": weights, Place("encoder", "self", 0): weights}
    assert code_of(from_arrays, twice) == "recording.two_maps"
