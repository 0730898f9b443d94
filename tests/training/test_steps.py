"""More padding changes no loss; compiled and recorded steps are the plain ones."""

import dataclasses
from pathlib import Path

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.model.loss import IGNORED
from glassformer.runlog import read_run
from glassformer.tasks.masked_language_modelling import MaskedLanguageModelling
from glassformer.tasks.task import TaskModule, build_task
from glassformer.text.batches import Batch
from glassformer.text.vocabulary import VocabularySettings, train_vocabulary
from glassformer.training.recipe import train
from glassformer.training.steps import GRID, PLACES, ROWS, pad_to_grid

SMALL = {"layers": 2, "width": 16, "heads": 2, "feed_forward": 32, "max_length": 64, "dropout": 0.0}


@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
def test_padding_to_the_grid_changes_no_sum(shape: str) -> None:
    torch.manual_seed(0)
    from glassformer.model.transformer import Transformer

    network = Transformer(ModelConfig(30, shape=shape, **SMALL))  # type: ignore[arg-type]
    ids, target = torch.randint(3, 30, (3, 9)), torch.randint(3, 30, (3, 7))
    labels = target.clone()
    labels[1, 4:] = IGNORED
    real = torch.ones(3, 9, dtype=torch.bool)
    real[2, 5:] = False
    batch = Batch(target, labels, 18, 18)
    if shape == "encoder-decoder":
        batch = Batch(ids, labels, 18, 41, real=real, target=target)

    def sum_loss(batch: Batch) -> torch.Tensor:
        if batch.target is None:
            return network.loss(network.decode(batch.ids), batch.labels) * batch.count
        memory = network.encode(batch.ids, batch.real)
        hidden = network.decode(batch.target, memory=memory, memory_real=batch.real)
        return network.loss(hidden, batch.labels) * batch.count

    padded = pad_to_grid(batch, network.config)
    assert all(len(part) % ROWS == 0 and part.shape[1] % GRID == 0 for part in (padded.ids, padded.labels))
    assert (padded.real is None) == (shape == "decoder")
    torch.testing.assert_close(sum_loss(padded), sum_loss(batch))


def test_places_follow_their_labels(tmp_path: Path) -> None:
    text = "the cat sat on the mat and the dog ran to the red house " * 40
    for split in ("train", "dev"):
        (tmp_path / f"{split}.txt").write_text(text)
    tokenizer = train_vocabulary([text], VocabularySettings(kind="wordpiece", size=60), style="pair")
    table = {
        "name": "masked_language_modelling",
        "path": "{split}.txt",
        "folder": str(tmp_path),
        "context": 31,
        "relation": "sentence-order",
    }
    task = build_task(table, tokenizer)
    assert isinstance(task, MaskedLanguageModelling)
    torch.manual_seed(0)
    from glassformer.model.transformer import Transformer

    network = Transformer(ModelConfig(**(task.network_settings() | SMALL)))
    task.accept(network.config)
    batch = task.collate("train", range(5))
    padded = pad_to_grid(batch, network.config)
    assert padded.places is not None
    assert padded.ids.shape == padded.labels.shape == (ROWS, 36)  # 32 would be a multiple of 16
    assert len(padded.places) % PLACES == 0
    module = TaskModule(task, network)
    torch.testing.assert_close(module(padded), module(batch))
    counted = dataclasses.replace(padded, count=torch.tensor(float(batch.count)))  # type: ignore[arg-type]
    torch.testing.assert_close(module(counted), module(batch))


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["recipe", "translation"])
@pytest.mark.parametrize("how", ["default", "graphs", "replay"])
def test_compiled_steps_learn_what_plain_ones_learn(
    request: pytest.FixtureRequest, tmp_path: Path, how: str, kind: str
) -> None:
    recipe: Path = request.getfixturevalue(kind)
    words = ["model.dropout=0.0", "train.precision=float32", "train.accumulate=2", "train.steps=30"]
    for name in ("no", how):
        train(recipe, [*words, f"train.compile={name}"], runs=tmp_path, name=name, silent=True)
    plain = read_run(tmp_path / "no").scalars["loss"].values
    assert read_run(tmp_path / how).scalars["loss"].values == pytest.approx(plain, rel=1e-3)


@pytest.mark.gpu
@pytest.mark.parametrize("accumulate", [1, 2])  # a graph may be recorded in the second batch of an update
def test_a_gpu_run_resumes(recipe: Path, tmp_path: Path, accumulate: int) -> None:
    words = ["train.schedule=constant", "train.compile=graphs", "train.ema=0.9"]
    words.append(f"train.accumulate={accumulate}")
    train(recipe, words, runs=tmp_path, name="whole", silent=True)
    train(recipe, [*words, "train.steps=6"], runs=tmp_path, name="halved", silent=True)
    train(recipe, [*words, "train.steps=12"], runs=tmp_path, name="halved", resume=True, silent=True)
    whole = read_run(tmp_path / "whole").scalars["loss"].values
    assert read_run(tmp_path / "halved").scalars["loss"].values == pytest.approx(whole, rel=1e-2)
