"""The hash of a network follows its weights."""

import pytest
import torch
from torch import nn

from glassformer.errors import RecordingError
from glassformer.loaded.identity import Identity
from glassformer.loaded.opening import load
from our_networks import TEXT, WORDS, build
from their_models import ids_of, make_gpt2, make_llama


def test_the_hash_follows_every_change_of_the_weights() -> None:
    network = build()
    identity = Identity(network)
    first = identity.hash()
    weight = network.embeddings.tokens.weight
    original = weight.detach().clone()
    with torch.no_grad():
        weight[3, 3] += 1
    second = identity.hash()
    assert second != first
    weight.data.mul_(2)  # a change that torch does not count
    third = identity.hash()
    assert third not in (first, second)
    assert identity.hash() == third
    with torch.no_grad():
        weight.copy_(original)
    assert identity.hash() == first
    assert Identity(build(layers=1)).hash() != first


def test_the_hash_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = Identity(build())
    first = identity.hash()
    monkeypatch.setattr("glassformer.loaded.identity._hash", lambda weights: pytest.fail("read again"))
    assert identity.hash() == first


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_named(wrong: float) -> None:
    network = build()
    subject = load(network, WORDS)
    subject.record(TEXT, "le")
    with torch.no_grad():
        network.decoder.block(1).feed_forward.expand.weight[0, 0] = wrong  # type: ignore[union-attr]
    with pytest.raises(
        RecordingError, match=r"decoder\.layers\.1\.feed_forward\.expand\.weight holds 1 of 384"
    ):
        subject.record(TEXT, "le")


@pytest.mark.filterwarnings("ignore:.*torch.ao.quantization is deprecated.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*quantize.*:UserWarning")
def test_a_quantized_model_has_a_hash() -> None:
    plain = make_llama()
    quantized = torch.ao.quantization.quantize_dynamic(make_llama(), {nn.Linear}, dtype=torch.qint8)
    recordings = [load(model).record(ids_of(8)) for model in (plain, quantized)]
    assert recordings[0].evidence.model_hash != recordings[1].evidence.model_hash
    again = torch.ao.quantization.quantize_dynamic(make_llama(), {nn.Linear}, dtype=torch.qint8)
    assert load(again).record(ids_of(8)).evidence.model_hash == (recordings[1].evidence.model_hash)


def test_weights_that_are_not_numbers_are_refused() -> None:
    model = make_gpt2()
    with torch.no_grad():
        model.transformer.h[1].attn.c_attn.weight[3, 3] = torch.nan
    with pytest.raises(RecordingError, match=r"h\.1\.attn\.c_attn\.weight holds 1 of"):
        load(model).record(ids_of(8))
