"""A bundle is written bit for bit, completely or not at all."""

import os
import resource
import stat
import subprocess
import sys
from errno import ENOSPC

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundles import assert_same, make_recording, read_table
from glassformer import bundle, from_arrays
from glassformer.bundle.layout import DTYPES
from glassformer.errors import BundleError
from glassformer.place import Place
from glassformer.recording import AttentionMap, Factors, Recording


@given(
    seed=st.integers(0, 2**31),
    tokens=st.integers(1, 70),
    heads=st.integers(1, 3),
    text=st.text(st.characters(), min_size=0, max_size=8),  # lone surrogates included
    score=st.floats(allow_nan=False),
)
def test_round_trip(tmp_path_factory, seed, tokens, heads, text, score):
    recording = make_recording(seed, tokens, heads, text, score)
    path = tmp_path_factory.mktemp("bundle") / "some name.bundle"
    bundle.save(recording, path)
    assert_same(recording, bundle.open(path))
    assert os.listdir(path.parent) == [path.name]


def test_what_could_not_be_opened_again_is_not_written(tmp_path):
    recording = from_arrays(np.eye(2)[None], ["a", "b"], model="x" * 5000)
    with pytest.raises(BundleError, match="model: expected at most 4096 characters") as error:
        recording.save(tmp_path / "x.bundle")
    assert error.value.message.code == "bundle.not_valid"
    assert os.listdir(tmp_path) == []


def test_a_saved_recording_can_be_saved_over_itself(saved):
    opened = bundle.open(saved)
    bundle.save(opened, saved)
    assert_same(make_recording(), opened)
    assert_same(make_recording(), bundle.open(saved))


def test_declared_arrays_are_filled_on_disk_and_not_written_twice(tmp_path):
    whole = make_recording()
    path = tmp_path / "streamed.bundle"
    with bundle.BundleWriter(path) as writer:
        declared = []
        for name in ("queries", "keys"):
            source = getattr(whole.maps[0].factors, name)
            array = writer.declare(f"layer 0/{name}", source.shape)
            array[:] = source
            writer.release(f"layer 0/{name}")
            np.testing.assert_array_equal(array, source)
            declared.append(array)
        factors = Factors(*declared, whole.maps[0].factors.log_sum_exp, 0.5, causal=True)
        old = whole.maps[0]
        map_ = AttentionMap(Place("decoder", "self", 0), old.query, old.key, old.statistics, factors=factors)
        recording = Recording("tiny", whole.evidence, whole.source, whole.target, (map_,))
        writer.finish(recording)
    table = read_table(path)
    assert "layer 0/queries" in table
    assert not any(name.endswith("factors/queries") for name in table)
    assert_same(recording, bundle.open(path))


def test_empty_and_odd_arrays_can_be_declared(tmp_path):
    with bundle.BundleWriter(tmp_path / "x") as writer:
        assert writer.declare("none", (3, 0)).shape == (3, 0)
        for index, dtype in enumerate(DTYPES.values()):
            array = writer.declare(f"odd {index}", (3,), dtype)
            assert array.dtype == dtype
            assert not array.any()
            assert array.ctypes.data % 64 == 0
        with pytest.raises(BundleError, match=r"'odd 0'.*new name"):
            writer.declare("odd 0", (1,))
        with pytest.raises(BundleError, match="complex64"):
            writer.declare("complex", (1,), "complex64")


