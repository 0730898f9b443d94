"""Paths: what is refused, what stays as it is, and that nothing but the receivers gets the change.

Numbers are compared with hooks by hand in test_every_architecture.py.
"""

from typing import Any

import numpy as np
import pytest

import glassformer as gf
from edited_models import EVERYTHING, KINDS, SOURCE, make_subject
from glassformer.errors import InputError
from glassformer.recorders.edits.patch_path import Receiver
from tolerances import assert_near

OTHER = (12, 5, 13, 9, 7, 6)
RECEIVERS = (
    "decoder.self.2.1.queries",
    "decoder.self.2.0.values",
    "decoder.2.feed_forward",
    "decoder.residual",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("between", ["frozen", "recomputed"])
def test_a_path_from_the_same_text_changes_nothing(kind: str, between: Any) -> None:
    subject, reads = make_subject(kind)
    edit = gf.PatchPath("decoder", "self", 0, 1, tuple(SOURCE), RECEIVERS, feed_forward=between)
    plain, patched = subject.record(*reads), subject.record(*reads, edits=[edit])
    assert (plain.output.log_probabilities == patched.output.log_probabilities).all()


def test_the_receivers_of_a_whole_layer_react_as_to_the_sender_itself() -> None:
    subject, _ = make_subject("GPT-2")
    parts = ("queries", "keys", "values")
    every = tuple(f"decoder.self.2.{head}.{part}" for head in range(4) for part in parts)
    plain = subject.record(SOURCE).map(layer=2).weights()
    path = subject.record(SOURCE, edits=[gf.PatchPath("decoder", "self", 1, 2, OTHER, every)])
    whole = subject.record(SOURCE, edits=[gf.PatchHead("decoder", "self", 1, 2, OTHER)])
    assert_near(path.map(layer=2).weights(), whole.map(layer=2).weights(), layers=3, scores=64)
    assert np.abs(path.map(layer=2).weights() - plain).max() > 1e-4


def test_nothing_before_a_receiver_changes() -> None:
    subject, _ = make_subject("our decoder")
    edit = gf.PatchPath("decoder", "self", 0, 1, OTHER, ("decoder.self.2.1.queries",))
    plain, patched = (
        subject.record(SOURCE, want=EVERYTHING),
        subject.record(SOURCE, want=EVERYTHING, edits=[edit]),
    )
    assert (plain.hidden["decoder"][:3] == patched.hidden["decoder"][:3]).all()
    assert (plain.map(layer=2).weights()[[0, 2, 3]] == patched.map(layer=2).weights()[[0, 2, 3]]).all()
    assert (plain.map(layer=2).weights(head=1) != patched.map(layer=2).weights(head=1)).any()


def test_addresses_of_receivers() -> None:
    assert Receiver.read("vision.encoder.self.9.6.keys") == ("vision.encoder", "self", 9, 6, "keys")
    assert Receiver.read("decoder.3.feed_forward") == ("decoder", None, 3, None, "feed_forward")
    assert Receiver.read("decoder.residual") == ("decoder", None, None, None, "residual")


@pytest.mark.parametrize(
    "address", ["", 5, "decoder", "self.1.1.queries", "decoder.self.1.queries", "decoder.self.1.1.weights",
                "decoder.self.x.1.keys", "decoder.-1.feed_forward", "decoder.2.residual", ".residual.x"]
)  # fmt: skip
def test_what_is_no_receiver(address: Any) -> None:
    with pytest.raises(InputError, match=r"decoder\.residual"):
        gf.PatchPath("decoder", "self", 0, 1, OTHER, (address,))


def test_what_cannot_be_a_path() -> None:
    subject, _ = make_subject("GPT-2")
    for receiver in ("decoder.self.1.0.keys", "decoder.0.feed_forward", "encoder.self.3.0.keys"):
        with pytest.raises(InputError) as error:
            gf.PatchPath("decoder", "self", 1, 1, OTHER, (receiver,))
        assert error.value.message.code == "recorders.edits.receiver_before"
    for receivers in ((), 7, None):
        with pytest.raises(InputError):
            gf.PatchPath("decoder", "self", 0, 1, OTHER, receivers)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="frozen"):
        gf.PatchPath("decoder", "self", 0, 1, OTHER, RECEIVERS, feed_forward="gone")  # type: ignore[arg-type]
    wrong = {
        "recorders.edits.unknown_head": gf.PatchPath("decoder", "self", 0, 9, OTHER, RECEIVERS),
        "recorders.edits.nothing_to_change": gf.PatchPath(
            "decoder", "self", 0, 1, OTHER, ("decoder.self.9.0.keys",)
        ),
        "recorders.edits.no_such_part": gf.PatchPath(
            "decoder", "self", 0, 1, OTHER, ("decoder.9.feed_forward",)
        ),
    }
    for code, edit in wrong.items():
        with pytest.raises(InputError) as error:
            subject.record(SOURCE, edits=[edit])
        assert error.value.message.code == code
    with pytest.raises(InputError, match="no head 9"):
        subject.record(
            SOURCE, edits=[gf.PatchPath("decoder", "self", 0, 1, OTHER, ("decoder.self.1.9.keys",))]
        )
    edit = gf.PatchPath("decoder", "self", 0, 1, OTHER, RECEIVERS)
    with pytest.raises(InputError, match="needs all queries"):
        subject.record(SOURCE, decode={"max_new_tokens": 2}, edits=[edit])
