"""The summary of data: counted again by hand, and in sentences of both languages."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from glassformer.runlog import read_run
from glassformer.tasks.summary import explain, summarise
from glassformer.training.recipe import train

School: TypeAlias = Any  # the fixture of conftest.py


def write(school: School, folder: Path) -> None:
    rows = [("good", f"film number {n} is fine") for n in range(30)] + [
        ("bad", f"film {n} is dull") for n in range(10)
    ]
    school.write_rows(folder / "train.tsv", rows)
    school.write_rows(
        folder / "dev.tsv",
        [("good", "Film number 3  is fine"), ("good", "a new one"), ("bad", "film 2 is dull")],
    )


def test_rows_classes_lengths_and_overlap_are_counted(school: School, tmp_path: Path) -> None:
    write(school, tmp_path)
    task = school.make_task({"name": "classification", "folder": str(tmp_path), "path": "{split}.tsv"})
    summary = json.loads(json.dumps(summarise(task, ["train", "dev"], steps=20, updates=8)))
    training = summary["splits"]["train"]
    assert training["classes"] == {"bad": 10, "good": 30}
    assert (training["examples"], training["texts"], training["different_texts"]) == (40, 40, 40)
    assert training["tokens"] == sum(len(task.examples("train").rows[place]) for place in range(40))
    assert training["lengths"]["most"] == task.examples("train").lengths.max()
    assert training["identity"] == task.identity("train")
    wanted = {"split": "dev", "other": "train", "unit": "row", "texts": 3, "same": 2, "one_side": 0}
    assert summary["overlap"] == [wanted]
    assert summary["epochs"] == 2.5
    said = list(map(str, explain(summary)))
    assert "Classes of train: good 30 (75.0%), bad 10 (25.0%)." in said
    assert any(text.startswith("Overlap: 2 of 3 texts of dev (66.7%) are also in train, so") for text in said)
    assert "20 steps are 2.5 epochs of 8 steps" in said[-1]
    assert all("重叠" in text.text("zh") for text in explain(summary) if str(text).startswith("Overlap"))


def test_one_side_of_a_pair_counts_apart(school: School, tmp_path: Path) -> None:
    school.write_rows(tmp_path / "train.tsv", [("one cat", "un chat"), ("one dog", "un chien")])
    school.write_rows(tmp_path / "dev.tsv", [("one cat", "un chat"), ("the dog", "un chien"), ("x y", "z")])
    files = [{"path": "{split}.tsv", "languages": ["en", "fr"]}]
    task = school.make_task({"name": "translation", "folder": str(tmp_path), "files": files})
    overlap = summarise(task, ["train", "dev"], 1, 1)["overlap"][0]
    assert (overlap["texts"], overlap["same"], overlap["one_side"]) == (3, 1, 1)


def test_two_sides_of_different_pairs_are_not_the_same_pair(school: School, tmp_path: Path) -> None:
    school.write_rows(tmp_path / "train.tsv", [("yes", "ja"), ("ok", "oui"), ("no", "non")])
    school.write_rows(tmp_path / "dev.tsv", [("yes", "oui"), ("No", "non"), ("x", "z")])
    files = [{"path": "{split}.tsv", "languages": ["en", "fr"]}]
    task = school.make_task({"name": "translation", "folder": str(tmp_path), "files": files})
    summary = summarise(task, ["train", "dev"], 1, 1)
    assert (summary["overlap"][0]["same"], summary["overlap"][0]["one_side"]) == (1, 1)
    assert any(
        "(33.3%) are also in train, so scores on dev are too good." in str(t) for t in explain(summary)
    )


def test_a_class_that_is_missing_is_named(school: School, tmp_path: Path) -> None:
    write(school, tmp_path)
    school.write_rows(tmp_path / "dev.tsv", [("good", "a new one")])
    task = school.make_task({"name": "classification", "folder": str(tmp_path), "path": "{split}.tsv"})
    said = list(map(str, explain(summarise(task, ["train", "dev"], 1, 1))))
    assert "dev has no example of 1 class: bad." in said
    assert "No text of dev (1) is also in train." in said


def test_a_test_split_that_cannot_be_read_is_noted(school: School, tmp_path: Path) -> None:
    write(school, tmp_path)
    school.write_rows(tmp_path / "test.tsv", [("-1", "labels are not published"), ("-1", "for this one")])
    task = school.make_task({"name": "classification", "folder": str(tmp_path), "path": "{split}.tsv"})
    summary = json.loads(json.dumps(summarise(task, ["train", "dev"], 1, 1, ["test"])))
    assert set(summary["splits"]) == {"train", "dev"}
    [said] = [text for text in explain(summary) if text.code == "tasks.summary.unreadable"]
    assert str(said).startswith("test cannot be read, and this run does not need it: ")
    assert "'-1'" in str(said)
    assert "无法读取 test" in said.text("zh")


RECIPE = """
[task]
name = "classification"
path = "all.tsv"
folder = "FOLDER"
[tokenizer]
kind = "wordpiece"
size = 80
[model]
layers = 1
width = 16
heads = 2
feed_forward = 16
[train]
steps = 2
evaluate_every = 2
"""


def test_every_run_opens_with_its_data(school: School, tmp_path: Path, capsys: Any) -> None:
    rows = [(("good", "bad")[n % 2], f"film number {n} is {('fine', 'dull')[n % 2]}") for n in range(200)]
    school.write_rows(tmp_path / "all.tsv", [*rows, rows[0]])
    recipe = tmp_path / "films.toml"
    recipe.write_text(RECIPE.replace("FOLDER", str(tmp_path)), encoding="utf-8")
    train(recipe, runs=tmp_path / "runs")
    said = capsys.readouterr().err
    assert "all.tsv has all splits: 10% of it is dev and 10% is test" in said
    assert "No text of dev" in said
    data = read_run(tmp_path / "runs" / "films").data
    assert set(data["splits"]) == {"train", "dev", "test"}
    assert sum(part["examples"] for part in data["splits"].values()) == 201
    assert [found["same"] for found in data["overlap"]] == [0, 0, 0]
    assert data["held_out"][0]["parameters"]["seed"] == 0


def test_a_run_does_not_need_its_test_split(school: School, tmp_path: Path, capsys: Any) -> None:
    rows = [(("good", "bad")[n % 2], f"film number {n} is {('fine', 'dull')[n % 2]}") for n in range(60)]
    school.write_rows(tmp_path / "train-0.tsv", rows[:50])
    school.write_rows(tmp_path / "dev-0.tsv", rows[50:])
    recipe = tmp_path / "films.toml"
    text = RECIPE.replace("FOLDER", str(tmp_path)).replace("all.tsv", "{split}-*.tsv")
    recipe.write_text(text, encoding="utf-8")
    train(recipe, runs=tmp_path / "runs", name="absent")
    assert set(read_run(tmp_path / "runs" / "absent").data["splits"]) == {"train", "dev"}
    school.write_rows(tmp_path / "test-0.tsv", [("other", "a class that is only here")])
    train(recipe, runs=tmp_path / "runs", name="unreadable")
    assert "test cannot be read" in " ".join(capsys.readouterr().err.split())
