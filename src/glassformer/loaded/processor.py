"""How a model of transformers wants its pictures and sounds: its image processor and feature extractor.

In:   a processor of transformers (live, or from a model folder); a picture or a sound.
Out:  the inputs that the model takes by name, and how to turn pixels back into colours.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.errors import InputError
from glassformer.loaded.perceiving import is_percept, read_pixels, read_waveform
from glassformer.media import Waveform, drop_opacity
from glassformer.recording import Picture, Sound, Tokens

RATE = 16_000  # samples per second of models of transformers that hear, where nothing says otherwise
HOP = 160  # samples from one column of a spectrogram to the next, where nothing says otherwise
Colours = tuple[Sequence[float], Sequence[float]]  # mean and deviation of each colour
FILES = ("preprocessor_config.json", "processor_config.json")


class HeardInputs(dict[str, Any]):
    """Inputs made of a sound, which they know: a spectrogram cannot be turned back into it."""

    def __init__(self, inputs: Mapping[str, Any], heard: Waveform) -> None:
        super().__init__(inputs)
        self.heard = heard


class Processor:
    """What a model reads pictures and sounds with; either may be missing."""

    def __init__(self, images: Any = None, sounds: Any = None) -> None:
        self.images = images
        self.sounds = sounds

    @property
    def colours(self) -> Colours | None:
        """What was subtracted from the colours, and what they were divided by; None: not known."""
        if self.images is None or not getattr(self.images, "do_normalize", True):
            return None if self.images is None else ((0.0,), (1.0,))
        mean, deviation = (getattr(self.images, f"image_{part}", None) for part in ("mean", "std"))
        return None if mean is None or deviation is None else (mean, deviation)

    @property
    def rate(self) -> int:
        """Samples per second that the model wants."""
        return int(getattr(self.sounds, "sampling_rate", None) or RATE)

    @property
    def hop(self) -> int:
        """Samples from one column of a spectrogram to the next."""
        return int(getattr(self.sounds, "hop_length", None) or HOP)

    @staticmethod
    def takes(inputs: object) -> bool:
        """Whether something is a picture or a sound; rows of bytes are pixels, never token ids."""
        if isinstance(inputs, Tokens):
            return inputs.picture is not None or inputs.sound is not None
        if isinstance(inputs, np.ndarray):
            return inputs.dtype == np.uint8 and inputs.ndim > 1
        return is_percept(inputs)

    def read(self, name: str, inputs: Any) -> Mapping[str, Any]:
        """The inputs of the model called `name` for a picture or a sound; refused where it takes none."""
        if isinstance(inputs, Tokens):
            inputs = inputs.picture or inputs.sound
        if isinstance(inputs, Waveform | Sound) or (self.images is None and isinstance(inputs, os.PathLike)):
            if self.sounds is None:
                raise InputError("loaded.processor.hears_nothing", name=name)
            heard = read_waveform(inputs, name).at_rate(self.rate)
            most = getattr(self.sounds, "n_samples", None)  # what is longer, Whisper's extractor cuts off
            if most is not None and len(heard.samples) > most:
                limit = most / self.rate
                raise InputError("loaded.processor.long", name=name, seconds=heard.seconds, limit=limit)
            made = self.sounds(heard.samples, sampling_rate=self.rate, return_tensors="pt")
            return HeardInputs(made, heard)
        if self.images is None:
            raise InputError("loaded.processor.sees_nothing", name=name)
        # What a recording kept has been resized and cropped already.
        done = ("do_resize", "do_center_crop") if isinstance(inputs, Picture) else ()
        settings = {each: False for each in done if hasattr(self.images, each)}
        pixels = drop_opacity(read_pixels(inputs, name))
        return dict(self.images(images=pixels, return_tensors="pt", **settings))


def split_processor(given: Any) -> tuple[Any, Processor]:
    """The tokenizer (or None) and the processor in what a person gives beside a live model."""
    images, sounds = (getattr(given, name, None) for name in ("image_processor", "feature_extractor"))
    if images is not None or sounds is not None:
        return getattr(given, "tokenizer", None), Processor(images, sounds)
    if hasattr(given, "model_input_names") and not hasattr(given, "convert_ids_to_tokens"):
        sees = "pixel_values" in given.model_input_names
        return None, Processor(given, None) if sees else Processor(None, given)
    return given, Processor()


def open_processor(folder: Path) -> Processor:
    """The processor of a model folder; one without either where the folder says nothing."""
    if not any((folder / name).is_file() for name in FILES):
        return Processor()
    import transformers

    found = {}
    for part, kind in (("images", "AutoImageProcessor"), ("sounds", "AutoFeatureExtractor")):
        with suppress(Exception):  # transformers raises anything where a folder has only the other one
            opened = getattr(transformers, kind).from_pretrained(folder, local_files_only=True)
            if ("pixel_values" in opened.model_input_names) == (part == "images"):
                found[part] = opened
    return Processor(**found)
