"""A vector added before a layer, against the same added by a hook."""

from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from edited_models import EVERYTHING, KINDS, SOURCE, differs, find_block, make_subject, same_output
from glassformer.errors import InputError

VECTOR = np.linspace(-1, 1, 32, dtype=np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("positions", [None, [0, 2]])
def test_the_vector_is_added(kind: str, positions: Any) -> None:
    subject, reads = make_subject(kind)
    stack = "decoder" if len(reads) == 1 else "encoder"
    at = slice(None) if positions is None else positions

    def add(_: Any, positional: Any, named: Any) -> Any:
        states = (named["hidden_states"] if "hidden_states" in named else positional[0]).clone()
        states[:, at] += torch.from_numpy(VECTOR)
        if "hidden_states" in named:
            return positional, named | {"hidden_states": states}
        return (states, *positional[1:]), named

    steered = subject.record(*reads, want=EVERYTHING, edits=[gf.Steer(stack, 1, VECTOR, positions)])
    with find_block(subject, stack, 1).register_forward_pre_hook(add, with_kwargs=True):
        wanted = subject.record(*reads, want=EVERYTHING)
    same_output(steered, wanted)
    differs(steered, subject.record(*reads, want=EVERYTHING))


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
def test_generation_is_steered(kind: str) -> None:
    subject, _ = make_subject(kind)
    edit = gf.Steer("decoder", 2, 50 * VECTOR)
    steered = subject.record(SOURCE, decode={"max_new_tokens": 6}, edits=[edit])
    plain = subject.record(SOURCE, decode={"max_new_tokens": 6})
    assert steered.generation.text != plain.generation.text
    again = subject.record(steered.source.ids.tolist(), want=EVERYTHING, edits=[edit])
    chosen = again.output.ids[len(SOURCE) - 1 : -1, 0].tolist()
    assert chosen == steered.source.ids.tolist()[len(SOURCE) :]


def test_a_vector_of_another_width_is_refused() -> None:
    subject, _ = make_subject("GPT-2")
    with pytest.raises(InputError, match="32 wide"):
        subject.record(SOURCE, edits=[gf.Steer("decoder", 1, VECTOR[:5])])
    assert "length" in str(gf.Steer("decoder", 1, VECTOR))


@pytest.mark.parametrize("vector", [(), 5, "1", [[1.0]], [True], [float("inf")], ["1"], None])
def test_what_is_no_vector_is_refused(vector: Any) -> None:
    with pytest.raises(InputError, match="finite numbers"):
        gf.Steer("decoder", 1, vector)


def test_a_vector_is_kept_as_numbers() -> None:
    assert gf.Steer("decoder", 1, torch.tensor([0.5, 2.0])) == gf.Steer("decoder", 1, [0.5, 2])
