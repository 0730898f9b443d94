"""Pictures of every kind are read alike; damaged and huge ones are refused, before they are decoded."""

import struct
import tracemalloc
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from glassformer.errors import InputError
from glassformer.media import pictures
from glassformer.media.pictures import convert_image, read_picture

LEFT, RIGHT = (200, 40, 40), (40, 40, 200)


def draw(mode: str = "RGB", size: tuple[int, int] = (8, 4)) -> Image.Image:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", size, LEFT)
    image.paste(RIGHT, (size[0] // 2, 0, *size))
    return image.convert(mode)


def encode(image: Image.Image, kind: str, **settings: object) -> bytes:
    file = BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def png_of(width: int, height: int, *, rows: bytes = b"") -> bytes:
    """A PNG whose header promises a size, whatever follows."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


FILES = {
    "png": encode(draw(), "PNG"),
    "palette": encode(draw().quantize(2), "PNG"),
    "jpeg": encode(draw(), "JPEG", quality=95, subsampling=0),
    "cmyk": encode(draw("CMYK"), "JPEG", quality=95, subsampling=0),
    "webp": encode(draw(), "WEBP", lossless=True),
    "animated": encode(
        draw(), "WEBP", lossless=True, save_all=True, append_images=[Image.new("RGB", (8, 4))], duration=9
    ),
    "apng": encode(draw(), "PNG", save_all=True, append_images=[Image.new("RGB", (8, 4))]),
}


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_gives_the_same_pixels(kind: str) -> None:
    pixels = read_picture(FILES[kind])
    assert pixels.shape == (4, 8, 4)
    assert pixels.dtype == np.uint8
    assert (pixels[..., 3] == 255).all()
    for side, colour in ((pixels[1, 1], LEFT), (pixels[1, 6], RIGHT)):
        assert np.abs(side[:3].astype(int) - colour).max() <= (3 if kind in ("jpeg", "cmyk") else 0)


def test_transparency_orientation_and_sixteen_bits_are_kept() -> None:
    clear = Image.new("RGBA", (2, 2), (9, 8, 7, 0))
    assert read_picture(encode(clear, "PNG")).tolist() == [[[9, 8, 7, 0]] * 2] * 2
    exif = Image.Exif()
    exif[0x0112] = 6  # turned clockwise
    assert read_picture(encode(draw(), "JPEG", exif=exif)).shape == (8, 4, 4)
    grey = np.array([[0, 256, 65535]], dtype=np.uint16)
    assert read_picture(encode(Image.fromarray(grey), "PNG"))[0, :, 0].tolist() == [0, 1, 255]


@pytest.mark.parametrize(
    ("content", "sentence"),
    {
        "cut off": (FILES["png"][:60], "damaged"),
        "cut off JPEG": (FILES["jpeg"][:-200], "damaged"),
        "cut off WebP": (FILES["webp"][:30], "damaged"),
        "only a mark": (b"\x89PNG\r\n\x1a\n", "damaged"),
        "noise": (b"\xff\xd8\xff" + bytes(range(256)), "damaged"),
        "no rows": (png_of(8, 8), "damaged"),
        "sound": (b"RIFF\0\0\0\0WAVEfmt ", "contains WAV"),
        "another kind": (encode(draw(), "GIF"), "contains GIF"),
        "text": (b"a,b\n1,2\n", "no picture that is known"),
        "100 megapixels": (png_of(10_000, 10_000), "100 megapixels"),
        "a bomb": (png_of(60_000, 60_000, rows=bytes(1 << 20)), "megapixels"),
    }.values(),
)
def test_bad_pictures_get_a_sentence_and_little_memory(content: bytes, sentence: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=sentence):
            read_picture(content)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_pictures_of_pillow_are_those_of_their_files() -> None:
    grey = Image.fromarray(np.linspace(0, 65535, 32).astype(np.uint16).reshape(4, 8))
    turned = draw()
    turned.getexif()[0x0112] = 6  # a quarter turn
    for image in (grey, turned):
        file = encode(image, "PNG", **({"exif": image.getexif()} if image is turned else {}))
        assert np.array_equal(convert_image(Image.open(BytesIO(file))), read_picture(file))
    with pytest.raises(InputError, match="at least 64 megapixels"):
        convert_image(Image.new("1", (8000, 8000)))


def test_large_files_are_not_even_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="MB are read"):
        read_picture(FILES["jpeg"])
