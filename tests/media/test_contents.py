"""What a file is by its first bytes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from glassformer.errors import InputError
from glassformer.media import contents
from glassformer.media.contents import open_content


def test_contents_count_and_names_do_not(tmp_path: Path) -> None:
    path = tmp_path / "picture.wav"
    path.write_bytes(b"\x89PNG\r\n\x1a\n and so on")
    with open_content(path) as opened:
        assert (opened.format, opened.name, opened.size) == ("PNG", "picture.wav", 18)
        assert opened.stream.tell() == 0
    with open_content(b"hello") as opened:
        assert opened.format is None


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.png"
    empty.touch()
    for content, sentence in {
        empty: "empty.png is empty",
        b"": "The file is empty",
        tmp_path / "absent.png": "cannot be read",
        tmp_path: "cannot be read",
        7: "A int is no file",
    }.items():
        with pytest.raises(InputError, match=sentence), open_content(content):  # type: ignore[arg-type]
            pass


@contextmanager
def pipe(tmp_path: Path, content: bytes) -> Iterator[Path]:
    """A pipe through which another program, here a thread, sends this."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def send() -> None:
        with suppress(BrokenPipeError):  # the reader has had enough
            path.write_bytes(content)

    sender = Thread(target=send)
    sender.start()
    yield path
    sender.join()


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    content = b"fLaC" + bytes(200_000)
    with pipe(tmp_path, content) as path, open_content(path) as opened:
        assert (opened.format, opened.name, opened.size) == ("FLAC", "pipe", len(content))
        assert opened.stream.read() == content


def test_a_pipe_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_BYTES", 100_000)
    with (
        pipe(tmp_path, b"fLaC" + bytes(200_000)) as path,
        pytest.raises(InputError, match="through a pipe"),
        open_content(path),
    ):
        pass


@pytest.mark.parametrize("second", [0xFB, 0xF3, 0xE3])
def test_mp3_has_several_beginnings(second: int) -> None:
    with open_content(bytes((0xFF, second, 0x90, 0))) as opened:
        assert opened.format == "MP3"
