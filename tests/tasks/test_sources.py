"""Where examples come from: files by wildcard, other names of splits, and honest held-out rows."""

import json
import random
import shutil
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.tasks.sources import SourceSettings, find_files
from glassformer.tasks.task import Task, build_task
from glassformer.tasks.text_task import Answered
from running_text import TEXT, windows_of

School: TypeAlias = Any  # the fixture of conftest.py

NOUNS = "apple bear cloud door earth fire glass house iron jar king lamp moon night oak pear queen rain"


def sentences(count: int, seed: int = 0) -> list[str]:
    """Different sentences."""
    draw = random.Random(seed)
    return list(dict.fromkeys(" ".join(draw.choices(NOUNS.split(), k=5)) for _ in range(count)))


def texts_of(task: Task, split: str) -> list[str]:
    """The texts of a split, as the task reads them."""
    examples = task.examples(split)
    assert isinstance(examples, Answered)
    return [task.tokenizer.decode(examples.rows[place].tolist()) for place in range(len(examples.lengths))]


def classification(folder: Path, path: str = "all.tsv", **others: Any) -> dict[str, Any]:
    return {"name": "classification", "folder": str(folder), "path": path} | others


def test_one_file_is_divided_and_no_text_is_in_two_splits(school: School, tmp_path: Path) -> None:
    texts = sentences(1000)
    # each text three times: with the other label, and in other spelling
    rows = [row for text in texts for row in (("a", text), ("b", text), ("a", f"  {text.upper()} "))]
    school.write_rows(tmp_path / "all.tsv", rows)
    task = school.make_task(classification(tmp_path), {"kind": "wordpiece", "lowercase": True})
    found = {split: set(texts_of(task, split)) for split in ("train", "dev", "test")}
    assert set.union(*found.values()) == set(texts)
    assert not found["train"] & found["dev"] | found["train"] & found["test"] | found["dev"] & found["test"]
    assert sum(len(task.examples(split).lengths) for split in found) == len(rows)
    for split, share in (("dev", 0.1), ("test", 0.1), ("train", 0.8)):
        spread = 5 * (share * (1 - share) / len(texts)) ** 0.5  # standard deviations of a binomial draw
        assert abs(len(found[split]) / len(texts) - share) < spread


def test_a_row_stays_in_its_split_when_rows_are_added_or_moved() -> None:
    settings = SourceSettings()
    texts = sentences(400)
    before = {text: settings.find_split(text) for text in texts}
    assert {
        text: settings.find_split(text) for text in reversed([*texts, *sentences(50, 9)])
    }.items() >= before.items()
    assert settings.find_split("Glass  House\n") == settings.find_split("glass house")
    other = SourceSettings(split_seed=1)
    assert {text: other.find_split(text) for text in texts} != before
    more = SourceSettings(held_out=0.2)  # what was held out stays held out
    assert all(more.find_split(text) == "dev" for text in texts if before[text] == "dev")


@pytest.mark.slow
def test_labels_that_mean_nothing_are_not_learnt(school: School, tmp_path: Path) -> None:
    """With dev = train this network was right for all; an honest dev is a coin that is tossed."""
    draw = random.Random(3)
    school.write_rows(tmp_path / "all.tsv", [(draw.choice("ab"), text) for text in sentences(400)])
    task = school.make_task(classification(tmp_path, held_out=0.4, held_out_test=0.0))
    network = school.make_network(task)
    school.learn(task, network, 150, tokens=4096)
    assert task.evaluate(network, "train")["accuracy"] > 0.8
    assert task.evaluate(network, "dev")["accuracy"] < 0.65


