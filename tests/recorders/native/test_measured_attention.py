"""Measured products give the same maps as windows, without a matrix, and are removed afterwards."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from glassformer.bundle import BundleWriter
from glassformer.bundle import open as open_bundle
from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model.attention import Attention, fused_product
from glassformer.model.transformer import Transformer
from glassformer.recorders.edits import AblateHead
from glassformer.recorders.native.recorder import SHORT
from glassformer.recorders.request import WANTS
from glassformer.recorders.store import store_in_bundle
from tolerances import assert_near

SMALL = {"width": 32, "heads": 4, "layers": 2, "feed_forward": 64, "max_length": 2048, "dropout": 0.0}


def build(**changes):
    torch.manual_seed(0)
    network = Transformer(ModelConfig(50, start_id=1, end_id=2, **{**SMALL, **changes})).eval()
    for name, parameter in network.named_parameters():
        if name.endswith(("qkv.weight", "cross.q.weight", "kv.weight")):
            parameter.data.mul_(2)  # sharper maps: a mix-up would show
    return load(network)


def ids(length, seed=0):
    return torch.randint(3, 50, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize("kernel", ["exact", "fast"])
@pytest.mark.parametrize(
    "settings",
    [
        *({"positions": name} for name in ("sinusoidal", "rotary", "relative", "alibi", "none")),
        {"key_heads": 2},
        {"key_heads": 1, "query_key_norm": True, "positions": "rotary"},
        {"window": 5},
        {"score_scale": 0.6, "similarity": "dot"},
        {"key_heads": 2, "query_key_norm": True, "positions": "alibi", "window": 4, "score_scale": 0.6},
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_same_maps_as_through_windows(shape, settings, kernel):
    subject = build(shape=shape, **settings, head="masked" if shape == "encoder" else "language")
    target = ids(9, seed=1) if shape == "encoder-decoder" else None
    opened = subject.record(ids(23), target, want=WANTS)
    lent = subject.record(ids(23), target, want=WANTS, kernel=kernel)
    assert [each.name for each in lent.maps] == [each.name for each in opened.maps]
    assert lent.evidence.kernel != opened.evidence.kernel or kernel == "exact"
    for one, other in zip(opened.maps, lent.maps, strict=True):
        if kernel == "exact":
            np.testing.assert_array_equal(one.weights(), other.weights())
        assert_near(one.weights(), other.weights())
        assert_near(one.statistics.entropy, other.statistics.entropy, layers=2)
        assert_near(one.statistics.mass, other.statistics.mass, layers=2)
        np.testing.assert_array_equal(one.statistics.allowed, other.statistics.allowed)
        for name in ("queries", "keys", "values"):
            assert_near(getattr(one, name), getattr(other, name), layers=2)
    for stack, states in opened.hidden.items():
        assert_near(states, lent.hidden[stack], layers=2)
    assert_near(opened.output.log_probabilities, lent.output.log_probabilities, layers=2)


def test_a_shared_block_is_numbered_by_call():
    subject = build(shape="encoder", share_layers=True, layers=3, head="none")
    recording = subject.record(ids(12), kernel="fast")
    assert [each.layer for each in recording.maps] == [0, 1, 2]
    assert np.abs(recording.maps[0].weights() - recording.maps[1].weights()).max() > 1e-3


@pytest.mark.parametrize(
    "settings",
    [
        {"positions": "rotary"},
        {"positions": "rotary", "key_heads": 2, "query_key_norm": True, "window": 400},
        {"positions": "alibi", "key_heads": 1, "score_scale": 0.5},
        {"positions": "alibi", "window": 100},
    ],
    ids=str,
)
def test_long_texts_are_kept_as_queries_and_keys_and_give_the_weights_of_any_tile(settings):
    subject = build(shape="decoder", **settings)
    text = ids(1100)
    recording = subject.record(text, want=("weights",))
    assert all(each.dense is None and each.factors is not None for each in recording.maps)
    assert all(each.factors.window == settings.get("window") for each in recording.maps)
    assert all(each.factors.causal and each.factors.bias is None for each in recording.maps)
    dense = subject.record(text, want=("weights",), kernel="exact")
    for one, other in zip(recording.maps, dense.maps, strict=True):
        rows, columns = slice(900, 980), slice(100, 980)
        assert_near(one.weights(2, rows, columns), other.weights(2, rows, columns))
        assert_near(one.statistics.entropy, other.statistics.entropy, layers=2)


def test_statistics_alone_keep_nothing_else():
    recording = build(shape="decoder").record(ids(SHORT + 1), want=())
    assert all(not each.has_weights and each.queries is None for each in recording.maps)
    assert "without the matrix" in str(recording.evidence.kernel)


CHILD = """
import resource, torch, transformers
from glassformer.config import ModelConfig
from glassformer.model.transformer import Transformer
from glassformer.loaded.opening import load

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB

