"""Progress of reading: shares that rise to one, and nothing where nobody looks."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from glassformer.messages import Message, message
from glassformer.text import progress
from glassformer.text.progress import note_opened, showing, tracking


def describe() -> Message:
    return message("text.literal", default="{text}", text="reading")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "letters.txt"
    path.write_bytes(b"x" * 1000)
    return path


def test_the_share_is_that_of_the_bytes_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0)
    shares: list[float] = []
    with (
        showing(lambda _, share: shares.append(share)),
        tracking(describe, [path]) as tracker,
        path.open("rb", buffering=0) as file,
    ):
        note_opened(file, path)
        tracker.tick()
        file.read(250)
        tracker.tick()
        file.read()
        tracker.tick()
    assert shares == [0, 0.25, 1, 1]


@pytest.mark.parametrize("open_file", [open, gzip.open])
def test_a_file_that_was_closed_is_read_and_others_count(
    path: Path, monkeypatch: pytest.MonkeyPatch, open_file: Callable[[Path, str], IO[bytes]]
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0)
    other = path.with_name("more.txt")
    other.write_bytes(b"x" * 3000)
    shares: list[float] = []
    with showing(lambda _, share: shares.append(share)), tracking(describe, [path, other]) as tracker:
        with open_file(path, "rb") as file:
            note_opened(file, path)
        tracker.tick()
    assert shares == [0.25, 1]


def test_between_two_calls_there_is_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shares: list[float] = []
    with showing(lambda _, share: shares.append(share)), tracking(describe, [path]) as tracker:
        tracker.tick()
        assert shares == []
        now[0] += progress.SECONDS
        tracker.tick()
        tracker.tick()
    assert shares == [0]  # the end came too soon after it


def test_where_nobody_looks_nothing_happens(path: Path) -> None:
    with path.open("rb") as file:
        note_opened(file, path)
    with tracking(describe, [path, path.with_name("missing.txt")]) as tracker:
        tracker.tick()
