"""What a file is by its first bytes."""

from pathlib import Path

import pytest

from glassformer.errors import InputError
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
