"""The index: pages and searches of many rows, kept between starts, made again where it is damaged."""

import errno
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from glassformer.api import index as module
from glassformer.api.index import FILE, FullRow, RecordingIndex, lacks_room
from glassformer.errors import InputError

ROW = FullRow(
    id="a", origin="made", entry="{}", card="{}", path="a.bundle", own=True, kept=True, listed=True, size=10,
    changed=1, added=1.0, preset=None, made_by=None, words="zoo/gpt2 once upon a time",
)  # fmt: skip


@pytest.fixture
def index(tmp_path: Path) -> RecordingIndex:
    made = RecordingIndex(tmp_path)
    for number in range(30):
        made.put(replace(ROW, id=f"made-{number}", path=f"{number}.bundle", added=float(number)))
    made.put(replace(ROW, id="named", origin="file", kept=False, own=False, words="zoo/bert the cat"))
    made.put(replace(ROW, id="shipped", origin="shipped", kept=False, own=False, preset="fox", words="fox"))
    made.put(replace(ROW, id="unlisted", path="u.bundle", listed=False, made_by="x"))
    return made


def test_pages_of_each_origin(index: RecordingIndex) -> None:
    assert [row.id for row in index.page(count=2)] == ["made-29", "made-28", "named", "shipped"]
    assert [row.id for row in index.page("made", start=28, count=5)] == ["made-1", "made-0"]
    assert (index.count(), index.count("made"), index.count("shipped")) == (32, 30, 1)
    assert index.default() == "named"
    assert index.find_preset("fox") == "shipped"
    assert [row.id for row in index.find_unlisted("x", None)] == ["unlisted"]


def test_pages_far_down_are_found_in_the_index_of_the_table_alone(index: RecordingIndex) -> None:
    said = trace(index)
    assert [row.id for row in index.page("made", start=20, count=2)] == ["made-9", "made-8"]
    asked = next(each for each in said if "FROM main.recordings" in each)
    plan = [str(step[3]) for step in index._database.execute(f"EXPLAIN QUERY PLAN {asked}")]
    assert any("recordings USING COVERING INDEX by_origin" in step for step in plan), plan


def trace(index: RecordingIndex) -> list[str]:
    """What is asked of the database from now on."""
    said: list[str] = []
    assert index._lists is not None
    for each in (index._database, index._lists):
        each.set_trace_callback(said.append)
    return said


def test_pages_are_right_where_rows_of_the_folder_and_others_mix(index: RecordingIndex) -> None:
    for number in range(7):
        index.put(replace(ROW, id=f"here-{number}", path=None, kept=False, added=4.3 * number))
    all_of_them = [row.id for row in index.page("made")]
    added = [4.3 * int(id[5:]) if id.startswith("here") else float(id[5:]) for id in all_of_them]
    assert (added, len(added)) == (sorted(added, reverse=True), 37)
    for start in range(38):
        for count in (1, 3, 40):
            page = [row.id for row in index.page("made", start=start, count=count)]
            assert page == all_of_them[start : start + count], (start, count)


def test_a_long_search_keeps_no_look_up_waiting(index: RecordingIndex) -> None:
    """Every request looks something up, on the event loop."""
    found: list[str | None] = []

    def look() -> int:
        if not found:
            with ThreadPoolExecutor(1) as other:
                row = other.submit(index.find, "made-1").result(timeout=300)
            found.append(None if row is None else row.id)
        return 0

    assert index._lists is not None
    index._lists.set_progress_handler(look, 1)  # in the middle of a search
    assert index.count(search="nothing") == 0
    assert found == ["made-1"]


def test_lists_and_look_ups_read_no_cards(index: RecordingIndex) -> None:
    index.put(replace(ROW, id="long", path="long.bundle", card="x" * 1_000_000, added=100.0))
    said = trace(index)
    assert index.page(count=1)[0].id == "long"
    assert index.find("long") is not None
    assert next(index.oldest(None)).id == "unlisted"
    index.count()
    index.default()
    index.bytes_of("alice")
    index.branches()
    short = len(said)
    assert index.read_card("long") == "x" * 1_000_000
    assert index._lists is not None
    for each in (index._database, index._lists):
        each.set_trace_callback(None)

    def find_last_column(statement: str) -> int:
        steps = index._database.execute(f"EXPLAIN {statement}").fetchall()
        return max((step[3] for step in steps if step[1] == "Column"), default=0)

    last = [find_last_column(each) for each in said]
    card = len(astuple(ROW)) - 1  # it comes last
    assert all(each < card for each in last[:short]), said
    assert last[short:] == [card]


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
    assert [row.id for row in again.oldest(None)][:2] == ["unlisted", "made-0"]
    assert again.own_bytes() == 300
    again.close()


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_index_is_made_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    index = RecordingIndex(tmp_path)
    assert index.put(ROW)
    assert index.count() == 1
    index.close()


def test_an_index_that_another_server_has_locked_stays(
    index: RecordingIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAIT", 0.1)
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InputError, match="locked") as error:
        RecordingIndex(tmp_path)
    assert error.value.message.code == "api.index_not_opened"
    other.close()
    assert (tmp_path / FILE).exists()
    assert index.count("made") == 30
    index.close()


def test_several_servers_may_start_in_an_empty_folder_at_once(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def start(number: int, folder: Path) -> RecordingIndex:
        together.wait()
        made = RecordingIndex(folder)
        made.put(replace(ROW, id=str(number), path=f"{number}.bundle"))
        return made

    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(start, range(8), [folder] * 8))
        assert [each.count() for each in made] == [8] * 8
        for each in made:
            each.close()


def test_the_state_differs_after_each_change_also_of_another_server(tmp_path: Path) -> None:
    first, second = RecordingIndex(tmp_path), RecordingIndex(tmp_path)
    states = [first.state()]
    assert first.state() == states[0]
    first.put(ROW)
    states.append(first.state())
    second.set_card("a", "{}", None, "team")
    states.append(first.state())
    first.remove("a")
    assert len({*states, first.state()}) == 4
    first.close()
    second.close()


def test_a_full_disk_is_told_as_by_other_files(index: RecordingIndex) -> None:
    index._database.execute("PRAGMA max_page_count = 1")  # no page more than there are
    with pytest.raises(OSError, match="No space left") as error:
        index.put(replace(ROW, id="new", words="x" * 100_000))
    assert error.value.errno == errno.ENOSPC
    assert index.find("new") is None
    index.remove("made-1")
    assert index.find("made-1") is None


def test_a_full_disk_is_told_from_other_errors() -> None:
    error = sqlite3.OperationalError("of the module itself")  # without a code
    assert not lacks_room(error)
    for code, full in (
        (sqlite3.SQLITE_FULL, True),
        (sqlite3.SQLITE_IOERR_WRITE, True),
        (sqlite3.SQLITE_BUSY, False),
        (sqlite3.SQLITE_READONLY, False),
    ):
        error.sqlite_errorcode = code
        assert lacks_room(error) == full
