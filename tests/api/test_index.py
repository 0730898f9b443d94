"""The index: pages and searches of many rows, kept between starts, made again where it is damaged."""

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.api.index import FILE, RecordingIndex, Row

ROW = Row(
    id="a", origin="made", entry="{}", card="{}", path="a.bundle", own=True, kept=True, listed=True, size=10,
    changed=1, added=1.0, preset=None, request=None, words="zoo/gpt2 once upon a time",
)  # fmt: skip


@pytest.fixture
def index(tmp_path: Path) -> RecordingIndex:
    made = RecordingIndex(tmp_path)
    for number in range(30):
        made.put(replace(ROW, id=f"made-{number}", path=f"{number}.bundle", added=float(number)))
    made.put(replace(ROW, id="named", origin="file", kept=False, own=False, words="zoo/bert the cat"))
    made.put(replace(ROW, id="shipped", origin="shipped", kept=False, own=False, preset="fox", words="fox"))
    made.put(replace(ROW, id="unlisted", path="u.bundle", listed=False, request="{}"))
    return made


def test_pages_of_each_origin(index: RecordingIndex) -> None:
    assert [row.id for row in index.page(count=2)] == ["made-29", "made-28", "named", "shipped"]
    assert [row.id for row in index.page("made", start=28, count=5)] == ["made-1", "made-0"]
    assert (index.count(), index.count("made"), index.count("shipped")) == (32, 30, 1)
    assert index.default() == "named"
    assert index.find_preset("fox") == "shipped"
    assert [row.id for row in index.find_unlisted("{}")] == ["unlisted"]


def test_a_search_finds_every_word_anywhere(index: RecordingIndex) -> None:
    assert [row.id for row in index.page(search="CAT bert")] == ["named"]
    assert index.count(search="once gpt2") == 30
    assert index.page(search="cat gpt2") == []
    assert index.page(search="100%_'\"") == []


def test_an_id_is_taken_once(index: RecordingIndex) -> None:
    assert not index.put(replace(ROW, id="shipped"))
    assert index.put(replace(ROW, id="new"))


def test_what_lies_in_the_folder_is_there_on_the_next_start(index: RecordingIndex, tmp_path: Path) -> None:
    index.close()
    again = RecordingIndex(tmp_path)
    assert again.count() == 30
    assert again.kept()["3.bundle"] == (10, 1)
    again.forget_files(["3.bundle"])
    assert again.find("made-3") is None
    assert [row.id for row in again.oldest()][:2] == ["unlisted", "made-0"]
    assert again.own_bytes() == 300
    again.close()


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_index_is_made_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    index = RecordingIndex(tmp_path)
    assert index.put(ROW)
    assert index.count() == 1
    index.close()
