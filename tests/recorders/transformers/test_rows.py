"""Edited rows of one batch give the logits that passes of their own give, in many architectures."""

import pytest
import torch

import glassformer as gf
from edited_models import SOURCE, make_architectures
from glassformer.recorders.record import find_recorder, make_request
from tolerances import assert_near

ALONE = ("Bloom", "GPT-J")  # off the attention interface: one pass after the other


@pytest.mark.parametrize("name", list(make_architectures()))
def test_architectures_of_transformers(name: str) -> None:
    torch.manual_seed(0)
    model = gf.load(make_architectures()[name]().eval())
    reads = (SOURCE, [9, 5, 6]) if model.shape == "encoder-decoder" else (SOURCE,)
    edits = [(edit,) for edit in gf.all_heads(model.record(*reads))[::3]]
    target = None if len(reads) == 1 else reads[1]
    request = make_request(model, SOURCE, target, second_text=None, target_language=None)
    passes: list[int] = []
    model.network.register_forward_pre_hook(lambda *_: passes.append(1))
    recorder = find_recorder(model)
    with torch.no_grad():
        together = recorder.measure(request, edits, (-1, 2))
        count = len(passes)
        alone = recorder.measure(request, edits, (-1, 2), together=False)
    assert together.shape == (len(edits) + 1, 2, 40)
    assert (count == 1) == (name not in ALONE)
    assert_near(together, alone, layers=6, where=name)
    assert (alone[1:] != alone[0]).flatten(1).any(1).sum() >= len(
        edits
    ) // 2  # of random weights, not all act
