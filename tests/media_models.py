"""Tiny random networks that look and listen, written as folders; and files to give them, good and bad."""

import struct
import wave
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from glassformer.config import ModelConfig
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import save_checkpoint

RATE = 8000
DIGITS = tuple(map(str, range(10)))
SIZES: dict[str, Any] = {"layers": 2, "width": 16, "heads": 2, "feed_forward": 32, "dropout": 0.0}
LOOKS: dict[str, Any] = {"reads": "picture", "picture_size": 28, "patch_size": 7, "color": False}
HEARS: dict[str, Any] = {"reads": "sound", "sample_rate": RATE, "hop": 80, "mel_bins": 24, "max_length": 100}
SHORT: dict[str, Any] = {"shape": "encoder-decoder", "max_length": 12}  # of a caption: fewer than patches


def build_media_zoo(folder: Path) -> Path:
    """Write a network for each task of pictures and sounds: digits, captioner, words, listener."""
    _write(folder / "digits", {**LOOKS, "shape": "encoder", "head": "classes", "classes": 10}, labels=DIGITS)
    (folder / "digits" / "card.toml").write_text("[drawing]\ndark = true\nfill = 0.7\n")
    _write(folder / "words", {**HEARS, "shape": "encoder", "head": "classes", "classes": 10}, labels=DIGITS)
    _write(folder / "captioner", {**LOOKS, **SHORT}, tags=[">>en<<", ">>fr<<"])
    heard = {"max_length": SHORT["max_length"], "sound_length": HEARS["max_length"]}
    _write(folder / "listener", {**HEARS, **heard, "shape": "encoder-decoder"})
    return folder


def _write(
    folder: Path, settings: dict[str, Any], labels: tuple[str, ...] = (), tags: list[str] | None = None
) -> None:
    tokenizer = None if labels else build_words(["one", "two", "red", "car", *(tags or [])])
    torch.manual_seed(0)
    if tokenizer is not None:
        roles = tokenizer.roles
        settings = settings | {
            "vocabulary_size": tokenizer.size,
            "padding_id": roles["padding"],
            "start_id": roles["start"],
            "end_id": roles["end"],
        }
    network = Transformer(ModelConfig(**{**SIZES, **settings}))
    save_checkpoint(
        network, folder, tokenizer, generation=GenerationSettings(max_new_tokens=4), labels=labels
    )


def encode_picture(pixels: np.ndarray | None = None, kind: str = "PNG", **words: Any) -> bytes:
    """A file of a picture: a light stroke on a dark ground, unless told otherwise."""
    if pixels is None:
        pixels = np.zeros((28, 28), np.uint8)
        pixels[4:24, 13:16] = 255
    file = BytesIO()
    Image.fromarray(pixels).save(file, kind, **words)
    return file.getvalue()


def make_tone(seconds: float = 0.5, rate: int = RATE, hertz: float = 440.0) -> np.ndarray:
    """Samples of 16 bits."""
    return (np.sin(2 * np.pi * hertz / rate * np.arange(int(seconds * rate))) * 12_000).astype(np.int16)


def encode_sound(samples: np.ndarray | None = None, rate: int = RATE, channels: int = 1) -> bytes:
    """A WAV file; every channel has the same samples."""
    file = BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        chosen = make_tone(rate=rate) if samples is None else samples
        writer.writeframes(np.repeat(chosen[:, None], channels, axis=1).tobytes())
    return file.getvalue()


def promise_pixels(width: int, height: int) -> bytes:
    """A PNG of few bytes that would become so many pixels: a decompression bomb."""

    def chunk(name: bytes, content: bytes) -> bytes:
        end = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + end

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    content = zlib.compress(bytes(1 << 20), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def bad_pictures() -> dict[str, tuple[bytes, str]]:
    """Files that are no pictures, by what is wrong with them; and part of the sentence."""
    good = encode_picture()
    return {
        "empty": (b"", "is empty"),
        "corrupt": (good[:60] + bytes(20) + good[80:], "damaged"),
        "truncated": (good[:-30], "damaged"),
        "100 megapixels": (promise_pixels(10_000, 10_000), "100 megapixels"),
        "bomb": (promise_pixels(60_000, 60_000), "megapixels"),
        "sound": (encode_sound(), "contains WAV"),
        "gif": (encode_picture(kind="GIF"), "contains GIF"),
        "text": (b"hello, this is text", "no picture that is known"),
        "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
    }


def odd_pictures() -> dict[str, bytes]:
    """Files that are unusual and can be looked at."""
    grey = np.linspace(0, 255, 28 * 28, dtype=np.uint8).reshape(28, 28)
    frames = [Image.fromarray(np.full((28, 28), value, np.uint8)) for value in (10, 200)]
    animated, deep, inks = BytesIO(), BytesIO(), BytesIO()
    frames[0].save(animated, "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    Image.fromarray(grey.astype(np.uint16) * 257).save(deep, "PNG")
    Image.fromarray(grey).convert("CMYK").save(inks, "JPEG")
    return {"animated": animated.getvalue(), "16 bits": deep.getvalue(), "CMYK": inks.getvalue()}


def bad_sounds() -> dict[str, tuple[bytes, str]]:
    """Files that are no sounds, by what is wrong with them; and part of the sentence."""
    good = encode_sound()
    return {
        "empty": (b"", "is empty"),
        "no samples": (encode_sound(np.zeros(0, np.int16)), "no samples"),
        "silent": (encode_sound(np.zeros(4000, np.int16)), "silent"),
        "truncated": (good[: len(good) // 2], "ends too early"),
        "only a head": (good[:20], "damaged"),
        "an hour": (encode_sound(np.full(3600 * 1000, 999, np.int16), 1000), "at most 60"),
        "too long for the network": (encode_sound(make_tone(5.0)), "hears 2 seconds"),
        "picture": (encode_picture(), "contains PNG"),
        "mp3": (b"ID3" + bytes(100), "contains MP3"),
        "text": (b"hello, this is text", "no sound that is known"),
    }


def odd_sounds() -> dict[str, bytes]:
    """Files that are unusual and can be listened to."""
    return {
        "192 kHz": encode_sound(rate=192_000),
        "eight channels": encode_sound(channels=8),
        "one sample": encode_sound(np.array([9000], np.int16)),
    }
