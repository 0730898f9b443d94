"""Pictures and sounds from strangers, changed in some bytes: read, or refused in words, in bounded memory.

Bytes are replaced, taken away, repeated and cut off, most often at the beginning, where sizes stand. The
checksums of half of the PNG files are made right again, since a decoder sees no others. `make test-long`
makes 108,000.
"""

import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image

from campaigns import campaign, rounds
from glassformer.errors import InputError
from glassformer.media import fit_picture, read_picture, read_sound

WAYS = 6
NUMBERS = (b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\xff\xff", b"\0\0\x80\x7f")


def encode_picture(image: Image.Image, kind: str, **settings: object) -> bytes:
    file = BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def make_pictures() -> dict[str, bytes]:
    numbers = np.random.default_rng(0)
    image = Image.fromarray(numbers.integers(0, 255, (40, 56, 3), np.uint8))
    deep = Image.fromarray(numbers.integers(0, 65535, (24, 24), np.uint16))
    turned = Image.Exif()
    turned[0x0112] = 6
    frames = {"save_all": True, "append_images": [image.rotate(90)], "duration": 9}
    return {
        "png": encode_picture(image, "PNG"),
        "png of a palette": encode_picture(image.quantize(16), "PNG", transparency=3),
        "png of one bit": encode_picture(image.convert("1"), "PNG"),
        "png of 16 bits": encode_picture(deep, "PNG"),
        "png with frames": encode_picture(image, "PNG", **frames),
        "jpeg": encode_picture(image, "JPEG", exif=turned),
        "jpeg in passes": encode_picture(image, "JPEG", progressive=True),
        "jpeg for print": encode_picture(image.convert("CMYK"), "JPEG"),
        "webp": encode_picture(image, "WEBP"),
        "webp without loss": encode_picture(image, "WEBP", lossless=True),
        "webp with frames": encode_picture(image, "WEBP", **frames),
    }


def make_sounds() -> dict[str, bytes]:
    tone = 0.4 * np.sin(np.arange(3000) / 5)
    both = np.stack([tone, tone / 3], axis=1)
    kinds = {
        "wav of 8 bits": (tone, "WAV", "PCM_U8"),
        "wav of 16 bits": (tone, "WAV", "PCM_16"),
        "wav of 24 bits": (both, "WAVEX", "PCM_24"),
        "wav of single floats": (tone, "WAV", "FLOAT"),
        "wav of double floats": (tone, "WAV", "DOUBLE"),
        "flac": (tone, "FLAC", "PCM_16"),
        "flac of 24 bits": (both, "FLAC", "PCM_24"),
    }
    files = {}
    for name, (samples, kind, width) in kinds.items():
        file = BytesIO()
        soundfile.write(file, samples, 8000, subtype=width, format=kind)
        files[name] = file.getvalue()
    return files


PICTURES, SOUNDS = make_pictures(), make_sounds()
FILES = PICTURES | SOUNDS


def change(content: bytes, chance: random.Random) -> bytes:
    """The same file with one to sixteen changes."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        if len(data) < 2:
            break
        at = chance.randrange(min(len(data), 80) if chance.random() < 0.5 else len(data))
        way = chance.randrange(WAYS)
        if way == 0:
            data[at] = chance.randrange(256)
        elif way == 1:
            data[at : at + 4] = chance.choice((*NUMBERS, chance.randbytes(4)))
        elif way == 2:
            del data[at:]
        elif way == 3:
            del data[at : at + chance.randrange(1, 9)]
        elif way == 4:
            data[at:at] = chance.randbytes(chance.randrange(1, 9))
        else:
            other = chance.randrange(len(data))
            data[at : at + 16] = data[other : other + 16]
    return mend_checksums(bytes(data)) if chance.random() < 0.5 else bytes(data)


def mend_checksums(content: bytes) -> bytes:
    """A PNG whose chunks have the checksums of what they hold; any other file as it is."""
    if not content.startswith(b"\x89PNG\r\n\x1a\n"):
        return content
    data, at = bytearray(content), 8
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        if end + 4 > len(data):
            break
        data[end : end + 4] = zlib.crc32(data[at + 4 : end]).to_bytes(4, "big")
        at = end + 4
    return bytes(data)


def look(content: bytes) -> bool:
    pixels = read_picture(content)
    assert pixels.ndim == 3
    assert pixels.shape[2] == 4
    assert pixels.dtype == np.uint8
    if pixels.size < 10**7:
        assert fit_picture(pixels, 32).shape == (32, 32, 3)
    return True


def listen(content: bytes) -> bool:
    sound = read_sound(content)
    assert np.isfinite(sound.at_rate(16_000).samples).all()
    return True


def answer(read: Callable[[bytes], bool], content: bytes) -> bool:
    """Whether a file was read; a refusal has a sentence."""
    refusal = "."
    try:
        return read(content)
    except InputError as error:
        refusal = str(error)
        return False
    finally:
        assert refusal.endswith((".", "?")), refusal


@campaign("name", list(FILES), sample=list(FILES))
def test_a_changed_file_is_read_or_refused_in_words(name: str) -> None:
    read = look if name in PICTURES else listen
    assert answer(read, FILES[name])
    count = rounds(40, 6000)
    found = [answer(read, change(FILES[name], random.Random(f"{name} {number}"))) for number in range(count)]
    assert sum(found) < count


LOOK = """
import sys
from PIL import Image, JpegImagePlugin
from glassformer.media import fit_picture, read_picture

def most():  # megabytes that were used at once; other counters begin with those of the parent
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) >> 10

before = most()
fit_picture(read_picture(sys.argv[1]), 224)
print(most() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read where Linux tells it")
@pytest.mark.slow
def test_the_largest_picture_is_not_in_memory_many_times(tmp_path: Path) -> None:
    """49 megapixels of four bytes are 187 MB: decoded, converted, and made opaque to be resized."""
    path = tmp_path / "large.jpg"
    Image.new("RGB", (7000, 7000)).save(path)
    done = subprocess.run([sys.executable, "-c", LOOK, path], capture_output=True, text=True, check=True)
    assert 180 < int(done.stdout) < 600
