"""A cut edge is compared with an independent computation."""

import numpy as np
import pytest
import torch

from edited_models import (
    CROSSING,
    EVERYTHING,
    HEADS,
    KINDS,
    SOURCE,
    changing_heads,
    differs,
    find_projection,
    make_ours,
    make_subject,
    make_theirs,
    same_output,
)
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import CutEdge
from tolerances import assert_near


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_edge_is_renormalised(kind: str) -> None:
    subject, reads = make_subject(kind)
    attention = "cross" if kind in CROSSING else "self"
    edit = CutEdge("decoder", attention, 0, 1, 3, 2)
    plain = subject.record(*reads, want=EVERYTHING)
    projection = find_projection(subject, "decoder", attention, 0)
    with changing_heads(projection, None) as seen:
        edited = subject.record(*reads, want=EVERYTHING, edits=[edit])
    before, after = plain.map("decoder", attention, 0), edited.map("decoder", attention, 0)
    expected = before.dense[1, 3].astype(np.float64)
    expected[2] = 0.0
    expected /= expected.sum()
    assert after.dense[1, 3, 2] == 0.0
    assert_near(after.dense[1, 3], expected, layers=2)
    assert after.statistics.allowed[1, 3] == before.statistics.allowed[1, 3] - 1
    assert after.statistics.allowed[0, 3] == before.statistics.allowed[0, 3]
    untouched = np.ones(before.dense.shape[:2], bool)
    untouched[1, 3] = False
    assert_near(after.dense[untouched], before.dense[untouched])
    result = seen[-1][3, 1].numpy()  # what the head brought home, of the last pass
    assert_near(result, after.dense[1, 3] @ after.values[1], layers=2)
    differs(edited, plain)
    assert after.relaxed is None
    assert "query 3 may not look at key 2 in head 1" in str(edited.evidence.edits[0])


def test_an_edge_cut_everywhere_is_a_hole_in_the_mask() -> None:
    model = make_theirs("decoder")
    edited = load(model).record(SOURCE, edits=[CutEdge("decoder", "self", None, None, 4, 1)])
    allowed = torch.ones(6, 6, dtype=torch.bool).tril()
    allowed[4, 1] = False
    mask = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)[None, None]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        reference = model(torch.tensor([SOURCE]), attention_mask=mask, output_attentions=True)
    for each, weights in zip(edited.maps, reference.attentions, strict=True):
        assert np.array_equal(each.dense, weights[0].numpy())
    ours = load(make_ours("decoder")).record(SOURCE, edits=[CutEdge("decoder", "self", None, None, 4, 1)])
    assert all(not each.dense[:, 4, 1].any() for each in ours.maps)


@pytest.mark.parametrize("kind", CROSSING)
@pytest.mark.parametrize("beams", [1, 3])
def test_an_edge_to_the_source_is_cut_in_every_beam(kind: str, beams: int) -> None:
    subject, reads = make_subject(kind)
    settings = GenerationSettings(max_new_tokens=5, min_new_tokens=5, beams=beams)
    edits = [CutEdge("decoder", "cross", None, None, 2, key) for key in range(5)]  # one of six keys is left
    written = subject.record(reads[0], decode=settings, edits=edits, want=EVERYTHING)
    for layer in range(3):
        assert np.array_equal(written.map("decoder", "cross", layer).dense[:, 2], np.eye(6)[[5] * HEADS])
    again = subject.record(reads[0], written.target.ids.tolist()[1:], edits=edits, want=EVERYTHING)
    same_output(written, again)
    if beams == 1:
        return  # rules change what a greedy search compares; a beam search keeps its logarithms
    nodes = written.generation.nodes
    third = [node for node in nodes if node.index == 2]  # chosen by what the third query saw
    assert len(third) >= 3
    for node in third:
        parent = nodes[node.parent]
        words = [nodes[parent.parent].token, parent.token]
        output = subject.record(reads[0], words, edits=edits).output
        known = dict(zip(output.ids[2].tolist(), output.log_probabilities[2].tolist(), strict=True))
        if node.token in known:
            assert_near(node.log_probability, known[node.token], layers=2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_that_is_cut_out_is_seen_by_itself_alone(kind: str) -> None:
    subject, reads = make_subject(kind)
    attention = "cross" if kind in CROSSING else "self"
    edited = subject.record(
        *reads, want=EVERYTHING, edits=[CutEdge("decoder", attention, None, None, None, 1)]
    )
    plain = subject.record(*reads, want=EVERYTHING)
    for layer in range(2):
        weights = edited.map("decoder", attention, layer).dense
        others = np.arange(weights.shape[1]) != (1 if attention == "self" else -1)
        assert not weights[:, others, 1].any()
        assert_near(weights.sum(-1), np.ones(weights.shape[:2]), layers=2)
        if attention == "self":
            assert weights[:, 1, 1].all()
    before = plain.map("decoder", attention, 0).dense[:, -1].astype(np.float64)  # nothing has changed below
    before[:, 1] = 0.0
    assert_near(
        edited.map("decoder", attention, 0).dense[:, -1], before / before.sum(-1, keepdims=True), layers=2
    )
    assert "key 1 hidden from all other tokens" in str(edited.evidence.edits[0])
