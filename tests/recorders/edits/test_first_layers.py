"""The first layers of a network are a network that has no more."""

import copy

import pytest
import transformers as hf

from edited_models import EVERYTHING, KINDS, make_subject, same_output
from glassformer.loaded.opening import load
from glassformer.model.transformer import Transformer
from glassformer.recorders.edits import FirstLayers

pytestmark = pytest.mark.numeric  # by what its helpers compare


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_layers_are_a_network_that_has_no_more(kind: str) -> None:
    subject, reads = make_subject(kind)
    network = subject.network
    edited = subject.record(*reads, want=EVERYTHING, edits=[FirstLayers(2, "decoder")])
    shorter = copy.deepcopy(network)
    if isinstance(shorter, Transformer):
        shorter.decoder.depth = 2
        shorter.decoder.layers = shorter.decoder.layers[:2]
    else:
        stack = shorter.transformer if isinstance(shorter, hf.GPT2LMHeadModel) else shorter.model.decoder
        name = "h" if isinstance(shorter, hf.GPT2LMHeadModel) else "layers"
        setattr(stack, name, getattr(stack, name)[:2])
    by_hand = load(shorter).record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    assert [each.layer for each in edited.maps if (each.stack, each.kind) == ("decoder", "self")] == [0, 1]
    assert edited.hidden["decoder"].shape[0] == 3
    assert tuple(map(str, edited.evidence.edits)) == ("only the first 2 layers of decoder",)
    again = subject.record(*reads)
    assert len([each for each in again.maps if (each.stack, each.kind) == ("decoder", "self")]) == 3
