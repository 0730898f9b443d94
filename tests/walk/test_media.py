"""The first steps of a network that looks or listens."""

from typing import Any

import pytest

from glassformer.walk import make_plan
from glassformer.walk.types import Step
from traces import record_perceived


def list_embedding(reads: str, **settings: Any) -> list[Step]:
    chapters = make_plan(record_perceived(reads, **settings)).chapters
    assert [chapter.id for chapter in chapters if chapter.kind == "embedding"] == [
        "encoder.embedding",
        "decoder.embedding",
    ]
    assert all(step.arithmetic for chapter in chapters for step in chapter.steps)
    return list(chapters[0].steps)


def name(steps: list[Step]) -> list[str]:
    return [step.output.removeprefix("encoder/embedding/") for step in steps]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["patches", "projected", "tokens", "positions", "sum"]),
        ({"class_token": False}, ["patches", "tokens", "positions", "sum"]),
        ({"positions": "rotary"}, ["patches", "projected", "tokens"]),
        ({"embedding_norm": True}, ["patches", "projected", "tokens", "positions", "sum", "norm"]),
    ],
)
def test_a_picture_becomes_patches_and_these_vectors(settings: dict[str, Any], expected: list[str]) -> None:
    steps = list_embedding("picture", **settings)
    assert name(steps) == expected
    assert steps[0].inputs == ("encoder/pixels",)
    assert steps[0].shape.output == (9, 48)


def test_a_standardised_spectrogram_is_shown_as_the_network_has_it() -> None:
    recording = record_perceived("sound", spectrogram="standardised")
    steps = list(make_plan(recording).chapters[0].steps)
    assert name(steps)[:3] == ["spectrogram", "first", "first_active"]
    assert steps[0].inputs == ("encoder/samples",)
    assert steps[0].shape.output == (20, 12)
    assert "encoder/embedding/power" not in recording.trace  # a step that is not shown


def test_a_sound_becomes_a_spectrogram_and_this_frames() -> None:
    steps = list_embedding("sound")
    assert name(steps) == [
        "power",
        "spectrogram",
        "first",
        "first_active",
        "second",
        "tokens",
        "positions",
        "sum",
    ]
    assert [step.shape.output for step in steps[:6]] == [
        (20, 129),
        (20, 12),
        (10, 16),
        (10, 16),
        (5, 16),
        (5, 16),
    ]
    assert steps[5].axes == ("source", "feature")
