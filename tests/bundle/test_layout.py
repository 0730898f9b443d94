"""The header of a bundle is valid safetensors; any other is refused in words."""

import numpy as np
import pytest

from bundles import rewrite
from glassformer import bundle
from glassformer.errors import BundleError


def test_other_libraries_can_read_it(saved):
    from safetensors import safe_open

    with safe_open(saved, "np") as file:
        assert file.metadata() == {"format": "glassformer-recording", "version": "2"}
        np.testing.assert_array_equal(
            file.get_tensor("content/maps/1/dense"), bundle.open(saved).maps[1].dense
        )


def test_a_header_has_little_air(saved):
    length = int.from_bytes(saved.read_bytes()[:8], "little")
    used = len(saved.read_bytes()[8 : 8 + length].rstrip())
    assert length < 2.5 * used


DENSE = "content/maps/1/dense"


def set_entry(**changes):
    return lambda table: table[DENSE].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda table: table["__metadata__"].update(version="4"),
            "bundle of version '4'. Expected version 1, 2 or 3",
        ),
        (lambda table: table["__metadata__"].update(format="pt"), "format 'pt'.*load it and record"),
        (lambda table: table.pop("__metadata__") and None, "format None"),
        (lambda table: [], "is no Glassformer recording"),
        (lambda table: table.pop("recording") and None, "of which its arrays cover"),
        (lambda table: table.pop(DENSE) and None, "leaves a gap"),
        (set_entry(dtype="F8"), r"Expected dtype \(F64"),
        (set_entry(dtype=["F32"]), r"Expected dtype \(F64"),
        (set_entry(shape=[2, 12, 13]), "1152 bytes. Expected 1248"),
        (set_entry(shape=[2, -12, -12]), "Expected at most 8 whole numbers"),
        (set_entry(shape=[2, 12, 12.0]), "Expected at most 8 whole numbers"),
        (set_entry(shape=[1] * 9), "Expected at most 8 whole numbers"),
        (set_entry(shape=[0, 10**30]), "none larger than the file"),
        (set_entry(shape=[10**5] * 8), "none larger than the file|for its shape"),
        (set_entry(data_offsets=[0, 10**15]), "Expected two in order"),
        (set_entry(data_offsets=[-8, 8]), "Expected two in order"),
        (set_entry(data_offsets=[1152, 0]), "Expected two in order"),
        (set_entry(data_offsets=[True, 1152]), "Expected two in order"),
        (set_entry(data_offsets=[0, 1152]), "overlaps the one before"),
        (set_entry(extra=1), "shape and data_offsets"),
        (lambda table: table.update({DENSE: 7}), "shape and data_offsets"),
    ],
)
def test_a_hostile_header(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(BundleError, match=message):
        bundle.open(saved)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "x.bundle is no Glassformer recording"),
        (b"\x01\x00", "is no Glassformer recording"),
        (b"\xff" * 8, "is no Glassformer recording"),
        ((200_000).to_bytes(8, "little"), "its header takes 200000 bytes, but the whole file has 8"),
        ((200_000_000).to_bytes(8, "little"), "is no Glassformer recording"),
        (b"PK\x03\x04" + bytes(100), "is no Glassformer recording"),
        (b"\x80\x04\x95 a pickle, perhaps", "is no Glassformer recording"),
        ((2).to_bytes(8, "little") + b"{}", "is no bundle: it is a safetensors file of format None"),
        ((2).to_bytes(8, "little") + b"\xff\xff", "is no Glassformer recording"),
        ((16).to_bytes(8, "little") + b'{"a": 1, "a": 1}', "occurs twice"),
        ((90_000).to_bytes(8, "little") + b'{"a":' + b"[" * 89_995, "its header is not JSON"),
        ((9).to_bytes(8, "little") + b'{"a":NaN}', "NaN is no JSON"),
        ((5006).to_bytes(8, "little") + b'{"a":' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_not_a_bundle(tmp_path, content, message):
    path = tmp_path / "x.bundle"
    path.write_bytes(content)
    with pytest.raises(BundleError, match=message):
        bundle.open(path)


def test_a_huge_header_is_not_read(tmp_path):
    path = tmp_path / "sparse.bundle"
    with path.open("wb") as file:
        file.write((10**10).to_bytes(8, "little"))
        file.truncate(2 * 10**10)  # sparse: the file really is longer than its header
    with pytest.raises(BundleError, match="is no Glassformer recording"):
        bundle.open(path)
