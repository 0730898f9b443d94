"""The cache of arrays: made once, whole or absent, checked when it is opened, and never too large."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.messages import literal
from glassformer.text import cache, progress
from glassformer.text.cache import ArrayWriter, Meta, load_or_build
from glassformer.text.files import Problems, read_lines


class Builder:
    """Writes two arrays in two parts each, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, writer: ArrayWriter) -> Meta:
        self.calls += 1
        for start in (0, 5):
            writer.append("ids", np.arange(start, start + 5, dtype=np.int32))
            writer.append("pairs", np.full((2, 3), start, dtype=np.uint64))
        writer.append("none", np.zeros(0, dtype=np.int32))
        return {"note": "é"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache" / "tokens"


def check(found: tuple[cache.Arrays, Meta]) -> None:
    arrays, meta = found
    assert arrays["ids"].tolist() == list(range(10))
    assert arrays["pairs"].tolist() == [[0] * 3] * 2 + [[5] * 3] * 2
    assert arrays["none"].shape == (0,)
    assert meta == {"note": "é"}
    with pytest.raises(ValueError, match="read-only"):
        arrays["ids"][0] = 1


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


def test_arrays_are_made_once_for_a_key(folder: Path) -> None:
    build = Builder()
    for _ in range(3):
        check(load_or_build({"a": 1}, build))
    assert build.calls == 1
    check(load_or_build({"a": 2}, build))
    assert build.calls == 2
    assert len(entries(folder)) == 2


@pytest.mark.parametrize("name", ["ids.bin", "pairs.bin", "meta.json"])
@pytest.mark.parametrize("damage", ["one bit", "shorter", "longer", "absent"])
def test_a_damaged_entry_is_made_again(folder: Path, name: str, damage: str) -> None:
    build = Builder()
    load_or_build({"a": 1}, build)
    path = entries(folder)[0] / name
    data = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        changed = bytes([data[0] ^ 1]) + data[1:]
        path.write_bytes({"one bit": changed, "shorter": data[:-1], "longer": data + b"\0"}[damage])
    check(load_or_build({"a": 1}, build))
    assert build.calls == 2
    check(load_or_build({"a": 1}, build))
    assert build.calls == 2


def test_a_failed_build_leaves_nothing(folder: Path) -> None:
    def fail(writer: ArrayWriter) -> Meta:
        writer.append("ids", np.zeros(3, dtype=np.int32))
        raise InputError("text.no_examples")

    with pytest.raises(InputError, match="no examples"):
        load_or_build({"a": 1}, fail)
    assert entries(folder) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("rows", [3, 1_000_000])  # written at the end; written at once
def test_a_full_disk_is_said_with_advice(folder: Path, rows: int) -> None:
    def fail(writer: ArrayWriter) -> Meta:
        (writer.folder / "ids.bin").symlink_to("/dev/full")
        writer.append("ids", np.zeros(rows, dtype=np.int32))
        return {}

    with pytest.raises(InputError, match=r"could not be written .* No space left .*GLASSFORMER_CACHE"):
        load_or_build({"a": 1}, fail)
    assert entries(folder) == []


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_read_is_not_said_of_the_cache() -> None:
    def fail(writer: ArrayWriter) -> Meta:
        raise OSError("damaged")

    with pytest.raises(OSError, match=r"^damaged$"):
        load_or_build({"a": 1}, fail)


def test_nothing_is_kept_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    build = Builder()
    check(load_or_build(None, build))  # no key
    monkeypatch.setenv(cache.FOLDER, "off")
    check(load_or_build({"a": 1}, build))
    check(load_or_build({"a": 1}, build))
    assert build.calls == 3
    assert not (tmp_path / "home").exists()
    monkeypatch.delenv(cache.FOLDER)
    check(load_or_build({"a": 1}, build))
    assert len(entries(tmp_path / "home" / "glassformer" / "tokens")) == 1


def test_the_oldest_entries_are_deleted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Builder()
    for number in range(3):
        load_or_build({"a": number}, build)
    first, second, third = (
        path for path in sorted(entries(folder), key=lambda path: path.stat().st_mtime_ns)
    )
    for age, path in ((300, first), (200, second), (100, third)):
        os.utime(path, (time.time() - age,) * 2)
    load_or_build({"a": 0}, build)  # used again
    used = max(entries(folder), key=lambda path: path.stat().st_mtime_ns)
    size = sum(path.stat().st_size for path in used.iterdir())
    monkeypatch.setenv(cache.LIMIT, str(2.5 * size / 1e9))
    load_or_build({"a": 3}, build)
    assert build.calls == 4
    assert used in entries(folder)
    assert len(entries(folder)) == 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("limit", ["20GB", "-1", "nan"])
def test_a_limit_that_is_no_number_is_refused_at_once(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.LIMIT, limit)
    build = Builder()
    with pytest.raises(InputError, match=f"GLASSFORMER_CACHE_GB .* '{limit}'; expected a number") as error:
        load_or_build({"a": 1}, build)
    assert error.value.message.code == "text.cache.wrong_limit"
    assert build.calls == 0


def test_nothing_but_entries_is_deleted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.LIMIT, "0")
    others = [folder.parent / "photos", folder / "photos", folder / ("f" * 31), folder / ("A" * 32)]
    for other in others:
        other.mkdir(parents=True)
        (other / "meta.json").write_text("{}")
    for number in range(2):
        load_or_build({"a": number}, Builder())
    assert all((other / "meta.json").is_file() for other in others)
    assert len(entries(folder)) == len(others[1:]) + 1  # of the two entries the last is kept


