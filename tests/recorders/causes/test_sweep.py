"""A sweep gives for every edit what a pass of its own gives, however many passes share a batch."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import glassformer as gf
from edited_models import HEADS, KINDS, SOURCE, changing_heads, find_projection, make_subject
from glassformer.errors import InputError
from glassformer.recorders.causes import sweep as module
from our_networks import build
from tolerances import assert_near

OUTCOME = gf.LogitDifference(7, 9)


def outcome_by_hand(subject: Any, reads: Any, place: gf.Place, head: int) -> float:
    """The outcome of a recording whose head is silenced by a hook of our own."""

    def silence(heads: Tensor) -> Tensor:
        heads[:, :, head] = 0
        return heads

    network = subject.network
    ids = [torch.tensor([each]) for each in reads]
    with changing_heads(find_projection(subject, *place[:3]), silence), torch.no_grad():
        if len(reads) == 1:
            logits = network(ids[0])
        else:
            start = torch.cat((torch.tensor([[3]]), ids[1]), dim=1)
            named = "target" if subject.library == "native" else "decoder_input_ids"
            logits = network(ids[0], **{named: start})
    logits = logits if isinstance(logits, Tensor) else logits.logits
    return float(logits[0, -1, 7] - logits[0, -1, 9])


@pytest.mark.parametrize("kind", KINDS)
def test_every_head_silenced_is_what_hooks_by_hand_give(kind: str) -> None:
    subject, reads = make_subject(kind)
    sweep = gf.sweep(subject, *reads, outcome=OUTCOME)
    maps = subject.record(*reads).maps
    assert len(sweep.edits) == HEADS * len(maps)
    for (edit,), value in zip(sweep.edits, sweep.values, strict=True):
        assert isinstance(edit, gf.AblateHead)
        wanted = outcome_by_hand(subject, reads, edit.place, edit.head)
        assert_near(value, wanted, layers=5, scores=64, magnitude=32, where=edit)
    assert np.abs(sweep.effects).max() > 0.1
    for each in maps:
        assert sweep.heads(each.stack, each.kind).shape == (each.place.layer + 1, HEADS) or each.layer < 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_the_size_of_batches_changes_nothing(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    subject, reads = make_subject(kind)
    edits = [
        gf.AblateHead("decoder", "self", 2, 1, "uniform"),
        gf.CutEdge("decoder", "self", 0, 1, 3, 1),
        gf.ScaleScores(0.5, "decoder", "self", 1),
        [gf.AblateHead("decoder", "self", 0, 1), gf.ScaleScores(2.0)],
        gf.AblateHead("decoder", "self", 1, 3, "mean", ([5, 6, 7], [9, 8, 7])),
        gf.FirstLayers(2, "decoder"),
        gf.AblateHead("decoder", "self", 1, 3),
    ]
    if len(reads) > 1:
        edits += [gf.AblateHead("encoder", "self", 1, 2), gf.AblateHead("decoder", "cross", 1, 2)]
    alone = [gf.sweep(subject, *reads, outcome=OUTCOME, edits=[edit]) for edit in edits]
    for size in (1, 3, 48):
        monkeypatch.setattr(module, "MOST_ROWS", size)
        sweep = gf.sweep(subject, *reads, outcome=OUTCOME, edits=edits)
        for edit, single, value in zip(edits, alone, sweep.values, strict=True):
            assert_near(single.values[0], value, layers=5, scores=64, magnitude=32, where=(size, edit))
            assert_near(single.baseline, sweep.baseline, layers=5, scores=64, magnitude=32)


def test_the_model_is_left_as_found() -> None:
    subject, reads = make_subject("GPT-2")
    before = subject.network(torch.tensor([SOURCE])).logits
    gf.sweep(subject, *reads, outcome=OUTCOME)
    hooks = [each for each in subject.network.modules() if each._forward_pre_hooks or each._forward_hooks]
    assert not hooks
    assert torch.equal(subject.network(torch.tensor([SOURCE])).logits, before)


def test_a_sweep_describes_itself() -> None:
    sweep = gf.sweep("zoo/gpt2", "The cat sat on the", outcome=gf.LogProbability(" floor"))
    lines = str(sweep).splitlines()
    assert lines[0].startswith("log-probability of ' floor' at position -1: ")
    assert len(lines) == 11
    (first, effect), *_ = sweep.largest(1)
    assert abs(effect) == np.abs(sweep.effects).max()
    assert str(first[0]) in lines[1]


@pytest.mark.parametrize("edits", [[], [[]], "heads", [3], gf.ScaleScores(2.0)])
def test_what_is_no_list_of_edits_is_refused(edits: Any) -> None:
    with pytest.raises(InputError):
        gf.sweep("zoo/gpt2", "The cat", outcome=gf.Loss(), edits=edits)


def test_an_edit_that_touches_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="layer 77"):
        gf.sweep("zoo/gpt2", "The cat", outcome=gf.Loss(), edits=[gf.AblateHead("decoder", "self", 77, 0)])


def test_a_patch_that_nobody_sees_changes_the_class_as_in_a_pass_of_its_own() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3)).astype(np.uint8)
    shown: dict[str, Any] = {"reads": "picture", "picture_size": 8, "patch_size": 4, "positions": "learned"}
    model = gf.load(build(**shown, shape="encoder", head="classes", classes=3), name="sorter")
    tokens = range(5)  # a class token and four patches
    edits = [
        [gf.CutEdge("encoder", "self", None, None, query, patch) for query in tokens if query != patch]
        for patch in tokens[1:]
    ]
    swept = gf.sweep(model, pixels, outcome=gf.ClassProbability(1), edits=edits)
    assert len(set(swept.values.tolist())) == len(edits)
    for edit, value in zip(edits, swept.values, strict=True):
        output = gf.record(model, pixels, edits=edit).output
        place = output.ids[0].tolist().index(1)
        assert_near(value, np.exp(output.log_probabilities[0][place]), layers=2, scores=64)
