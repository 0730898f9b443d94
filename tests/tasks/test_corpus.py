"""Running text: one file cut in two, a column of a table, more files for training."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from glassformer.errors import ConfigurationError
from glassformer.tasks import corpus
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.text import progress
from running_text import TEXT, windows_of

School: TypeAlias = Any  # the fixture of conftest.py


def test_one_file_is_cut_where_its_end_is_held_out(school: School, text: dict[str, Any]) -> None:
    table = text | {"path": "train.txt", "held_out": 0.25}
    task = school.make_task(table, {"kind": "characters"})
    cut = int(len(TEXT) * 0.75)
    for split, part in (("train", TEXT[:cut]), ("dev", TEXT[cut:])):
        assert task.tokenizer.decode(windows_of(task, split).stream.ids) == part
        assert windows_of(task, split).stream.bytes == len(part.encode())


def test_a_column_of_a_table_is_text_too(school: School, book: Path) -> None:
    table = {
        "name": "language_modelling",
        "folder": str(book),
        "path": "{split}.tsv",
        "column": 1,
        "context": 8,
    }
    task = school.make_task(table)
    assert isinstance(task, LanguageModelling)
    ids = windows_of(task, "dev").stream.ids
    end = task.tokenizer.roles["end"]
    rows = np.split(ids, np.flatnonzero(ids == end))[1:-1]
    assert [task.tokenizer.decode(row[1:]) for row in rows] == [french for _, french in school.PAIRS]


def test_more_text_is_for_training_alone(school: School, text: dict[str, Any]) -> None:
    Path(text["folder"], "more.tsv").write_text("1\tA zebra.\n0\tTwo zebras.\n", encoding="utf-8")
    plain = school.make_task(text)
    more = school.make_task(text | {"also": [{"path": "more.tsv", "column": 1, "repeat": 2}]})
    ids = windows_of(more, "train").stream.ids.tolist()
    assert more.tokenizer.decode(ids).endswith("A zebra.Two zebras.A zebra.Two zebras.")
    assert ids.count(more.tokenizer.roles["end"]) == 2 + 4
    assert windows_of(more, "dev").stream.bytes == windows_of(plain, "dev").stream.bytes
    with pytest.raises(ConfigurationError, match="has columns"):
        school.make_task(text | {"also": [{"path": "more.tsv"}]})


def write_two(text: dict[str, Any]) -> dict[str, Any]:
    """Two files of one corpus; the first does not end with a blank line."""
    folder = Path(text["folder"])
    (folder / "part-1.txt").write_text("one cat\n\ntwo cats\n", encoding="utf-8")
    (folder / "part-2.txt").write_text("three dogs\n\nfour dogs", encoding="utf-8")
    return text | {"path": "part-*.txt", "held_out": 0.01, "context": 8}


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ("file", ["one cat\n\ntwo cats\n", "three dogs\n\nfour dog"]),
        ("blank", ["one cat\n", "two cats\n", "three dogs\n", "four dog"]),
        ("line", ["one cat", "two cats", "three dogs", "four dog"]),
    ],
)
@pytest.mark.parametrize("divided", [False, True])
def test_the_end_of_a_file_ends_a_document(
    school: School, text: dict[str, Any], documents: str, expected: list[str], divided: bool
) -> None:
    table = write_two(text) | {"documents": documents}
    if divided:  # each split has files of its own
        for path in Path(text["folder"]).glob("part-*.txt"):
            path.rename(path.with_name(f"train-{path.name}"))
        table, expected = table | {"path": "{split}-part-*.txt"}, [*expected[:-1], f"{expected[-1]}s"]
    task = school.make_task(table)
    ids = windows_of(task, "train").stream.ids
    ends = np.flatnonzero(ids == task.tokenizer.roles["end"])
    found = [task.tokenizer.decode(row[1:]) for row in np.split(ids, ends)]
    assert [document for document in found if document] == expected


def test_progress_of_a_text_that_is_measured_first_begins_at_zero(
    school: School, text: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    monkeypatch.setattr(corpus, "AT_ONCE", 1000)
    Path(text["folder"], "long.txt").write_text("a long text of many lines\n" * 20_000, encoding="utf-8")
    task = school.make_task(text | {"path": "long.txt", "held_out": 0.1})
    shares: list[float] = []
    with progress.showing(lambda _, share: shares.append(share)):
        task.examples("train")
    assert len(shares) > 100
    assert shares[0] < 0.5
    assert sum(share < 1 for share in shares) > len(shares) / 2


def test_a_seed_is_named_only_where_rows_are_drawn(school: School, text: dict[str, Any]) -> None:
    (cut,) = school.make_task(text | {"path": "train.txt", "held_out_test": 0.2}).describe_held_out()
    assert "its last 10% is dev" in str(cut)
    assert "split_seed" not in str(cut)
    Path(text["folder"], "rows.tsv").write_text("a\tb\n" * 9, encoding="utf-8")
    (drawn,) = school.make_task(text | {"path": "rows.tsv", "column": 0}).describe_held_out()
    assert "split_seed = 0" in str(drawn)


def test_rows_of_another_file_are_no_part_of_the_text_before(school: School, text: dict[str, Any]) -> None:
    Path(text["folder"], "train.txt").write_text("one cat\n\ntwo cats", encoding="utf-8")
    Path(text["folder"], "more.tsv").write_text("0\tA zebra.\n1\tA mule.\n", encoding="utf-8")
    task = school.make_task(text | {"documents": "blank", "also": [{"path": "more.tsv", "column": 1}]})
    ids = windows_of(task, "train").stream.ids
    rows = np.split(ids, np.flatnonzero(ids == task.tokenizer.roles["end"]))
    found = [task.tokenizer.decode(row[1:]) for row in rows if len(row) > 1]
    assert found == ["one cat\n", "two cats", "A zebra.", "A mule."]
