"""What is patched in is what a hook by hand reads for the other text and puts there."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from edited_models import (
    CROSSING,
    EVERYTHING,
    KINDS,
    SOURCE,
    changing_heads,
    differs,
    find_block,
    find_projection,
    make_subject,
    same_output,
)
from glassformer.errors import InputError
from tolerances import assert_near

OTHER = [12, 5, 13, 9, 7, 6]  # as many tokens as SOURCE
LAYER, HEAD = 1, 2


def find_added(block: nn.Module) -> nn.Module:
    """The module whose output a block adds last."""
    names = ("feed_forward", "mlp", "fc2")
    return next(getattr(block, name) for name in names if hasattr(block, name))


def read_states(subject: Any, reads: Any, stack: str, part: str) -> Tensor:
    seen = []
    block = find_block(subject, stack, LAYER)

    def keep_input(_: nn.Module, positional: Any, named: Any) -> None:
        seen.append((named.get("hidden_states", positional[0] if positional else None))[0].clone())

    if part == "residual":
        handle = block.register_forward_pre_hook(keep_input, with_kwargs=True)
    else:
        handle = find_added(block).register_forward_hook(lambda _, __, output: seen.append(output[0].clone()))
    with handle:
        subject.record(*reads)
    return seen[-1]


def put_states(subject: Any, stack: str, part: str, states: Tensor, positions: Any) -> Any:
    at = slice(None) if positions is None else list(positions)
    block = find_block(subject, stack, LAYER)

    def put(tensor: Tensor) -> Tensor:
        tensor = tensor.clone()
        tensor[:, at] = states[at]
        return tensor

    def put_input(_: nn.Module, positional: Any, named: Any) -> Any:
        if "hidden_states" in named:
            return positional, named | {"hidden_states": put(named["hidden_states"])}
        return (put(positional[0]), *positional[1:]), named

    if part == "residual":
        return block.register_forward_pre_hook(put_input, with_kwargs=True)
    return find_added(block).register_forward_hook(lambda _, __, output: put(output))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["residual", "feed_forward"])
@pytest.mark.parametrize("positions", [None, (1, -1)])
def test_states_come_from_the_other_text(kind: str, part: Any, positions: Any) -> None:
    subject, reads = make_subject(kind)
    stack = "decoder" if len(reads) == 1 else "encoder"
    states = read_states(subject, (OTHER, *reads[1:]), stack, part)
    edit = gf.PatchStates(stack, part, LAYER, tuple(OTHER), positions)
    patched = subject.record(*reads, want=EVERYTHING, edits=[edit])
    with put_states(subject, stack, part, states, positions):
        wanted = subject.record(*reads, want=EVERYTHING)
    same_output(patched, wanted)
    differs(patched, subject.record(*reads, want=EVERYTHING))
    assert "12 5 13 9 7 6" in str(patched.evidence.edits[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attention", ["self", "cross"])
def test_a_head_gives_what_it_gives_for_the_other_text(kind: str, attention: Any) -> None:
    if attention == "cross" and kind not in CROSSING:
        return
    subject, reads = make_subject(kind)
    projection = find_projection(subject, "decoder", attention, LAYER)
    with changing_heads(projection, None) as seen:
        subject.record(OTHER, *reads[1:])
    other = seen[-1][:, HEAD]

    def change(heads: Tensor) -> Tensor:
        heads[:, 2, HEAD] = other[2]
        return heads

    edit = gf.PatchHead("decoder", attention, LAYER, HEAD, tuple(OTHER), (2,))
    patched = subject.record(*reads, want=EVERYTHING, edits=[edit])
    with changing_heads(projection, change):
        wanted = subject.record(*reads, want=EVERYTHING)
    same_output(patched, wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_patches_in_a_sweep_are_those_of_recordings(kind: str) -> None:
    subject, reads = make_subject(kind)
    stack = "decoder" if len(reads) == 1 else "encoder"
    edits = [
        gf.PatchStates(stack, "residual", layer, tuple(OTHER), (at,)) for layer in (0, 1) for at in range(6)
    ]
    edits.append(gf.PatchStates(stack, "feed_forward", 1, tuple(OTHER)))
    sweep = gf.sweep(subject, *reads, outcome=gf.LogitDifference(7, 9), edits=edits)
    for edit, value in zip(edits, sweep.values, strict=True):
        alone = gf.sweep(subject, *reads, outcome=gf.LogitDifference(7, 9), edits=[edit]).values[0]
        assert_near(value, alone, layers=5, scores=64, magnitude=32, where=edit)
    assert len(np.unique(sweep.values.round(3))) > 4


def test_all_states_of_another_text_give_its_answer() -> None:
    subject, _ = make_subject("GPT-2")
    edit = gf.PatchStates("decoder", "residual", 0, tuple(OTHER))
    patched = subject.record(SOURCE, want=EVERYTHING, edits=[edit])
    same_output(patched, subject.record(OTHER, want=EVERYTHING))


def test_what_cannot_be_patched_is_refused() -> None:
    subject, _ = make_subject("GPT-2")
    with pytest.raises(InputError, match="this text has 6"):
        subject.record(SOURCE, edits=[gf.PatchStates("decoder", "residual", 0, (5, 6))])
    with pytest.raises(InputError, match="no position 6"):
        subject.record(SOURCE, edits=[gf.PatchStates("decoder", "residual", 0, tuple(OTHER), (6,))])
    with pytest.raises(InputError, match="nothing to edit"):
        subject.record(SOURCE, edits=[gf.PatchStates("decoder", "residual", 9, tuple(OTHER))])
    with pytest.raises(InputError, match="no head 99"):
        subject.record(SOURCE, edits=[gf.PatchHead("decoder", "self", 0, 99, tuple(OTHER))])
    with pytest.raises(InputError, match="no part"):
        gf.PatchStates("decoder", "mlp", 0, "x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="whole numbers"):
        gf.PatchHead("decoder", "self", 0, 0, "x", "1")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Leave out `target`"):
        subject.record(
            SOURCE, edits=[gf.PatchStates("decoder", "residual", 0, tuple(OTHER), target=tuple(OTHER))]
        )
    for text in ("", 5, (-1,), ("a",)):
        with pytest.raises(InputError, match="other text"):
            gf.PatchHead("decoder", "self", 0, 0, text)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs all queries"):
        subject.record(
            SOURCE,
            decode={"max_new_tokens": 2},
            edits=[gf.PatchStates("decoder", "residual", 0, tuple(OTHER))],
        )


@pytest.mark.parametrize("kind", CROSSING)
def test_a_patch_may_name_the_target_of_the_other_text(kind: str) -> None:
    subject, reads = make_subject(kind)
    words = (14, 6, 5, 9)
    states = read_states(subject, (OTHER, list(words)), "decoder", "residual")
    edit = gf.PatchStates("decoder", "residual", LAYER, tuple(OTHER), (1,), words)
    patched = subject.record(*reads, want=EVERYTHING, edits=[edit])
    with put_states(subject, "decoder", "residual", states, (1,)):
        wanted = subject.record(*reads, want=EVERYTHING)
    same_output(patched, wanted)
    differs(
        patched,
        subject.record(
            *reads, want=EVERYTHING, edits=[gf.PatchStates("decoder", "residual", LAYER, tuple(OTHER), (1,))]
        ),
    )
    assert "14 6 5 9" in str(patched.evidence.edits[0])


@pytest.mark.parametrize("kind", CROSSING)
@pytest.mark.slow
def test_a_patched_encoder_writes(kind: str) -> None:
    subject, _ = make_subject(kind)
    edit = gf.PatchStates("encoder", "residual", 0, tuple(OTHER))
    settings = {"max_new_tokens": 5}
    patched = subject.record(SOURCE, decode=settings, edits=[edit])
    assert patched.generation.text == subject.record(OTHER, decode=settings).generation.text
    with pytest.raises(InputError, match="needs all queries"):
        subject.record(
            SOURCE, decode=settings, edits=[gf.PatchStates("decoder", "residual", 0, tuple(OTHER))]
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_patch_from_the_same_text_changes_nothing_bit_for_bit(kind: str) -> None:
    subject, reads = make_subject(kind)
    stack, text = "decoder" if len(reads) == 1 else "encoder", tuple(SOURCE)
    edits = [
        gf.PatchStates(stack, "residual", 1, text),
        gf.PatchStates(stack, "residual", 2 if kind == "BART" else 3, text),
        gf.PatchStates(stack, "feed_forward", 1, text),
        *(each(stack, "self", LAYER, HEAD, text) for each in (gf.PatchHead, gf.PatchPattern, gf.PatchValue)),
    ]
    plain = subject.record(*reads, want=EVERYTHING)
    for edit in edits:
        patched = subject.record(*reads, want=EVERYTHING, edits=[edit])
        assert (plain.output.log_probabilities == patched.output.log_probabilities).all(), edit


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
def test_tokens_before_a_patch_do_not_change(kind: str) -> None:
    subject, _ = make_subject(kind)
    plain = subject.record(SOURCE)
    for patch in (gf.PatchHead, gf.PatchPattern, gf.PatchValue):
        patched = subject.record(SOURCE, edits=[patch("decoder", "self", LAYER, HEAD, tuple(OTHER), (3,))])
        same = plain.output.log_probabilities == patched.output.log_probabilities
        assert same[:3].all(), patch
        assert not same[3:].all(), patch


@pytest.mark.slow
def test_padding_changes_nothing() -> None:
    subject, _ = make_subject("GPT-2")
    padded = {
        "input_ids": torch.tensor([[*SOURCE, 0, 0]]),
        "attention_mask": torch.tensor([[1] * len(SOURCE) + [0, 0]]),
    }
    steer = gf.Steer("decoder", 1, np.linspace(-1, 1, 32), (2,))
    edits = [gf.AblateHead("decoder", "self", 1, 2), gf.CutEdge("decoder", "self", 1, 2, 4, 1), steer]
    pairs = [(edit, edit) for edit in edits]
    for patch in (gf.PatchHead, gf.PatchPattern, gf.PatchValue):
        pairs.append(
            (
                patch("decoder", "self", LAYER, HEAD, tuple(OTHER), (3,)),
                patch("decoder", "self", LAYER, HEAD, (*OTHER, 0, 0), (3,)),
            )
        )
    for plain, longer in pairs:
        wanted = subject.record(SOURCE, edits=[plain]).output.log_probabilities
        found = subject.record(padded, edits=[longer]).output.log_probabilities
        assert_near(found[: len(SOURCE)], wanted, layers=5, scores=64, where=plain)


def test_a_pattern_keeps_values_and_a_value_keeps_the_pattern() -> None:
    subject, _ = make_subject("our decoder")
    want = ("weights", "values")
    plain, other = subject.record(SOURCE, want=want), subject.record(OTHER, want=want)
    edit = gf.PatchPattern("decoder", "self", LAYER, HEAD, tuple(OTHER), (2, 4))
    looks = subject.record(SOURCE, want=want, edits=[edit]).map(layer=LAYER)
    assert (looks.weights(head=HEAD)[[2, 4]] == other.map(layer=LAYER).weights(head=HEAD)[[2, 4]]).all()
    assert (looks.weights(head=HEAD)[3] == plain.map(layer=LAYER).weights(head=HEAD)[3]).all()
    assert (looks.values == plain.map(layer=LAYER).values).all()
    edit = gf.PatchValue("decoder", "self", LAYER, HEAD, tuple(OTHER), (2,))
    finds = subject.record(SOURCE, want=want, edits=[edit]).map(layer=LAYER)
    assert (finds.weights() == plain.map(layer=LAYER).weights()).all()
    assert (finds.values[HEAD, 2] == other.map(layer=LAYER).values[HEAD, 2]).all()
    assert (finds.values[HEAD, 3] == plain.map(layer=LAYER).values[HEAD, 3]).all()