BUILD = """
import sys, time, pathlib, numpy as np
from glassformer.text.cache import load_or_build
def build(writer):
    with open(sys.argv[1], "a") as calls: calls.write("x")
    for part in range(10):
        time.sleep(0.05)
        writer.append("ids", np.full(1000, part, dtype=np.int32))
    return {}
arrays, _ = load_or_build({"a": 1}, build)
print(arrays["ids"].sum())
"""


@pytest.mark.slow
def test_two_processes_at_once_make_one_entry(folder: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    command = [sys.executable, "-c", BUILD, str(calls)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == ["45000"] * 2
    assert calls.read_text() == "x"
    assert len(entries(folder)) == 1


@pytest.mark.slow
def test_what_a_killed_process_left_is_removed(folder: Path) -> None:
    kill = BUILD.replace("return {}", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    calls = folder.parent.with_name("calls")
    subprocess.run([sys.executable, "-c", kill, str(calls)], check=False)
    (left,) = entries(folder)
    assert left.name.startswith(cache.UNFINISHED)
    others = [folder / ".new-old", folder / ".new-being-written"]
    for other in others:
        (other / "entry").mkdir(parents=True)
    long_ago = time.time() - cache.ABANDONED - 60
    for path in (others[0] / "entry", others[0]):
        os.utime(path, (long_ago, long_ago))
    load_or_build({"a": 1}, Builder())  # the same entry
    assert not left.exists()
    assert not others[0].exists()
    assert others[1].exists()


@pytest.mark.usefixtures("folder")
def test_a_disk_without_locks_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    build = Builder()
    for _ in range(2):
        check(load_or_build({"a": 1}, build))
    assert build.calls == 1


def test_a_folder_that_cannot_be_written_to_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(cache.tempfile, "mkdtemp", refuse)
    with pytest.raises(InputError) as error:
        load_or_build({"a": 1}, Builder())
    assert error.value.message.code == "text.cache.failed"
    assert str(folder) in str(error.value)


def test_arrays_are_joined_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "BLOCK", 8)

    def build(writer: ArrayWriter) -> Meta:
        for start in (0, 3):
            writer.append("first", np.arange(start, start + 3, dtype=np.int32))
            writer.append("second", np.arange(10 + start, 13 + start, dtype=np.int32))
        writer.join("ids", ("first", "second"))
        return {}

    arrays, _ = load_or_build(None, build)
    assert list(arrays) == ["ids"]
    assert arrays["ids"].tolist() == [*range(6), *range(10, 16)]
    assert not arrays["ids"].flags.owndata  # mapped


def test_progress_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes(b"x" * 99_999 + b"\n" + b"y" * 100_000)
    seen: list[float] = []
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    with (
        progress.showing(lambda text, share: seen.append(share)),
        progress.tracking(lambda: literal("reading"), files) as tracker,
    ):
        for file in files:
            for _ in read_lines(file, Problems()):
                tracker.tick()
    assert seen == sorted(seen)
    assert len(seen) == 5
    assert 0 < seen[0] < 0.5 < seen[2] < 1.0
    assert seen[-1] == 1.0