@pytest.fixture(params=["named", "nameless"])
def parts(request, monkeypatch):
    """How many files are to be seen while one is written; without files that have no name, one."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    return 1 if request.param == "named" else 0


def test_nothing_stays_after_an_exception(tmp_path, parts):
    with pytest.raises(ZeroDivisionError), bundle.BundleWriter(tmp_path / "x.bundle") as writer:  # noqa: PT012
        writer.declare("a", (1000,))
        assert len(os.listdir(tmp_path)) == parts
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_a_writer_that_is_forgotten_cleans_up(tmp_path, parts):
    writer = bundle.BundleWriter(tmp_path / "x.bundle")
    assert len(os.listdir(tmp_path)) == parts
    del writer
    assert os.listdir(tmp_path) == []


def test_a_file_gets_its_name_when_all_is_written(tmp_path, parts):
    path = tmp_path / "x.bundle"
    path.write_bytes(b"the old one")
    before = os.umask(0o027)
    try:
        bundle.save(make_recording(), path)
    finally:
        os.umask(before)
    assert os.listdir(tmp_path) == ["x.bundle"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640  # as of any new file
    assert bundle.open(path).maps


def test_nothing_stays_after_a_sudden_end(tmp_path):
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    code = (
        "import os, sys\nfrom glassformer.bundle import BundleWriter\n"
        "writer = BundleWriter(sys.argv[1])\nwriter.declare('a', (1000,))[:] = 1\nos.kill(os.getpid(), 9)"
    )
    end = subprocess.run([sys.executable, "-c", code, tmp_path / "x.bundle"], check=False)
    assert end.returncode == -9
    assert os.listdir(tmp_path) == []


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "x.bundle").symlink_to("there/y.bundle")
    for _ in range(2):  # a new file, and one that is replaced
        bundle.save(make_recording(), tmp_path / "x.bundle")
        assert (tmp_path / "x.bundle").is_symlink()
        assert bundle.open(tmp_path / "there" / "y.bundle").maps
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(BundleError, match="leads back to itself"):
        bundle.save(make_recording(), tmp_path / "round")


def test_names_that_no_file_can_have(tmp_path):
    longest = tmp_path / ("x" * 255)
    bundle.save(make_recording(), longest)
    assert bundle.open(longest).maps
    for name, reason in (("x" * 256, "File name too long"), ("a\0b", "null byte")):
        with pytest.raises(BundleError, match=f"cannot be written: .*{reason}"):
            bundle.save(make_recording(), tmp_path / name)
        with pytest.raises(BundleError, match=f"could not be opened: .*{reason}"):
            bundle.open(tmp_path / name)


def declare_too_much(path, _recording):
    with bundle.BundleWriter(path, arrays=1) as writer:
        writer.declare("too large", (100_000,))


@pytest.mark.parametrize("write", [declare_too_much, lambda path, recording: bundle.save(recording, path)])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, write):
    path = tmp_path / "x.bundle"
    path.write_bytes(b"the old one")
    recording = make_recording(tokens=64)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limits[1]))  # files may not grow beyond this
    try:
        with pytest.raises(BundleError, match=r"could not be written: .*Nothing was left behind"):
            write(path, recording)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["x.bundle"]
    assert path.read_bytes() == b"the old one"


@pytest.mark.parametrize("writer", [bundle.save, lambda _, path: bundle.BundleWriter(path)])
def test_only_files_are_replaced(tmp_path, writer):
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("pipe", "a device, a pipe or a socket"), ("", "a folder"), (".", "a folder")):
        with pytest.raises(BundleError, match=f"is {kind}. Expected the name of a file"):
            writer(make_recording(), tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
    with pytest.raises(BundleError, match="is a folder"):
        writer(make_recording(), "")


def test_disk_space_is_taken_when_an_array_is_declared(tmp_path, monkeypatch):
    def refuse(handle, start, size):
        raise OSError(ENOSPC, "No space left on device")

    writer = bundle.BundleWriter(tmp_path / "x.bundle")
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with writer, pytest.raises(BundleError, match="No space left on device"):
        writer.declare("a", (1000,))
    assert os.listdir(tmp_path) == []


def test_more_arrays_than_expected(tmp_path):
    writer = bundle.BundleWriter(tmp_path / "x.bundle", arrays=0)
    with writer, pytest.raises(BundleError, match=r"room for \d+.*expect more arrays"):
        writer.finish(make_recording())
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(BundleError, match="No such file or directory"):
        bundle.save(make_recording(), tmp_path / "nowhere" / "x.bundle")
