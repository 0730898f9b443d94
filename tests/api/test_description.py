"""Descriptions of recordings, as the server sends them."""

from dataclasses import replace

import numpy as np

from glassformer.api.description import describe, find_shape, slice_tokens
from glassformer.messages import literal
from glassformer.recording import Output, Recording, Tokens
from inventions import invent_decoder, invent_evidence, invent_map, invent_tokens, invent_translation

TITLE = literal("x")


def test_shapes() -> None:
    assert find_shape(invent_decoder()) == "decoder"
    assert find_shape(invent_translation()) == "encoder-decoder"
    side = invent_tokens("source", 3)
    encoder = Recording("m", invent_evidence(), side, maps=(invent_map("encoder", 0, "self", side, side, 1),))
    assert find_shape(encoder) == "encoder"


def test_an_edited_recording_is_marked_with_its_edits() -> None:
    plain = invent_decoder()
    edited = replace(plain, evidence=replace(plain.evidence, edits=("head 1 silenced",)))
    marks = [describe(each, "id", TITLE).evidence.messages.mark for each in (plain, edited)]
    assert marks[0] is None
    assert str(marks[1]) == "Edited model: head 1 silenced"


def test_of_a_long_output_the_last_position_is_kept_and_infinity_is_null() -> None:
    side = invent_tokens("source", 3000)
    ids = np.zeros((3000, 1), dtype=np.int64)
    ids[-1] = 1
    output = Output("decoder", ids, np.full((3000, 1), -np.inf), {0: "\n", 1: "next"})
    said = describe(Recording("m", invent_evidence(), side, output=output), "id", TITLE)
    assert said.output is not None
    assert said.output.positions == ()
    assert [choice.text for choice in said.output.last] == ["next"]
    short = replace(output, ids=output.ids[:2], log_probabilities=output.log_probabilities[:2])
    said = describe(Recording("m", invent_evidence(), side, output=short), "id", TITLE)
    assert said.output is not None
    assert said.output.last == said.output.positions[-1]
    assert (said.output.positions[1][0].text, said.output.positions[1][0].log_probability) == ("⏎", None)
    assert "null" in said.model_dump_json()


def test_text_that_is_no_unicode_can_be_sent() -> None:
    tokens = Tokens("source", ("\ud83d", "ok"), np.array([0, 1]), text="\ud83dok")
    sliced = slice_tokens(tokens, tokens.side, 0, 2)
    assert sliced.texts == ("�", "ok")
    assert sliced.shown == ("‹U+D83D›", "ok")
    assert sliced.model_dump_json().encode()
