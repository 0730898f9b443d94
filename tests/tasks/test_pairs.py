"""Sentence pairs: read from any files, in one direction or in both, and refused settings."""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.tasks.pairs import PairFile, Pairs, TranslationSettings
from glassformer.tasks.sources import SourceSettings
from glassformer.tasks.translation import Translation
from glassformer.text.files import Problems
from phrase_book import School, table


def pairs_of(task: Any, split: str = "train") -> Pairs:
    examples = task.examples(split)
    assert isinstance(examples, Pairs)
    return examples


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([{"directions": "both"}], "read into fr and en"),
        ([{"directions": "forward"}, {"directions": "forward", "languages": ["en", "de"]}], "into fr and de"),
    ],
)
def test_without_tags_there_is_one_language_to_translate_into(files: list[dict[str, Any]], said: str) -> None:
    tables = [{"path": "{split}.tsv", "languages": ["en", "fr"], **each} for each in files]
    with pytest.raises(
        ConfigurationError, match=rf"tags = false, but the files are .*{said}, .* set tags = true"
    ):
        TranslationSettings(tables, tags=False)
    TranslationSettings(tables)
    both_into_english = [tables[0], tables[0] | {"languages": ["de", "en"]}]
    TranslationSettings(
        [both_into_english[0] | {"directions": "backward"}, both_into_english[1] | {"directions": "forward"}],
        tags=False,
    )


def test_the_tokens_of_pairs_are_mapped_not_copied(school: School, book: Path) -> None:
    pairs = pairs_of(school.make_task(table(book)))
    base: Any = pairs.texts.ids
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, memoryview | mmap.mmap)


def test_lengths_are_those_of_the_batches_they_plan(school: School, book: Path) -> None:
    school.write_rows(
        book / "train.tsv", [*school.PAIRS, ("cat", "le chat voit le garçon"), ("the cat", "à")]
    )
    task = school.make_task(table(book))
    longer = [0, 0]
    for index, length in enumerate(task.examples("train").lengths):
        batch = task.collate("train", [index])
        assert length == max(batch.ids.shape[1], batch.labels.shape[1])
        longer[int(batch.labels.shape[1] > batch.ids.shape[1])] += 1
    assert min(longer) > 0  # either side can be the longer one


def test_pairs_that_are_too_long_are_left_out_and_that_is_said(school: School, book: Path) -> None:
    school.write_rows(
        book / "train.tsv", [*school.PAIRS, ("the cat " * 30, "le chat"), ("the cat", "le chat " * 30)]
    )
    task = school.make_task(table(book, max_length=30))
    pairs = pairs_of(task)
    assert len(pairs.lengths) == 64
    assert tuple(map(str, pairs.notes)) == ("4 of 68 pairs have more than 30 tokens and were left out.",)
    task.accept(school.make_network(task, max_length=12).config)  # the network's own limit counts too
    assert pairs_of(task).lengths.max() <= 12


def test_directions_repeats_and_several_files_are_mixed(school: School, book: Path) -> None:
    school.write_rows(book / "german.train.tsv", [("the cat", "die Katze"), ("the dog", "der Hund")])
    german = {"path": "german.{split}.tsv", "languages": ["en", "de"], "directions": "backward", "repeat": 3}
    task = school.make_task(table(book, files=[{"path": "{split}.tsv", "languages": ["en", "fr"]}, german]))
    assert isinstance(task, Translation)
    assert task.settings.directions() == [("en", "fr"), ("fr", "en"), ("de", "en")]
    assert task.tags(task.settings) == (">>fr<<", ">>en<<")
    assert len(pairs_of(task).lengths) == 64 + 6
    assert (
        list(task.texts(task.settings)).count("die Katze") == 3
    )  # as heavy in the vocabulary as in training


def test_two_files_line_by_line_are_pairs_too(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("the cat\nthe dog\n", encoding="utf-8")
    (tmp_path / "train.fr").write_text("le chat\nle chien\n", encoding="utf-8")
    file = PairFile("{split}.en", ["en", "fr"], second_path="{split}.fr")
    assert list(file.read(SourceSettings(folder=str(tmp_path)), "train", Problems())) == [
        ("the cat", "le chat"),
        ("the dog", "le chien"),
    ]


def test_broken_lines_are_refused_or_noted(school: School, book: Path) -> None:
    with (book / "train.tsv").open("a") as file:
        file.write("only english\n")
    with pytest.raises(InputError, match=r"train.tsv:33: 1 columns"):
        school.make_task(table(book))
    task = school.make_task(table(book, on_error="skip"))
    assert "1 broken line was skipped" in str(pairs_of(task).notes[0])
    assert len(pairs_of(task).lengths) == 64


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"files": []}, "at least one table"),
        ({"files": [{"path": "a.tsv", "languages": ["en"]}]}, "must name two"),
        ({"files": [{"path": "a.tsv", "langages": ["en", "fr"]}]}, "Did you mean 'languages'"),
        ({"files": ["a.tsv"]}, "each of which is a table"),
        ({"files": [{"path": "a.tsv", "languages": [1, 2]}]}, "each of which is text"),
        ({"files": [{"path": "a.tsv", "languages": ["en", "en"]}]}, "must be two"),
        ({"files": [{"path": "a.tsv", "languages": ["en", " "]}]}, "must be two"),
        ({"files": [{"path": "a.tsv", "languages": ["en", "fr"], "columns": [0, 1.5]}]}, "columns"),
        ({"max_length": 0}, "at least 3"),
        ({"scored": -1}, "at least 0"),
        ({"label_smoothing": 1.0}, "below 1"),
        (
            {"word_dropout": 1.0},
            r"word_dropout = 1.0 .* a number \(at least 0, below 1\)",
        ),
        ({"consistency": -1.0}, "consistency = -1.0 is not possible"),
        ({"consistency": float("nan")}, r"consistency = nan .* \(at least 0, finite\)"),
        ({"consistency": float("inf")}, "consistency = inf is not possible"),
        ({"consistency": "much"}, "consistency"),
    ],
)
def test_impossible_settings_are_refused(
    school: School, book: Path, words: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        school.make_task(table(book, **words))