torch.set_num_threads(1)
small = dict(vocab_size=50, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4)
ours = Transformer(ModelConfig(50, shape="decoder", layers=1, width=32, heads=4, positions="rotary"))
theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**small, max_position_embeddings=9000))
for network in (ours.eval(), theirs.eval()):
    subject = load(network)
    subject.record([7] * 1100)  # what is loaded once is not counted
    before = peak()
    assert len(subject.record([index % 40 + 5 for index in range(8192)]).source) == 8192
    print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the peak of memory in KiB")
@pytest.mark.slow
@pytest.mark.first
def test_long_texts_take_little_memory():
    # One layer's weights would take 1,024 MiB.
    child = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    grown = [float(line) for line in child.stdout.split()]
    assert len(grown) == 2
    assert max(grown) < 300


def test_large_arrays_can_stream_into_a_bundle(tmp_path, monkeypatch):
    monkeypatch.setattr("glassformer.recorders.store.LARGE", 1000)
    subject = build(shape="decoder", positions="rotary")
    with BundleWriter(tmp_path / "long.bundle") as writer:
        recording = subject.record(ids(1100), want=("weights",), keep=store_in_bundle(writer))
        writer.finish(recording)
    found = open_bundle(tmp_path / "long.bundle")
    np.testing.assert_array_equal(
        found.maps[1].weights(0, slice(0, 50), slice(0, 50)),
        recording.maps[1].weights(0, slice(0, 50), slice(0, 50)),
    )


def test_products_are_given_back_also_after_an_error(monkeypatch):
    subject = build(shape="decoder")
    subject.record(ids(10), kernel="fast")
    attentions = [module for module in subject.network.modules() if isinstance(module, Attention)]
    assert all(each.product is fused_product for each in attentions)
    monkeypatch.setattr(
        "glassformer.recorders.maps.MapMaker.receive", lambda *_: (_ for _ in ()).throw(MemoryError())
    )
    with pytest.raises(MemoryError):
        subject.record(ids(10), kernel="fast")
    assert all(each.product is fused_product for each in attentions)


def test_the_fast_kernel_refuses_what_it_cannot_do():
    subject = build(shape="decoder")
    with pytest.raises(InputError, match="fast kernel"):
        subject.record(ids(10), edits=[AblateHead("decoder", "self", 0, 0)], kernel="fast")
    other = build(shape="decoder", similarity="cosine")
    with pytest.raises(InputError, match="fast kernel"):
        other.record(ids(10), kernel="fast")


def test_the_limit_of_positions_is_named_before_any_limit_of_memory():
    with pytest.raises(InputError, match=r"40000 tokens.*positions for 2048"):
        build(shape="decoder").record(ids(40_000), edits=[AblateHead("decoder", "self", 0, 0)])


def test_a_subject_says_what_it_is():
    assert (
        repr(build())
        == "LoadedModel('Transformer': encoder-decoder, 2+2 layers, 4 heads, width 32, 0.0M parameters)"
    )


@pytest.mark.gpu
@pytest.mark.parametrize("length", [23, 1100])
@pytest.mark.parametrize(
    "settings",
    [
        {"key_heads": 2, "query_key_norm": True, "positions": "rotary"},
        {"positions": "alibi", "score_scale": 0.6, "key_heads": 1},
        {"window": 16, "positions": "rotary"},
    ],
    ids=str,
)
def test_a_gpu_records_what_a_cpu_records(settings, length):
    subject = build(shape="decoder", **settings)
    expected = subject.record(ids(length), want=("weights",), kernel="exact")
    subject.network.cuda()
    found = load(subject.network).record(ids(length), want=("weights",), kernel="fast")
    assert found.evidence.exact
    for one, other in zip(found.maps, expected.maps, strict=True):
        assert_near(one.weights(), other.weights(), layers=2, scores=10)
        np.testing.assert_array_equal(one.statistics.allowed, other.statistics.allowed)
