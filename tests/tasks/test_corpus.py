"""Running text: one file cut in two, a column of a table, more files for training."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from glassformer.errors import ConfigurationError
from glassformer.tasks.language_modelling import LanguageModelling
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
