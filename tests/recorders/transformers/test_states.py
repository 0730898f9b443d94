"""The part of a block that gives what its feed-forward network adds, in many architectures."""

import pytest
import torch

import glassformer as gf
from edited_models import SOURCE, make_architectures
from glassformer.recorders.transformers.states import find_feed_forward


@pytest.mark.parametrize("name", list(make_architectures()))
def test_patches_of_the_same_text_change_nothing(name: str) -> None:
    """And each layer's patch is used: a block that is not found, or not called, is an error."""
    torch.manual_seed(0)
    model = gf.load(make_architectures()[name]().eval())
    reads = (SOURCE, [9, 5, 6]) if model.shape == "encoder-decoder" else (SOURCE,)
    plain = model.record(*reads)
    for stack in {each.stack for each in plain.maps}:
        texts = tuple(SOURCE)
        for part in ("residual", "feed_forward"):
            edits = [gf.PatchStates(stack, part, layer, texts) for layer in range(3)]  # type: ignore[arg-type]
            patched = model.record(*reads, edits=edits)
            assert (patched.output.log_probabilities == plain.output.log_probabilities).all()


def test_the_feed_forward_network_of_bert_is_not_its_attention() -> None:
    model = make_architectures()["BERT"]().eval()
    for block in model.bert.encoder.layer:
        assert find_feed_forward(block) is block.output.dense
    assert find_feed_forward(make_architectures()["T5"]().encoder.block[0]).__class__.__name__.startswith(
        "T5Dense"
    )


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_layers_are_steered_at_every_token(count: int) -> None:
    torch.manual_seed(0)
    model = gf.load(make_architectures()["Llama"]().eval())
    edits = [gf.FirstLayers(count), gf.Steer("decoder", count - 1, torch.linspace(-9, 9, 32))]
    written = model.record(SOURCE, decode={"max_new_tokens": 5}, edits=edits)
    again = model.record(written.source.ids.tolist(), edits=edits)
    chosen = again.output.ids[len(SOURCE) - 1 : -1, 0].tolist()
    assert chosen == written.source.ids.tolist()[len(SOURCE) :]
