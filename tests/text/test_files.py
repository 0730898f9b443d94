"""Lines out of files: where they end, how long they may be, and which are broken."""

import gzip
import lzma
import os
import threading
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.text import files
from glassformer.text.files import KEPT, Problems, read_lines


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_lines_end_where_their_file_says(tmp_path: Path) -> None:
    path = write(tmp_path / "text.txt", b"\xef\xbb\xbfone\r\ntwo\x0bstill two\n\nlast")
    assert list(read_lines(path, Problems())) == [(1, "one"), (2, "two\x0bstill two"), (3, ""), (4, "last")]
    whole = "".join(line for _, line in read_lines(path, Problems(), ends=True))
    assert whole == "one\r\ntwo\x0bstill two\n\nlast"


def test_broken_lines_are_counted_even_where_they_are_not_described(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"\xff\n" * (KEPT + 5))
    problems = Problems("skip")
    assert list(read_lines(path, problems)) == []
    notes = problems.notes()
    assert str(notes[0]) == f"{KEPT + 5} broken lines were skipped:"
    assert (len(notes), str(notes[-1])) == (KEPT + 2, "… and 5 more")
    assert Problems("skip").notes() == ()


def test_a_line_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 100 << 20 < files.MAX_LINE_BYTES <= 1 << 30  # text8 is one line of 95 MiB
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 2 << 20)
    fits = b"a" * ((2 << 20) - 1) + b"\n"
    for name, pack in (("a.txt", bytes), ("a.txt.gz", gzip.compress), ("a.txt.xz", lzma.compress)):
        path = write(tmp_path / name, pack(fits + b"b\n"))
        assert [len(line) for _, line in read_lines(path, Problems())] == [(2 << 20) - 1, 1]
        path = write(tmp_path / name, pack(b"b\na" + fits + b"b\n"))
        with pytest.raises(
            InputError, match=r"a\.txt.*:2: the line is longer than 2 MiB \(is this a text file\?\)\. "
        ):
            list(read_lines(path, Problems()))
        problems = Problems("skip")
        assert list(read_lines(path, problems)) == [(1, "b")]
        assert problems.count == 1


@pytest.mark.skipif(os.name != "posix", reason="such files are of Unix")
def test_devices_end_and_pipes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 2 << 20)
    with pytest.raises(InputError, match="/dev/zero:1: the line is longer than 2 MiB"):
        list(read_lines("/dev/zero", Problems()))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\ntwo",), daemon=True)
    writer.start()
    assert list(read_lines(pipe, Problems())) == [(1, "one"), (2, "two")]
    writer.join()
