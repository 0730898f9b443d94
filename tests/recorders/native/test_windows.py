"""Maps and hidden states through the windows of our networks."""

from typing import Any

import numpy as np
import pytest
import torch

from glassformer.loaded.opening import load
from glassformer.recorders.request import WANTS
from our_networks import TEXT, WORDS, build, build_recurrent, names, watch
from tolerances import assert_near


def test_scores_are_masked_and_explain_the_weights() -> None:
    recording = load(build(shape="decoder"), WORDS).record(TEXT, want=("weights", "scores"))
    assert names(recording) == ["decoder layer 0, self", "decoder layer 1, self"]
    for each in recording.maps:
        scores, statistics = each.scores(), each.statistics
        assert np.isneginf(scores[:, *np.triu_indices(7, 1)]).all()
        explained = np.exp(scores.astype(np.float64) - statistics.log_sum_exp[..., None])
        assert_near(each.weights(), explained)
        assert statistics.allowed[0].tolist() == [1, 2, 3, 4, 5, 6, 7]
        assert_near(statistics.mass, each.weights().sum(axis=1), layers=2)


def test_hidden_states_are_one_more_than_layers() -> None:
    for norm_position in ("pre", "post"):
        network = build(norm_position=norm_position).eval()
        recording = load(network, WORDS).record(TEXT, "le chat", want=("hidden",))
        source, target = (torch.tensor([side.ids.tolist()]) for side in (recording.source, recording.target))  # type: ignore[union-attr]
        with torch.no_grad():
            memory = network.encode(source)
            embedded = network.embeddings(source, network.positions(source, None))
            decoded = network.decode(target, memory=memory)
        assert recording.hidden["encoder"].shape == (3, 7, 16)
        assert recording.hidden["decoder"].shape == (3, 3, 16)
        assert_near(recording.hidden["encoder"][0], embedded[0])
        assert_near(recording.hidden["encoder"][-1], memory[0], layers=2)
        assert_near(recording.hidden["decoder"][-1], decoded[0], layers=2)
        assert not np.allclose(recording.hidden["encoder"][1], recording.hidden["encoder"][2])


def test_a_shared_block_is_numbered_by_its_calls() -> None:
    network = build(shape="encoder", layers=3, share_layers=True, head="masked", segments=2)
    recording = load(network, WORDS).record(TEXT, second_text="the cat", want=("weights", "hidden", "output"))
    assert names(recording) == [f"encoder layer {layer}, self" for layer in range(3)]
    assert recording.hidden["encoder"].shape == (4, 10, 16)
    assert not np.allclose(recording.maps[0].weights(), recording.maps[2].weights())
    assert recording.source.text == f"{TEXT}\nthe cat"
    assert recording.output is not None
    assert (recording.output.stack, recording.output.ids.shape) == ("encoder", (10, 10))
    alone = load(network, WORDS).record(f"{TEXT} </s> the cat", want=("weights",))
    assert alone.source.ids.tolist() == recording.source.ids.tolist()  # only the segments differ
    assert not np.allclose(alone.maps[0].weights(), recording.maps[0].weights())


def test_recurrent_attention_is_one_cross_map() -> None:
    network = build_recurrent()
    recording = load(network, WORDS).record(TEXT, "le chat voit", want=WANTS)
    assert names(recording) == ["decoder layer 0, cross"]
    attention_map = recording.maps[0]
    assert attention_map.shape == (1, 4, 7)
    attention = network.eval().decoder.attention
    assert attention is not None
    seen, queries, keys = watch(attention.pattern), watch(attention.queries), watch(attention.keys)
    network(
        torch.tensor([recording.source.ids.tolist()]), target=torch.tensor([recording.target.ids.tolist()])
    )  # type: ignore[union-attr]
    assert_near(attention_map.weights(), torch.cat(seen, dim=1))
    assert_near(attention_map.queries, torch.cat(queries, dim=1))
    assert_near(attention_map.keys, keys[0])
    assert attention_map.scale is None
    assert recording.hidden["encoder"].shape == (1, 7, 8)
    assert recording.hidden["decoder"].shape == (1, 4, 8)
    assert tuple(map(str, recording.evidence.notes)) == (
        "Hidden states are those of the top recurrent layer.",
    )
    assert recording.output is not None


def test_a_fixed_context_has_nothing_to_show_and_says_so() -> None:
    recording = load(build_recurrent("fixed"), WORDS).record(TEXT, "le chat")
    assert recording.maps == ()
    assert "no attention to record" in str(recording.evidence.notes[0])
    assert recording.output is not None


KINDS: list[dict[str, Any]] = [
    *({"similarity": name} for name in ("dot", "cosine", "bilinear", "additive")),
    {"basic_attention": True},
    {"best_keys": 2},
    {"positions": "rotary"},
    {"positions": "relative"},
    {"norm": "batch"},
    {"positions": "alibi"},
    {"key_heads": 1},
    {"query_key_norm": True},
    {"window": 2},
    {"score_scale": 0.4},
    {"similarity": "cosine", "score_scale": 9.0},
    {"key_heads": 1, "query_key_norm": True, "window": 3, "positions": "alibi", "score_scale": 0.4},
]


@pytest.mark.parametrize("words", KINDS, ids=str)
def test_every_kind_of_attention_is_recorded(words: dict[str, Any]) -> None:
    recording = load(build(**words), WORDS).record(TEXT, "le chat voit", want=("weights", "scores"))
    usual = pytest.approx(8**-0.5)
    if "similarity" in words:
        usual = None if words["similarity"] == "additive" else 1.0
    scale = words.get("score_scale", usual)
    for each in recording.maps:
        shifted = each.scores().astype(np.float64) - each.statistics.log_sum_exp[..., None]
        explained = np.where(each.weights() > 0, np.exp(shifted), 0)
        assert_near(each.weights(), explained)
        assert each.scale == scale
        if "window" in words and each.kind == "self":
            far = np.abs(np.subtract.outer(range(each.shape[1]), range(each.shape[2]))) >= words["window"]
            assert np.isneginf(each.scores()[:, far]).all()
            assert far.any()
    if "best_keys" in words:
        assert (recording.maps[0].weights() > 0).sum(axis=-1).max() == 2
