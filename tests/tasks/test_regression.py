"""Regression: numbers of any unit are learnt, and scored as float64 by hand scores them."""

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch

from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.native import NativeModel
from glassformer.tasks.regression import predict_numbers
from tolerances import assert_near

School: TypeAlias = Any  # the fixture of conftest.py
AGES = {"cat": 1_200_000.0, "dog": 1_500_000.0, "boy": 900_000.0, "horse": 2_700_000.0}


@pytest.fixture
def table(school: School, tmp_path: Path) -> dict[str, Any]:
    """Numbers around a million, and small ones, for 32 sentences."""
    rows = [(f"{AGES[one.split()[1]]}", f"{len(one) / 100}", one) for one, _ in school.PAIRS]
    for split in ("train", "dev"):
        school.write_rows(tmp_path / f"{split}.tsv", rows)
    return {"name": "regression", "folder": str(tmp_path), "path": "{split}.tsv", "text": 2}


def make(school: School, table: dict[str, Any], **words: Any) -> tuple[Any, Any]:
    task = school.make_task(table)
    network = school.make_network(task, **words)
    task.prepare(network)
    return task, network


def test_numbers_of_any_unit_are_learnt(school: School, table: dict[str, Any]) -> None:
    task, network = make(school, table, pooling="mean")
    assert task.labels == ("value",)
    before = task.evaluate(network, "dev")
    school.learn(task, network, 80)
    scores = task.evaluate(network, "dev")
    assert before["loss"] > 0.5
    assert scores["loss"] < 0.05
    assert scores["pearson"] > 0.95
    model = NativeModel(network, task.tokenizer, labels=task.labels)
    found = predict_numbers(model, ["the cat sees the dog", " ", "the horse sees the dog"])
    assert found[1] == {}
    assert found[0]["value"] < 1.8e6 < found[2]["value"]
    assert predict_numbers(model, ["the cat sees the dog. " * 30], long="split")[0].keys() == {"value"}
    samples = task.samples(network, "dev", 2)
    assert float(samples[0].wanted or 0) == AGES["cat"]


def test_scores_are_those_of_float64(school: School, table: dict[str, Any]) -> None:
    task, network = make(school, table | {"values": [0, 1], "labels": ["age", "size"]})
    examples = task.answered("dev")
    batch = task.collate("dev", range(32))
    with torch.no_grad():
        found = network.eval()(batch.ids, batch.real).double().numpy()
    truth = np.array(examples.answers)
    scores = task.evaluate(network, "dev")

    def rank(values: Any) -> Any:  # equal ones share the mean
        return np.array([(values < each).sum() + ((values == each).sum() + 1) / 2 for each in values])

    for place, name in enumerate(("age", "size")):
        one, two = found[:, place], truth[:, place]
        wanted = {
            "mse": np.mean((one - two) ** 2),
            "mae": np.mean(np.abs(one - two)),
            "pearson": np.corrcoef(one, two)[0, 1],
            "spearman": np.corrcoef(rank(one), rank(two))[0, 1],
        }
        for score, value in wanted.items():
            assert_near(scores[f"{score}.{name}"], value)
    assert scores["mae"] == pytest.approx((scores["mae.age"] + scores["mae.size"]) / 2)
    deviations = truth.std(0)
    assert_near(scores["loss"], np.mean(((found - truth) / deviations) ** 2))
    loss = task.loss(network, batch).item()
    assert_near(loss / 32, scores["loss"])
    assert set(task.score_names()) == set(scores)


def test_the_network_keeps_the_unit_that_it_brings(school: School, table: dict[str, Any]) -> None:
    task, network = make(school, table)
    center, scale = network.head.center.item(), network.head.scale.item()
    ages = np.array([AGES[one.split()[1]] for one, _ in school.PAIRS])
    assert_near([center / 1e6, scale / 1e6], [ages.mean() / 1e6, ages.std() / 1e6])
    other = school.make_task(table | {"values": [1]})
    other.prepare(network)
    assert (network.head.center.item(), network.head.scale.item()) == (center, scale)
    (told,) = task.describe_loss()
    assert "from 9e+05 to 2.7e+06" in str(told)


def test_numbers_of_json_and_what_is_no_number(school: School, tmp_path: Path) -> None:
    rows = [{"score": 0.5, "text": "a cat"}, {"score": 2, "text": "a dog"}]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    table = {"name": "regression", "folder": str(tmp_path), "path": "{split}.jsonl"}
    columns = {"values": ["score"], "text": "text"}
    task = school.make_task(table | columns)
    assert task.labels == ("score",)
    assert task.answered("train").answers.tolist() == [[0.5], [2.0]]
    with pytest.raises(InputError, match="'a cat' is not a number"):
        school.make_task(table | {"values": ["text"], "text": "text"}).examples("train")
    for wrong in ({"values": []}, {"values": [0, 0]}, {"labels": ["a", "b"]}):
        with pytest.raises(ConfigurationError):
            school.make_task(table | wrong)
    with pytest.raises(ConfigurationError, match="head = 'numbers'"):
        school.make_network(task, head="classes")


def test_a_large_offset_takes_no_difference_away(school: School, tmp_path: Path) -> None:
    seconds = [1_700_000_000.0 + place for place in range(30)]
    rows = [(f"{second}", one) for second, (one, _) in zip(seconds, school.PAIRS, strict=False)]
    for split in ("train", "dev"):
        school.write_rows(tmp_path / f"{split}.tsv", rows)
    task, network = make(school, {"name": "regression", "folder": str(tmp_path), "path": "{split}.tsv"})
    batch = task.collate("dev", range(30))
    layer: list[torch.Tensor] = []
    handle = network.head.classes.register_forward_hook(lambda *given: layer.append(given[2]))
    with torch.no_grad():
        loss = task.loss(network.eval(), batch).item() / 30
    handle.remove()
    truth = np.array(seconds)
    spread = truth.std()
    squares = (layer[0][:, 0].double().numpy() - (truth - truth.mean()) / spread) ** 2
    assert squares.mean() > 0.5
    scores = task.evaluate(network, "dev")
    assert_near([loss, scores["loss"], scores["mse"] / spread**2], [squares.mean()] * 3)
    model = NativeModel(network, task.tokenizer, labels=task.labels)
    (found,) = predict_numbers(model, [school.PAIRS[0][0]])
    wanted = layer[0][0, 0].item()
    assert_near((found["value"] - truth.mean()) / spread, wanted)
    assert network.to(torch.float16).head.center.item() == truth.mean()  # weights may be rounded, it may not


def test_a_column_of_one_number_has_no_spread(school: School, tmp_path: Path) -> None:
    school.write_rows(tmp_path / "train.tsv", [("0.1", "3.0", one) for one, _ in school.PAIRS[:7]])
    table = {"name": "regression", "folder": str(tmp_path), "path": "{split}.tsv", "values": [0, 1]}
    task, network = make(school, table | {"text": 2})
    assert np.std([0.1] * 7) > 0  # a rounding error
    assert network.head.scale.tolist() == [1, 1]
    assert str(task.read_answer(("1.5", "inf"))) == "'inf' is not a number"
