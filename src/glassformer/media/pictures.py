"""A picture from a file: PNG, JPEG or WebP, whatever its name says.

In:   a path, or the bytes of a file.
Out:  pixels (height, width, 4): red, green, blue and opacity, upright. The size is read and limited before
      anything is decoded; of an animation the first picture counts.
"""

import struct
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.media.contents import MOST_BYTES, Content, Opened, open_content
from glassformer.messages import Message

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WebP")
MOST_PIXELS = 50_000_000

_TURNED = 0x0112  # of EXIF: which side is up
# Pixels that are converted at once, so that a large picture is in memory twice, not six times.
_STRIP = 1 << 20

# What Pillow raises for files that are broken or made to do harm.
_BROKEN = (OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, struct.error)


def read_picture(content: Content) -> NDArray[np.uint8]:
    """The pixels (height, width, 4) of a PNG, JPEG or WebP file: RGB and opacity, upright.

    >>> from io import BytesIO
    >>> from PIL import Image
    >>> file = BytesIO()
    >>> Image.new("CMYK", (32, 24)).save(file, "JPEG")
    >>> gf.read_picture(file.getvalue()).shape
    (24, 32, 4)
    """
    with open_content(content) as opened:
        if opened.format not in FORMATS:
            code = "media.not_a_picture" if opened.format else "media.unknown_picture"
            raise InputError(code, name=opened.name, format=opened.format, known=FORMATS)
        if opened.size > MOST_BYTES:
            raise InputError(
                "media.large_file", name=opened.name, size=opened.size / 2**20, limit=MOST_BYTES / 2**20
            )
        return _decode(opened)


def _decode(opened: Opened) -> NDArray[np.uint8]:
    from PIL import Image  # needed by nothing else, and absent where only texts are trained on

    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of sizes, which are checked here; of metadata, which do not matter
            with Image.open(opened.stream, formats=[each.upper() for each in FORMATS]) as image:
                return convert_image(image, opened.name)
    except Image.DecompressionBombError:
        raise _too_large(opened.name, 2 * (Image.MAX_IMAGE_PIXELS or MOST_PIXELS)) from None
    except _BROKEN as error:
        raise InputError("media.broken_picture", name=opened.name, reason=str(error)) from error


def _too_large(name: str | Message, pixels: int) -> InputError:
    return InputError("media.large_picture", name=name, pixels=pixels / 1e6, limit=MOST_PIXELS / 1e6)


def convert_image(image: "Image", name: str | Message = "image") -> NDArray[np.uint8]:
    """A picture of Pillow, of any mode, upright: eight bits for each colour and opacity."""
    from PIL import ImageOps

    width, height = image.size
    if width * height > MOST_PIXELS:
        raise _too_large(name, width * height)
    if image.getexif().get(_TURNED, 1) != 1:
        image = ImageOps.exif_transpose(image)
    width, height = image.size
    pixels = np.empty((height, width, 4), np.uint8)
    for rows in _strips(height, width):
        strip = image.crop((0, rows.start, width, rows.stop))
        if image.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off at 255
            pixels[rows, :, :3] = (np.asarray(strip).astype(np.uint32) >> 8).clip(max=255)[..., None]
            pixels[rows, :, 3] = 255
        else:
            pixels[rows] = np.asarray(strip.convert("RGBA"))
    return pixels


def _strips(height: int, width: int) -> Iterator[slice]:
    """Rows of a picture, some at a time."""
    step = max(1, _STRIP // max(1, width))
    return (slice(top, min(top + step, height)) for top in range(0, height, step))


def fit_picture(
    pixels: NDArray[np.uint8],
    size: int,
    *,
    color: bool = True,
    fit: Literal["crop", "stretch"] = "crop",
    resampling: Literal["bicubic", "bilinear"] = "bicubic",
) -> NDArray[np.uint8]:
    """A picture of any size as a network sees it, (size, size, 3): opaque, on white; a square.

    Cropped to its middle, or all of it, squeezed. Without colour all three channels are the brightness. A
    picture that fits already is not changed.
    """
    pixels = _check_pixels(pixels)
    height, width, _ = pixels.shape
    if fit == "crop":
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        pixels = pixels[top : top + side, left : left + side]
    opaque = drop_opacity(pixels)
    if not color:
        shares = np.array([299, 587, 114], np.uint32)
        grey = np.empty(opaque.shape, np.uint8)
        for rows in _strips(*opaque.shape[:2]):
            grey[rows] = (opaque[rows] @ shares // 1000)[..., None]
        opaque = grey
    if opaque.shape[:2] == (size, size):
        return np.ascontiguousarray(opaque)
    from PIL import Image

    filters = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}
    return np.array(Image.fromarray(opaque).resize((size, size), filters[resampling]))


def _check_pixels(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Refuse what is no picture; brightness alone becomes three channels."""
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or pixels.dtype != np.uint8 or not pixels.size:
        raise InputError("media.not_pixels", shape=str(pixels.shape), type=str(pixels.dtype))
    height, width, channels = pixels.shape
    if height * width > MOST_PIXELS:
        raise InputError(
            "media.large_picture", name="array", pixels=height * width / 1e6, limit=MOST_PIXELS / 1e6
        )
    return np.repeat(pixels, 3, axis=-1) if channels == 1 else pixels


def drop_opacity(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture (height, width), (height, width, 1), (…, 3) or (…, 4) as (height, width, 3), on white."""
    pixels = _check_pixels(pixels)
    if pixels.shape[2] == 3:
        return pixels
    height, width, _ = pixels.shape
    opaque = np.empty((height, width, 3), np.uint8)
    for rows in _strips(height, width):
        opacity = pixels[rows, :, 3:].astype(np.uint16)
        opaque[rows] = (pixels[rows, :, :3] * opacity + 255 * (255 - opacity) + 127) // 255
    return opaque
