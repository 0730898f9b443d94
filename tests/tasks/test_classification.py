"""Classification: labels learnt by heart, long texts cut as asked, folders and tables read alike."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.native import NativeModel
from glassformer.tasks.classification import ClassificationSettings, classify
from glassformer.tasks.task import build_task
from glassformer.tasks.text_task import Answered
from tolerances import assert_near

School: TypeAlias = Any  # the fixture of conftest.py
LONG = " ".join(f"w{number}" for number in range(30))


@pytest.fixture
def rows(school: School, tmp_path: Path) -> dict[str, Any]:
    """A table of 32 sentences, labelled by whom they are about."""
    sentences = [(one.split()[1], one, two) for one, two in school.PAIRS]
    for split in ("train", "dev"):
        school.write_rows(tmp_path / f"{split}.tsv", sentences)
    return {"name": "classification", "folder": str(tmp_path), "path": "{split}.tsv"}


def labelled(task: Any, split: str = "train") -> Answered:
    examples = task.examples(split)
    assert isinstance(examples, Answered)
    return examples


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.slow
def test_thirty_two_labels_are_learnt_by_heart(school: School, rows: dict[str, Any], pooling: str) -> None:
    task = school.make_task(rows)
    assert task.labels == ("boy", "cat", "dog", "horse")
    network = school.make_network(task, pooling=pooling)
    school.learn(task, network, 60)
    scores = task.evaluate(network, "dev")
    assert scores["loss"] < 0.1
    assert scores["accuracy"] == scores["macro_f1"] == 1.0
    model = NativeModel(network, task.tokenizer, labels=task.labels)
    texts = [one for one, _ in school.PAIRS]
    found = list(classify(model, texts))
    assert [each.label for each in found] == [one.split()[1] for one in texts]
    assert found[0].probability == found[0].probabilities["cat"] > 0.9
    assert sum(found[0].probabilities.values()) == pytest.approx(1)
    assert classify(network, texts, tokenizer=task.tokenizer)[0].label == "LABEL_1"


def test_rows_are_read_for_their_labels_once(
    school: School, rows: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    first = school.make_task(rows)
    first.examples("train")

    def refuse(*_: object) -> None:
        raise AssertionError("rows are read again")

    monkeypatch.setattr(ClassificationSettings, "read_examples", refuse)
    again = build_task(rows, first.tokenizer)
    assert again.labels == first.labels
    assert labelled(again).answers.tolist() == labelled(first).answers.tolist()


def test_folders_named_after_labels_are_classes(school: School, tmp_path: Path) -> None:
    for name in ("train/pos/1", "train/neg/1", "test/pos/1"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.txt").write_text(f"a {name} film", encoding="utf-8")
    task = school.make_task({"name": "classification", "folder": str(tmp_path), "path": "{split}"})
    assert task.labels == ("neg", "pos")
    assert task.collate("train", [0, 1]).labels.tolist() == [0, 1]
    assert task.collate("test", [0]).labels.tolist() == [1]


@pytest.mark.parametrize(("long", "start", "end"), [("start", 14, 0), ("both ends", 7, 7)])
def test_long_texts_are_cut_as_asked(
    school: School, rows: dict[str, Any], long: str, start: int, end: int
) -> None:
    school.write_rows(Path(rows["folder"]) / "dev.tsv", [("cat", LONG, "x"), ("dog", "short", "x")])
    task = school.make_task(rows | {"max_length": 16, "long": long})
    examples = labelled(task, "dev")
    words = list(task.tokenizer.encode(LONG, special=False).ids)
    roles = task.tokenizer.roles
    kept = words[:start] + words[len(words) - end :]
    assert examples.rows[0].tolist() == [roles["class"], *kept, roles["separator"]]
    assert tuple(map(str, examples.notes)) == ("1 of 2 texts have more than 16 tokens and were cut.",)


def test_long_texts_are_skipped_or_refused(school: School, rows: dict[str, Any]) -> None:
    school.write_rows(Path(rows["folder"]) / "dev.tsv", [("cat", LONG, "x"), ("dog", "short", "x")])
    examples = labelled(school.make_task(rows | {"max_length": 16, "long": "skip"}), "dev")
    assert examples.answers.tolist() == [2]
    assert "were left out" in str(examples.notes[0])
    with pytest.raises(InputError, match=r"Example 1 of .* tokens, and there is room for 14"):
        school.make_task(rows | {"max_length": 16, "long": "refuse"}).examples("dev")


def test_two_texts_share_one_row(school: School, rows: dict[str, Any]) -> None:
    task = school.make_task(rows | {"second_text": 2})
    batch = task.collate("train", [3])
    _, (one, two) = 3, school.PAIRS[3]
    encoding = task.tokenizer.encode(one, two)
    assert batch.segments is not None
    assert batch.ids[0].tolist() == list(encoding.ids)
    assert batch.segments[0].tolist() == list(encoding.segments)
    network = school.make_network(task)
    school.learn(task, network, 5)
    cut = school.make_task(rows | {"second_text": 2, "max_length": 16})
    assert set(labelled(cut).lengths.tolist()) <= set(range(9, 17))


def test_words_are_hidden_while_learning_only(school: School, rows: dict[str, Any]) -> None:
    task = school.make_task(rows | {"word_dropout": 0.5})
    mask = task.tokenizer.roles["mask"]
    shares = [
        (task.collate(split, range(32)).ids == mask).double().mean().item() for split in ("train", "dev")
    ]
    assert shares[0] > 0.2
    assert shares[1] == 0


def test_a_label_that_training_lacks_is_a_broken_line(school: School, rows: dict[str, Any]) -> None:
    school.write_rows(Path(rows["folder"]) / "dev.tsv", [("cat", "a", "x"), ("cow", "b", "x")])
    with pytest.raises(InputError, match=r"dev.tsv:2: the label 'cow' is none of boy, cat, dog, horse"):
        school.make_task(rows).examples("dev")
    examples = labelled(school.make_task(rows | {"on_error": "skip"}), "dev")
    assert examples.answers.tolist() == [1]
    assert "1 broken line was skipped" in str(examples.notes[0])


def test_what_does_not_fit_is_refused(school: School, rows: dict[str, Any]) -> None:
    task = school.make_task(rows)
    with pytest.raises(ConfigurationError, match="The network has classes = 3, but the data need 4"):
        school.make_network(task, classes=3)
    with pytest.raises(ConfigurationError, match="head = 'classes'"):
        school.make_network(task, head="masked")
    wrong: dict[str, Any]
    for wrong in (
        {"label_smoothing": 1},
        {"max_length": 2},
        {"long": "middle"},
        {"labels": []},
        {"labels": ["alone"]},
        {"labels": ["same", "same"]},
    ):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            school.make_task(rows | wrong)
    model = NativeModel(school.make_network(task), task.tokenizer)
    with pytest.raises(InputError, match=r"Text 1 has .* tokens, and the model reads 64 at most"):
        classify(model, [LONG * 4])[0]


def test_long_and_short_texts_are_classified_together_as_alone(school: School, rows: dict[str, Any]) -> None:
    task = school.make_task(rows)
    model = NativeModel(school.make_network(task, pooling="mean"), task.tokenizer)
    texts = ["the cat", LONG * 4, "the dog sees the boy", "le chat"]
    together = list(classify(model, texts, long="start"))
    for text, found in zip(texts, together, strict=True):
        alone = classify(model, [text], long="start")[0]
        assert found.probabilities.keys() == alone.probabilities.keys()
        assert_near([*found.probabilities.values()], [*alone.probabilities.values()])
    assert list(classify(model, [])) == []


def test_more_labelled_text_is_learnt_from_in_pieces(
    school: School, rows: dict[str, Any], tmp_path: Path
) -> None:
    school.write_rows(tmp_path / "more.tsv", [("cat", LONG), ("dog", "short one")])
    task = school.make_task(rows | {"repeat": 2, "also": [{"path": "more.tsv", "words": 12, "repeat": 3}]})
    train = labelled(task)
    assert len(train.answers) == 2 * 32 + 3 * (3 + 1)  # thirty words are three pieces of ten
    first = task.tokenizer.decode(train.rows[64].tolist())
    assert first == " ".join(LONG.split()[:10])
    assert [task.labels[label] for label in train.answers[64:68]] == ["cat", "cat", "cat", "dog"]
    assert len(labelled(task, "dev").answers) == 32
    for wrong in ({"also": [{"path": "more.tsv", "words": 0}]}, {"also": [{"path": "x"}], "second_text": 2}):
        with pytest.raises(ConfigurationError):
            school.make_task(rows | wrong)
