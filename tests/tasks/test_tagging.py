"""Tagging: tags learnt by heart; labels stand at first tokens; scores as by hand."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch

from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.native import NativeModel
from glassformer.model.loss import IGNORED
from glassformer.tasks.scores import SCORES, own_score
from glassformer.tasks.tagging import Tagged, split_words, tag
from glassformer.tasks.task import build_task
from tolerances import assert_near

School: TypeAlias = Any  # the fixture of conftest.py
KINDS = {"the": "DET", "sees": "VERB", "loves": "VERB"}


def write(path: Path, sentences: list[str], kinds: dict[str, str]) -> None:
    """One word a line, with its tag."""
    text = "\n\n".join(
        "\n".join(f"{word}\t{kinds.get(word, 'NOUN')}" for word in each.split()) for each in sentences
    )
    path.write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def table(school: School, tmp_path: Path) -> dict[str, Any]:
    """32 sentences with parts of speech."""
    for split in ("train", "dev"):
        write(tmp_path / f"{split}.tsv", [one for one, _ in school.PAIRS], KINDS)
    return {"name": "tagging", "folder": str(tmp_path), "path": "{split}.tsv"}


def tagged(task: Any, split: str = "train") -> Tagged:
    examples = task.examples(split)
    assert isinstance(examples, Tagged)
    return examples


def test_tags_are_learnt_by_heart_and_given_to_words(school: School, table: dict[str, Any]) -> None:
    task = school.make_task(table)
    assert task.labels == ("DET", "NOUN", "VERB")
    network = school.make_network(task)
    school.learn(task, network, 40)
    scores = task.evaluate(network, "dev")
    assert scores["accuracy"] == scores["macro_f1"] == scores["f1.DET"] == 1
    assert set(scores) == set(task.score_names())
    model = NativeModel(network, task.tokenizer, labels=task.labels)
    first, second, blank = tag(model, ["the cat sees the dog", ["the", "horse"], ""])
    assert first.words == ("the", "cat", "sees", "the", "dog")
    assert first.tags == ("DET", "NOUN", "VERB", "DET", "NOUN")
    assert second.tags == ("DET", "NOUN")
    assert min(second.probabilities) > 0.5
    assert blank.words == blank.tags == ()
    (sample,) = task.samples(network, "dev", 1)
    assert sample == ("the cat sees the cat", *["the/DET cat/NOUN sees/VERB the/DET cat/NOUN"] * 2)


def test_a_label_stands_at_the_first_token_of_its_word(school: School, table: dict[str, Any]) -> None:
    task = school.make_task(table, {"size": 270})  # few merges: words are several tokens
    ids, labels = tagged(task).rows[0].tolist(), tagged(task).labels[0].tolist()
    tokenizer = task.tokenizer
    assert ids == list(tokenizer.encode("the cat sees the cat").ids)  # as if it were read as a whole
    assert len(ids) > 7
    marked = [place for place, label in enumerate(labels) if label != IGNORED]
    starts = [0]  # where each word begins
    for word in ("the", " cat", " sees", " the"):
        starts.append(starts[-1] + len(tokenizer.encode(word, special=False).ids))
    assert marked == [1 + start for start in starts]
    assert [task.labels[labels[place]] for place in marked] == ["DET", "NOUN", "VERB", "DET", "NOUN"]
    batch = task.collate("train", range(4))
    assert batch.count == 20


def test_scores_and_loss_are_those_of_float64(school: School, table: dict[str, Any]) -> None:
    task = school.make_task(table)
    weighted = build_task(table | {"class_weights": "balanced"}, task.tokenizer)
    network = school.make_network(task).eval()
    weighted.accept(network.config)
    batch = task.collate("dev", range(32))
    with torch.no_grad():
        logits = network(batch.ids, batch.real).double()
    counted = (batch.labels != IGNORED).numpy()
    logarithms, truth = logits.log_softmax(-1).numpy()[counted], batch.labels.numpy()[counted]
    losses, guesses = -logarithms[range(len(truth)), truth], logarithms.argmax(-1)
    scores = task.evaluate(network, "dev")
    assert_near(scores["loss"], losses.mean())
    assert_near(task.loss(network, batch).item(), losses.sum())
    assert scores["accuracy"] == pytest.approx((guesses == truth).mean())
    for number, label in enumerate(task.labels):
        both = ((guesses == number) & (truth == number)).sum()
        either = (guesses == number).sum() + (truth == number).sum()
        assert scores[f"f1.{label}"] == pytest.approx(2 * both / either)
    counts = np.bincount(truth)
    weights = (len(truth) / (len(counts) * counts))[truth]
    assert_near(weighted.loss(network, batch).item(), (weights * losses).sum())
    assert weighted.evaluate(network, "dev") == scores


def test_names_of_several_words_are_scored_as_wholes(school: School, table: dict[str, Any]) -> None:
    folder = Path(table["folder"])
    kinds = dict.fromkeys(("the", "sees", "loves", "le"), "O") | {"cat": "B-PET", "dog": "B-PET"}
    for split in ("train", "dev"):
        write(folder / f"{split}.tsv", [one for one, _ in school.PAIRS], kinds | {"boy": "O", "horse": "O"})
    task = school.make_task(table | {"labels": ["B-PET", "I-PET", "O"]})
    network = school.make_network(task)
    own_score("sentences_right")(
        lambda one, two: float(np.mean([a == b for a, b in zip(one, two, strict=True)]))
    )
    task.scores = ("sentences_right",)
    school.learn(task, network, 40)
    scores = task.evaluate(network, "dev")
    SCORES.discard("sentences_right")
    assert scores["span_f1"] == scores["span_recall"] == scores["span_precision"] == 1
    assert scores["span_f1.PET"] == 1
    assert scores["sentences_right"] == 1  # answers of a plug-in's score are the tags of each sentence
    assert {"span_f1", "span_precision", "span_recall"} <= set(task.score_names())


def test_long_sentences_are_split_skipped_or_refused(school: School, table: dict[str, Any]) -> None:
    long = " ".join(one for one, _ in school.PAIRS[:4])  # 20 words
    write(Path(table["folder"]) / "dev.tsv", [long, "the cat"], KINDS)
    split = school.make_task(table | {"max_length": 12})
    examples = tagged(split, "dev")
    assert examples.lengths.max() <= 12
    assert int((examples.labels.ids != IGNORED).sum()) == 22  # no label is lost
    assert "1 of 2 texts have more than 12 tokens and were split." in map(str, examples.notes)
    assert len(tagged(school.make_task(table | {"max_length": 12, "long": "skip"}), "dev").lengths) == 1
    write(Path(table["folder"]) / "dev.tsv", [long], KINDS)
    with pytest.raises(InputError) as error:
        school.make_task(table | {"max_length": 12, "long": "skip"}).examples("dev")
    assert error.value.message.code == "tasks.no_rows"
    with pytest.raises(InputError, match="room for 10"):
        school.make_task(table | {"max_length": 12, "long": "refuse"}).examples("dev")
    assert list(split_words([3, 3, 9, 1], 6)) == [(0, 2), (2, 3), (3, 4)]
    model = NativeModel(school.make_network(split, max_length=12), split.tokenizer, labels=split.labels)
    assert len(tag(model, [long])[0].tags) == 20


def test_a_running_text_is_parted_into_words_and_signs(school: School, table: dict[str, Any]) -> None:
    task = school.make_task(table)
    model = NativeModel(school.make_network(task), task.tokenizer, labels=task.labels)
    (found,) = tag(model, ["Well, the cat-lover sees 猫和 3 dogs!"])
    assert found.words == (*("Well", ",", "the", "cat", "-", "lover", "sees", "猫", "和", "3", "dogs", "!"),)
    whole = ["हिन्दी", "caf\u0065\u0301s", "می\u200cخواهم", "か\u3099", "ぎ", "👩\u200d🚀", "❤\ufe0f", "."]
    assert tag(model, ["".join(f" {word}" for word in whole)])[0].words == (*whole,)
    assert tag(model, ["हिन्दी, か\u3099ぎ!"])[0].words == ("हिन्दी", ",", "か\u3099", "ぎ", "!")
    with pytest.raises(InputError, match="Text 1 is of type int"):
        tag(model, [3])  # type: ignore[list-item]


def test_many_texts_run_together(
    school: School, table: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = school.make_task(table)
    model = NativeModel(school.make_network(task, max_length=12), task.tokenizer, labels=task.labels)
    texts = [" ".join(one for one, _ in school.PAIRS[:count]) for count in (1, 4, 0, 2, 1, 3)] * 5
    alone = [tag(model, [text])[0] for text in texts]
    sizes: list[int] = []
    run = model.tag
    monkeypatch.setattr(model, "tag", lambda rows: (sizes.append(len(rows)), run(rows))[1])
    together = tag(model, texts)
    assert [(each.words, each.tags) for each in together] == [(each.words, each.tags) for each in alone]
    for one, two in zip(together, alone, strict=True):
        assert_near(one.probabilities, two.probabilities, layers=1)
    assert len(sizes) == 2
    assert sum(sizes) > len(texts)  # some are several rows


def test_what_does_not_fit_is_refused(school: School, table: dict[str, Any]) -> None:
    task = school.make_task(table)
    with pytest.raises(ConfigurationError, match="head = 'tags'"):
        school.make_network(task, head="classes")
    with pytest.raises(ConfigurationError, match="classes = 7"):
        school.make_network(task, classes=7)
    write(Path(table["folder"]) / "dev.tsv", ["the cat"], KINDS | {"cat": "X"})
    with pytest.raises(InputError, match="the label 'X' is none of DET, NOUN, VERB"):
        school.make_task(table).examples("dev")
    assert task.count_classes("train") == {"DET": 64, "NOUN": 64, "VERB": 32}