def test_sentence_pairs_are_divided_by_their_first_text(school: School, tmp_path: Path) -> None:
    texts = sentences(300)
    rows = [row for text in texts for row in ((text, text[::-1]), (text, text[::-1].upper()))]
    school.write_rows(tmp_path / "all.tsv", rows)
    table = {"name": "translation", "folder": str(tmp_path)}
    task = school.make_task(table | {"files": [{"path": "all.tsv", "languages": ["en", "fr"]}]})
    keys = {split: task.examples(split).keys[:, 0] for split in ("train", "dev", "test")}
    assert sum(map(len, keys.values())) == len(rows)
    assert not np.isin(keys["dev"], keys["train"]).any()
    assert not np.isin(keys["test"], np.concatenate([keys["train"], keys["dev"]])).any()


def test_the_test_part_of_a_text_is_never_its_dev(school: School, text: dict[str, Any]) -> None:
    table = text | {"path": "train.txt", "held_out": 0.2, "held_out_test": 0.1}
    task = school.make_task(table, {"kind": "characters"})
    parts = {
        split: task.tokenizer.decode(windows_of(task, split).stream.ids) for split in ("train", "test", "dev")
    }
    assert parts["train"] + parts["test"] + parts["dev"] == TEXT
    assert [len(part) for part in parts.values()] == [
        int(len(TEXT) * 0.7),
        int(len(TEXT) * 0.8) - int(len(TEXT) * 0.7),
        len(TEXT) - int(len(TEXT) * 0.8),
    ]
    without = school.make_task(table | {"held_out_test": 0.0}, {"kind": "characters"})
    with pytest.raises(InputError, match=r"train.txt has no test split: held_out_test is 0") as refused:
        without.examples("test")
    assert refused.value.message.code == "tasks.sources.no_test"


def test_rows_of_a_table_of_text_are_held_out(school: School, tmp_path: Path) -> None:
    """A column without {split} used to be the same in every split."""
    school.write_rows(tmp_path / "all.tsv", [(str(n), text) for n, text in enumerate(sentences(300))])
    table = {
        "name": "language_modelling",
        "folder": str(tmp_path),
        "path": "all.tsv",
        "column": 1,
        "context": 16,
    }
    task = school.make_task(table | {"held_out_test": 0.1})
    lines = {
        split: set(
            task.tokenizer.decode(windows_of(task, split).stream.ids, special=True).split("<|endoftext|>")
        )
        - {""}
        for split in ("train", "dev", "test")
    }
    assert not lines["train"] & lines["dev"]
    assert not lines["test"] & (lines["dev"] | lines["train"])
    assert len(set.union(*lines.values())) == len(sentences(300))


def test_a_split_that_one_file_does_not_have_is_refused(school: School, tmp_path: Path) -> None:
    school.write_rows(tmp_path / "all.tsv", [("ab"[n % 2], text) for n, text in enumerate(sentences(40))])
    task = school.make_task(classification(tmp_path))
    with pytest.raises(InputError, match=r"no split 'devel': .* there are train, dev and test"):
        task.examples("devel")
    with pytest.raises(ConfigurationError, match="leave nothing to train on"):
        SourceSettings(held_out=0.5, held_out_test=0.5)


def test_wildcards_and_other_names_of_splits(school: School, tmp_path: Path) -> None:
    rows = [("ab"[n % 2], text) for n, text in enumerate(sentences(60))]
    for shard in range(3):
        school.write_rows(tmp_path / f"train-{shard}.tsv", rows[shard * 10 : shard * 10 + 10])
    school.write_rows(tmp_path / "validation-0.tsv", rows[30:40])
    task = school.make_task(classification(tmp_path, "{split}-*.tsv"))
    assert texts_of(task, "train") == [text for _, text in rows[:30]]
    assert texts_of(task, "dev") == [text for _, text in rows[30:40]]
    with pytest.raises(InputError, match=r"No file matches .*test-\*.tsv"):
        task.examples("test")
    (tmp_path / "odd[1].txt").write_text("x")
    assert find_files("odd[1].txt", str(tmp_path), "train") == [tmp_path / "odd[1].txt"]


