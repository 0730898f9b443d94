"""Work that nobody waits for stops in the middle."""

import threading
from typing import Any

import numpy as np
import pytest

from glassformer.api import scores as measuring
from glassformer.api.cancellation import cancelled_by, make_cancellable
from glassformer.api.distributions import Where, distribute
from glassformer.api.tiles import frame_weights
from glassformer.errors import ApiError
from glassformer.metrics import score
from glassformer.recording import AttentionMap
from inventions import invent_decoder, invent_long


def test_a_stoppable_recording_is_the_same() -> None:
    recording = invent_decoder()
    twin = make_cancellable(recording)
    assert np.array_equal(twin.maps[1].weights(2), recording.maps[1].weights(2))
    assert repr(twin.maps[0]) == repr(recording.maps[0])
    for name in ("entropy", "overall_sparsity", "rollout"):
        ours, theirs = score(twin, name).parts, score(recording, name).parts
        assert all(np.array_equal(a.values, b.values) for a, b in zip(ours, theirs, strict=True))


def test_measuring_stops_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = invent_long(tokens=300)
    flag, read = threading.Event(), []
    weights = AttentionMap.weights

    def estimate_bytes(self: AttentionMap, *words: Any) -> np.ndarray:
        read.append(words)
        flag.set()
        return weights(self, *words)

    monkeypatch.setattr(AttentionMap, "weights", estimate_bytes)
    with cancelled_by(flag), pytest.raises(ApiError, match="was cancelled"):
        measuring.measure_recording(recording, "overall_sparsity", None, {"threshold": "0.02"})
    assert len(read) == 1


def test_pictures_and_histograms_stop_too() -> None:
    flag = threading.Event()
    flag.set()
    recording = invent_decoder()
    with cancelled_by(flag):
        with pytest.raises(ApiError, match="was cancelled"):
            distribute(recording, "attention", Where(place="0"), 8)
        with pytest.raises(ApiError, match="was cancelled"):
            frame_weights(recording.maps[0], "mean", None, None, "uint8")
    assert distribute(recording, "attention", Where(place="0"), 8).count


def test_billions_of_weights_are_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = invent_long(tokens=300)
    monkeypatch.setattr(measuring, "MOST_COUNTED", 1000)
    for given in ({"threshold": "0.02"}, {"relative": "true"}):
        with pytest.raises(ApiError, match="counted again"):
            measuring.measure_recording(recording, "overall_sparsity", None, given)
    for given in ({}, {"threshold": "0.01"}, {"threshold": "0.01", "relative": "false"}):
        assert measuring.measure_recording(recording, "overall_sparsity", None, given).parts
