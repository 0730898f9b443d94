"""The part of a block that gives what its feed-forward network adds, in many architectures."""

import pytest
import torch

import glassformer as gf
from edited_models import SOURCE, make_architectures


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