def test_a_folder_that_datasets_wrote(school: School, tmp_path: Path) -> None:
    """The layout of `DatasetDict.save_to_disk`; its classes are numbers with names beside them."""
    arrow = pytest.importorskip("pyarrow")
    feature = {"label": {"names": ["bad", "good"], "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": feature}})}
    rows = [(n % 2, text) for n, text in enumerate(sentences(60))]
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "validation"]}))
    for split, part in (("train", rows[:40]), ("validation", rows[40:])):
        folder = tmp_path / "films" / split
        folder.mkdir()
        names = []
        for number, start in enumerate(range(0, len(part), 25)):
            labels, texts = zip(*part[start : start + 25], strict=True)
            table = arrow.table({"text": texts, "label": arrow.array(labels, arrow.int64())})
            table = table.replace_schema_metadata(metadata)
            names.append({"filename": f"data-{number:05d}-of-00002.arrow"})
            with arrow.ipc.new_stream(folder / names[-1]["filename"], table.schema) as writer:
                writer.write_table(table)
        (folder / "state.json").write_text(json.dumps({"_data_files": names}))
    task = school.make_task(classification(tmp_path, "films", label="label", text="text"))
    assert task.labels == ("bad", "good")
    assert texts_of(task, "train") == [text for _, text in rows[:40]]
    assert texts_of(task, "dev") == [text for _, text in rows[40:]]


def test_tokens_are_made_once_and_again_when_anything_changes(
    school: School, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))

    def entries() -> int:
        return len(list((tmp_path / "cache" / "tokens").glob("*/meta.json")))

    table = {
        "name": "language_modelling",
        "folder": str(book),
        "path": "{split}.tsv",
        "column": 0,
        "context": 8,
    }
    task = school.make_task(table)
    before = task.identity("train")
    assert entries() == 1
    assert school.make_task(table | {"context": 16, "repeats": 0.5}).identity("train") == before
    assert entries() == 1  # what is read does not depend on these
    school.make_task(table | {"column": 1}).examples("train")
    school.make_task(table, {"kind": "characters"}).examples("train")
    assert entries() == 3
    text = (book / "train.tsv").read_text(encoding="utf-8")
    (book / "train.tsv").write_text(text.replace("cat", "dog", 1), encoding="utf-8")
    assert school.make_task(table).identity("train") != before
    assert entries() == 4


def test_a_text_that_moves_to_another_label_has_that_label(
    school: School, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    for n, text in enumerate(sentences(12)):
        place = tmp_path / "films" / "train" / "ab"[n // 6] / f"{n:02}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def count() -> dict[str, int]:
        task = school.make_task(classification(tmp_path / "films", "{split}"))
        return dict(task.count_classes("train"))

    assert count() == {"a": 6, "b": 6}
    (tmp_path / "films/train/a/05.txt").rename(tmp_path / "films/train/b/05.txt")
    assert count() == {"a": 5, "b": 7}
    cached = len(list((tmp_path / "cache" / "tokens").glob("*/meta.json")))
    (tmp_path / "films").rename(tmp_path / "moved")  # the folder as a whole may move
    school.make_task(classification(tmp_path / "moved", "{split}")).examples("train")
    assert len(list((tmp_path / "cache" / "tokens").glob("*/meta.json"))) == cached


def test_notes_of_the_cache_name_the_folder_of_now(
    school: School, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    with (book / "train.tsv").open("a", encoding="utf-8") as file:
        file.write("only one column\n")
    table = classification(book, "{split}.tsv", on_error="skip")
    task = school.make_task(table)
    (before,) = {text for note in task.examples("train").notes if "train.tsv" in (text := str(note))}
    assert str(book / "train.tsv") in before
    moved = shutil.copytree(book, tmp_path / "moved")
    task = build_task(table | {"folder": str(moved)}, task.tokenizer)
    monkeypatch.setattr(type(task.settings), "read_examples", None)  # not read again
    (now,) = {text for note in task.examples("train").notes if "train.tsv" in (text := str(note))}
    assert now == before.replace(str(book), str(moved))
