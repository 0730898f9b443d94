"""Class weights: the training loss by hand in float64, scores untouched, impossible weights refused."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch

from glassformer.errors import ConfigurationError
from glassformer.tasks.class_weights import compute_class_weights
from glassformer.tasks.task import build_task
from tolerances import assert_near

School: TypeAlias = Any  # the fixture of conftest.py


@pytest.fixture
def table(school: School, tmp_path: Path) -> dict[str, Any]:
    """24 texts of one class, 8 of the other."""
    rows = [("cat", one) for one, _ in school.PAIRS[:24]] + [("dog", one) for one, _ in school.PAIRS[24:]]
    for split in ("train", "dev"):
        school.write_rows(tmp_path / f"{split}.tsv", rows)
    return {"name": "classification", "folder": str(tmp_path), "path": "{split}.tsv"}


def test_class_weights_multiply_the_training_loss_alone(school: School, table: dict[str, Any]) -> None:
    plain = school.make_task(table)
    balanced = build_task(table | {"class_weights": "balanced"}, plain.tokenizer)
    chosen = build_task(table | {"class_weights": {"dog": 5}, "label_smoothing": 0.1}, plain.tokenizer)
    network = school.make_network(plain).eval()
    for task in (balanced, chosen):
        task.accept(network.config)
    batch = plain.collate("train", range(32))
    with torch.no_grad():
        logits = network(batch.ids, batch.real).double()
    logarithms, truth = logits.log_softmax(-1).numpy(), batch.labels.numpy()
    losses = -logarithms[range(32), truth]
    # both classes count the same: 32 / (2 · 24) and 32 / (2 · 8)
    weights = np.array([2 / 3, 2.0])[truth]
    assert_near(balanced.loss(network, batch).item(), (weights * losses).sum())
    # a table: 1 and 5, divided by their mean over the labels
    smooth = 0.9 * losses - 0.1 * logarithms.mean(-1)
    weights = np.array([1, 5])[truth] / ((24 * 1 + 8 * 5) / 32)
    assert_near(chosen.loss(network, batch).item(), (weights * smooth).sum())
    assert balanced.evaluate(network, "dev") == plain.evaluate(network, "dev")
    assert plain.describe_loss() == []
    (told,) = balanced.describe_loss()
    assert "dog × 2, cat × 0.667" in str(told)
    assert "are not weighted" in str(told)


def test_their_mean_over_the_labels_is_one_and_a_class_without_labels_has_none() -> None:
    counts = {"a": 1, "b": 3, "c": 0}
    factors = compute_class_weights("balanced", counts, ("a", "b", "c"))
    assert factors == pytest.approx([2, 2 / 3, 0])
    factors = compute_class_weights({"a": 0}, counts, ("a", "b", "c"))
    assert factors == pytest.approx([0, 4 / 3, 4 / 3])


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({"cow": 1}, "tasks.class_weights.unknown"),
        ({"cat": -1}, "tasks.class_weights.wrong"),
        ({"cat": "much"}, "tasks.class_weights.wrong"),
        ({"cat": float("nan")}, "tasks.class_weights.wrong"),
        ({}, "tasks.class_weights.none"),
        ({"cat": 0, "dog": 0}, "tasks.class_weights.none"),
    ],
)
def test_weights_that_cannot_be_are_refused(
    school: School, table: dict[str, Any], weights: dict[str, Any], code: str
) -> None:
    with pytest.raises(ConfigurationError) as error:
        school.make_task(table | {"class_weights": weights}).describe_loss()
    assert error.value.message.code == code
