"""What tasks with one answer share; how texts are cut and paired is in test_classification.py."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest

from glassformer.errors import InputError
from glassformer.tasks.text_task import Answered

School: TypeAlias = Any  # the fixture of conftest.py


@pytest.mark.parametrize(("name", "answers"), [("classification", [0, 1]), ("regression", [[1.0], [2.0]])])
def test_both_tasks_read_the_same_rows(school: School, tmp_path: Path, name: str, answers: list[Any]) -> None:
    school.write_rows(tmp_path / "train.tsv", [("1", "a cat", "b"), ("2", "a dog", "c")])
    task = school.make_task({"name": name, "folder": str(tmp_path), "path": "{split}.tsv"})
    examples = task.examples("train")
    assert isinstance(examples, Answered)
    assert examples.answers.tolist() == answers
    assert examples.rows[1].tolist() == list(task.tokenizer.encode("a dog").ids)
    assert (
        task.identity()
        != school.make_task(
            {"name": name, "folder": str(tmp_path), "path": "{split}.tsv", "second_text": 2}
        ).identity()
    )


def test_a_split_whose_texts_are_all_skipped_is_refused(school: School, tmp_path: Path) -> None:
    school.write_rows(tmp_path / "train.tsv", [("1", "a cat " * 20), ("2", "a dog " * 20)])
    table = {"name": "classification", "folder": str(tmp_path), "path": "{split}.tsv"}
    with pytest.raises(InputError) as error:
        school.make_task(table | {"long": "skip", "max_length": 8}).examples("train")
    assert error.value.message.code == "tasks.no_rows"
