"""From calls to maps: what is kept, measured, and refused."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from glassformer import bundle
from glassformer.errors import RecordingError
from glassformer.loaded.opening import load
from glassformer.recorders import store as keeping
from glassformer.recorders.transformers import interface
from their_models import ids_of, make_gpt2, make_llama, make_oss, replaced
from tolerances import assert_near


@pytest.mark.parametrize("want", [(), ("output",), ("queries", "values"), ("hidden",)])
def test_statistics_alone_know_their_sink(want: tuple[str, ...]) -> None:
    subject = load(make_oss())
    alone, whole = subject.record(ids_of(12), want=want), subject.record(ids_of(12))
    assert str(alone.evidence.kernel).startswith("blocks of rows")
    for each, other in zip(alone.maps, whole.maps, strict=True):
        assert not each.has_weights
        assert_near(each.sink_weights, other.sink_weights, layers=2)
        assert_near(each.statistics.entropy, other.statistics.entropy, layers=2)


def test_weights_that_do_not_follow_from_queries_and_keys_are_measured_by_themselves() -> None:
    model = make_llama()
    scaling = model.model.layers[1].self_attn.scaling
    eager = interface.find_eager(model.model.layers[1].self_attn)

    def other(module: nn.Module, query: Tensor, *places: Any, **words: Any) -> Any:
        return eager(
            module,
            query * 2 if module.scaling == scaling and module.layer_idx == 1 else query,
            *places,
            **words,
        )

    with replaced("eager_attention_forward", other, hf.models.llama.modeling_llama):
        recording = load(model).record(ids_of(9), want=("weights", "scores"))
    assert any("decoder layer 1, self do not follow" in str(note) for note in recording.evidence.notes)
    assert np.isnan(recording.maps[1].statistics.log_sum_exp).all()
    assert recording.maps[1].dense_scores is None
    assert recording.maps[0].dense_scores is not None


def test_windows_of_a_picture_are_no_map_of_the_whole() -> None:
    torch.manual_seed(0)
    config = hf.SwinConfig(
        embed_dim=16, depths=[2, 2], num_heads=[2, 4], image_size=32, patch_size=2, window_size=4
    )
    with pytest.raises(RecordingError, match=r"16 sequences of 16 tokens.*cuts it into windows"):
        load(hf.SwinModel(config)).record({"pixel_values": torch.randn(1, 3, 32, 32)})


def test_statistics_alone_need_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_gpt2()
    subject = load(model)
    recording = subject.record(ids_of(20), want=())
    assert str(recording.evidence.kernel).startswith("blocks of rows")
    assert all(not each.has_weights and each.queries is None for each in recording.maps)
    assert recording.output is None
    exact = subject.record(ids_of(20))
    assert_near(recording.maps[1].statistics.entropy, exact.maps[1].statistics.entropy, layers=2)
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LONGEST_DENSE", 10)
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 10)
    long = subject.record(ids_of(20))
    assert long.maps[0].dense is None
    assert_near(long.maps[1].weights(), exact.maps[1].dense, layers=2)
    assert_near(long.output.log_probabilities, exact.output.log_probabilities, layers=2)


def test_large_arrays_go_to_disk_and_straight_into_a_bundle(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LARGE", 64)
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 4)
    subject = load(make_gpt2())
    expected = subject.record(ids_of(20), kernel="fast")
    assert not expected.maps[0].factors.queries.flags.owndata
    with bundle.BundleWriter(tmp_path / "long.bundle") as writer:
        writer.finish(subject.record(ids_of(20), kernel="fast", keep=keeping.store_in_bundle(writer)))
    opened = bundle.open(tmp_path / "long.bundle")
    for ours, theirs in zip(opened.maps, expected.maps, strict=True):
        assert np.array_equal(ours.weights(), theirs.weights())
        assert np.array_equal(ours.factors.queries, theirs.factors.queries)


def test_vectors_that_stay_on_their_device_are_those_that_are_stored(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 4)
    subject = load(make_gpt2())
    stored = subject.record(ids_of(20), kernel="fast")
    held = subject.record(ids_of(20), kernel="fast", keep=lambda name, each: keeping.Held(name, each.clone()))
    for ours, theirs in zip(held.maps, stored.maps, strict=True):
        assert isinstance(ours.peek("keys"), keeping.Held)
        assert np.array_equal(ours.weights(1), theirs.weights(1))
        assert ours.peek("keys").nbytes > 0  # one head was read, the others stay
    for name, recording in (("held", held), ("stored", stored)):
        recording.save(tmp_path / name)
    assert (tmp_path / "held").read_bytes() == (tmp_path / "stored").read_bytes()


@pytest.mark.parametrize("count", [16, 64])  # measured after the eager function; computed in its place
def test_attention_of_several_sequences_is_refused(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_gpt2()
    attention = model.transformer.h[1].attn
    usual = attention.forward

    def attend_twice(states: Tensor, *places: Any, **words: Any) -> Any:
        if states.shape[1] < count:  # the few tokens of the self-check
            return usual(states, *places, **words)
        output, weights = usual(states.repeat(2, 1, 1), *places, **words)
        return output[:1], weights

    monkeypatch.setattr(attention, "forward", attend_twice)
    with pytest.raises(RecordingError, match="was computed for 2 sequences of"):
        load(model).record(ids_of(count), kernel="exact")


def test_states_that_overflow_are_refused() -> None:
    model = make_gpt2()
    subject = load(model)
    subject.record(ids_of(8))
    hook = model.transformer.h[0].ln_1.register_forward_hook(lambda _, __, output: output * torch.inf)
    with pytest.raises(RecordingError, match="decoder layer 0, self got NaN or infinity"):
        subject.record(ids_of(8))
    hook.remove()
