"""Recordings with a trace, for walks."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from glassformer.recording import Recording

EVERYTHING = ("weights", "hidden", "output", "queries", "keys", "values", "scores", "trace", "parameters")
KEPT = ("tokens", "positions", "output", "norm", "inner", "logits")


@cache
def record_trace(vocabulary: int = 50, want: tuple[str, ...] = EVERYTHING, **settings: Any) -> Recording:
    """A tiny encoder-decoder, followed step by step."""
    torch = pytest.importorskip("torch")
    from glassformer.config import ModelConfig
    from glassformer.loaded.opening import load
    from glassformer.model.transformer import Transformer

    torch.manual_seed(1)
    size: dict[str, Any] = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 24, **settings}
    network = Transformer(ModelConfig(vocabulary_size=vocabulary, start_id=2, end_id=3, **size))
    target = (6, 10) if network.decoder is not None and network.encoder is not None else None
    return load(network, name="tiny").record((5, 9, 7, 3), target, want=want)


@cache
def record_recurrent(want: tuple[str, ...] = EVERYTHING, **settings: Any) -> Recording:
    """A tiny recurrent translator, followed step by step."""
    torch = pytest.importorskip("torch")
    from glassformer.config import RecurrentConfig
    from glassformer.loaded.opening import load
    from glassformer.model.recurrent import RecurrentTranslator

    torch.manual_seed(1)
    size: dict[str, Any] = {"width": 8, "embedding_width": 6, "start_id": 2, "end_id": 3}
    network = RecurrentTranslator(RecurrentConfig(vocabulary_size=50, **size, **settings))
    return load(network, name="cells").record((5, 9, 7, 3), (6, 10), want=want)


def record_traced() -> Recording:
    """With the trace, and without what it repeats."""
    return record_trace(5000, ("weights", "hidden", "output", "trace", "parameters"), max_length=20)


def record_full() -> Recording:
    """With everything that can be kept."""
    return record_trace(activation="silu")


def slim(recording: Recording) -> Recording:
    """Of the trace only what nothing else gives."""
    trace = {
        name: array
        for name, array in recording.trace.items()
        if name.startswith("parameters/") or name.rsplit("/", 1)[1] in KEPT
    }
    return replace(recording, trace=trace)


@cache
def record_perceived(reads: str, want: tuple[str, ...] = EVERYTHING, **settings: Any) -> Recording:
    """A tiny network that describes a picture of 12 × 12 pixels, or 0.2 seconds of a tone of 1,000 hertz."""
    torch = pytest.importorskip("torch")
    from glassformer.config import ModelConfig
    from glassformer.loaded.opening import load
    from glassformer.media import Waveform
    from glassformer.model.transformer import Transformer

    torch.manual_seed(1)
    size: dict[str, Any] = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 24, "max_length": 40}
    size |= {"picture_size": 12, "patch_size": 4, "sample_rate": 8000, "hop": 80, "mel_bins": 12}
    names = {"vocabulary_size": 50, "start_id": 2, "end_id": 3, "reads": reads}
    network = Transformer(ModelConfig(**{**size, **names, "frame_stride": 4, **settings}))
    pixels = np.arange(12 * 12 * 3, dtype=np.uint16).reshape(12, 12, 3).astype(np.uint8)
    tone = 0.5 * np.sin(2 * np.pi * 1000 / 8000 * np.arange(1600))
    given = pixels if reads == "picture" else Waveform(tone, 8000)
    return load(network, name="tiny").record(given, (6, 10), want=want)
