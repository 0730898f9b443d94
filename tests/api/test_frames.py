"""Binary frames: what goes in comes out; bytes on a square-root scale keep what matters."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glassformer.api.frames import (
    DTYPES,
    MAGIC,
    Frame,
    FrameArray,
    decode_frame,
    dequantise,
    encode_frame,
    quantise,
    quantise_signed,
    shrink,
)
from glassformer.errors import BundleError


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_comes_back(dtype: str) -> None:
    array = (np.arange(15).reshape(3, 5) % 2).astype(dtype)
    back = decode_frame(
        encode_frame(Frame({"a": FrameArray(array), "b": FrameArray(array[:, ::2])}, {"name": "中"}))
    )
    assert back.meta == {"name": "中"}
    assert np.array_equal(back.arrays["a"].array, array)
    assert np.array_equal(back.arrays["b"].array, array[:, ::2])
    assert back.arrays["a"].array.dtype == dtype


def test_the_layout_is_the_one_the_page_reads() -> None:
    data = encode_frame(
        Frame(
            {
                "odd": FrameArray(np.arange(3, dtype=np.uint8)),
                "next": FrameArray(np.ones(2, dtype=np.float64)),
            }
        )
    )
    length = int.from_bytes(data[8:12], "little")
    header = json.loads(data[12 : 12 + length])
    first, second = header["arrays"]
    assert data[:8] == MAGIC == b"GLASSFR1"
    assert (12 + length) % 8 == 0
    assert (first["offset"], first["bytes"], second["offset"]) == (0, 3, 8)
    payload = data[12 + length :]
    assert payload[:3] == b"\0\1\2"
    assert np.frombuffer(payload, "<f8", 2, 8).tolist() == [1, 1]


def test_empty_arrays_and_scalars_travel() -> None:
    back = decode_frame(
        encode_frame(
            Frame({"none": FrameArray(np.zeros((0, 4), np.float32)), "one": FrameArray(np.float32(3))})
        )
    )  # type: ignore[arg-type]
    assert back.arrays["none"].array.shape == (0, 4)
    assert float(back.arrays["one"].array) == 3


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(BundleError, match="not a frame"):
        decode_frame(b"GIF89a")
    with pytest.raises(TypeError, match="complex"):
        encode_frame(Frame({"a": FrameArray(np.ones(2, dtype=np.complex64))}))


@given(arrays.arrays(np.float32, st.integers(0, 200), elements=st.floats(0, 1, width=32)))
def test_bytes_are_near_the_weights(weights: np.ndarray) -> None:
    plane = quantise(weights)
    assert ((plane.array == 0) == (weights == 0)).all()
    # Half a byte in the root; the smallest weights are lifted to one byte so that they can be seen.
    bound = (np.sqrt(weights) + 0.51 / 255) ** 2 - weights + 1 / 255**2
    assert (np.abs(dequantise(plane) - weights) <= bound).all()


def test_small_weights_are_scaled_by_the_largest() -> None:
    weights = np.array([0.0, 1e-6, 4e-6], dtype=np.float32)
    plane = quantise(weights, None)
    assert plane.maximum == pytest.approx(4e-6)
    assert plane.array.tolist() == [0, 128, 255]
    assert quantise(np.zeros(3), None).maximum == 1.0
    denormal = quantise(np.array([0.0, 1e-45], dtype=np.float32), None)  # 1 / 1e-45 is no float32
    assert (denormal.maximum, denormal.array.tolist()) == (1.0, [0, 1])
    assert quantise(np.array([np.nan, 0.5])).array.tolist() == [0, 180]


def test_half_precision_never_becomes_infinite() -> None:
    assert np.isfinite(shrink(np.array([1e9, -1e9]), "float16").array).all()
    assert shrink(np.array([1.5]), "float32").array.dtype == np.float32
    assert shrink(np.array([1e300, -np.inf, 2.0]), "float32").array.tolist() == [np.inf, -np.inf, 2.0]


def test_signed_values_are_the_bytes_that_the_page_is_tested_with() -> None:
    known = json.loads(Path(__file__).with_name("signed_frame.json").read_text())
    values = np.array(known["values"], dtype=np.float32)
    planes = {"weights": quantise_signed(values), "exact": FrameArray(values, content="signed")}
    assert planes["weights"].array.tolist() == [[1, 128, 192], [128, 129, 218]]
    assert base64.b64encode(encode_frame(Frame(planes, {}))).decode() == known["frame"]
