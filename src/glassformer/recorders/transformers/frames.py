"""Names of the positions that a sound is cut into, and the sound as the model heard it.

In:   a model of transformers that is about to hear samples (Wav2Vec2) or a spectrogram (Whisper).
Out:  tokens for the axes of a stack: each frame by the second in its middle, beside the sound where samples
      were given.

Frames are made by convolutions, one after the other, each seen by a hook: the first takes as many columns as
the input has, each other one as many as the one before it gave.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.loaded.perceiving import FULL, name_words
from glassformer.loaded.processor import Processor
from glassformer.media import Waveform
from glassformer.recording import Sound, Tokens
from glassformer.recording.media import MOST_SAMPLES


class Convolved(NamedTuple):
    """What one convolution did."""

    given: int  # columns
    made: int
    stride: int
    centre: float  # of the first column that it made, in columns that it was given


class FrameNames:
    """The convolutions that a model did in the pass that is watched."""

    def __init__(self, model: nn.Module, processor: Processor, heard: Waveform | None = None) -> None:
        """`heard` is what the inputs were made of: a spectrogram cannot be turned back into it."""
        self.heard = heard
        self.model = model
        self.processor = processor
        self.done: list[Convolved] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context convolutions are noticed."""
        with ExitStack() as hooks:
            for module in self.model.modules():
                if isinstance(module, nn.Conv1d):
                    hooks.enter_context(module.register_forward_hook(self._notice))
            yield

    def _notice(self, module: nn.Module, given: Any, output: Tensor) -> None:
        assert isinstance(module, nn.Conv1d)
        padding = module.padding[0] if isinstance(module.padding, tuple) else 0
        reach = module.dilation[0] * (module.kernel_size[0] - 1)
        self.done.append(
            Convolved(given[0].shape[-1], output.shape[-1], module.stride[0], reach / 2 - int(padding))
        )

    def name(self, inputs: Mapping[str, Any], count: int) -> Tokens | None:
        """The positions of a stack that has so many; None: they are not frames of these inputs."""
        middles, step = self._find_middles(inputs, count)
        if middles is None:
            return None
        texts = tuple(f"{middle:.2f}" for middle in middles)
        spans = np.maximum(np.stack((middles - step / 2, middles + step / 2), axis=1), 0.0)
        return Tokens("source", texts, np.arange(count), sound=self._find_sound(inputs, spans))

    def _find_middles(
        self, inputs: Mapping[str, Any], count: int
    ) -> tuple[NDArray[np.float64] | None, float]:
        """The second in the middle of each frame, and the seconds from one to the next."""
        columns, seconds = self._measure(inputs)
        stride, centre = 1.0, 0.0  # of the columns so far, in columns of the input
        for each in self.done if columns else ():
            if each.given != columns:
                continue
            centre, stride, columns = centre + each.centre * stride, stride * each.stride, each.made
            if columns == count and stride > 1:
                return seconds * (stride * np.arange(count, dtype=np.float64) + centre), stride * seconds
        return None, 0.0

    def _measure(self, inputs: Mapping[str, Any]) -> tuple[int, float]:
        """How many columns the input has, and the seconds from one to the next; 0: it is no sound."""
        if (samples := inputs.get("input_values")) is not None and samples.dim() == 2:
            return samples.shape[1], 1 / self.processor.rate
        if (spectrum := inputs.get("input_features")) is not None and spectrum.dim() == 3:
            return spectrum.shape[2], self.processor.hop / self.processor.rate
        return 0, 0.0

    def _find_sound(self, inputs: Mapping[str, Any], spans: NDArray[np.float64]) -> Sound | None:
        """The sound that was given; where only the model's inputs were, these, as loud as can be."""
        samples, words = (None, ()) if self.heard is None else (self.heard.samples, name_words(self.heard))
        given = inputs.get("input_values")
        if samples is None and given is not None:
            raw = given[0].detach().float().cpu().numpy()
            samples = (raw - raw.mean()) / max(float(np.abs(raw - raw.mean()).max()), 1e-6)
        if samples is None:
            return None
        kept = np.clip(np.round(samples[:MOST_SAMPLES] * FULL), -FULL, FULL - 1)
        return Sound(kept.astype(np.int16), self.processor.rate, spans, words)
