"""A tiny network learns from arrays on which side a picture is bright, and is saved without a tokenizer."""

from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from glassformer.errors import ConfigurationError
from glassformer.loaded.perceiving import scale_pixels
from glassformer.tasks.task import build_task
from glassformer.training.evaluate import evaluate
from small_media import draw_sides, write_arrays, write_table

RECIPE = """
[task]
name = "picture_classification"
folder = "{folder}"
path = "sides.npz"
shift = 1

[model]
picture_size = 8
patch_size = 4
color = false
layers = 1
width = 16
heads = 2
feed_forward = 32
positions = "learned"
norm_position = "pre"
scale_embeddings = false
dropout = 0.0

[batches]
tokens = 160

[train]
steps = 120
rate = 5e-3
warmup = 5
evaluate_every = 120
save_every = 120
device = "cpu"

[monitor]
every = 30
"""


def test_it_learns_and_is_opened_again(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    recipe = tmp_path / "sides.toml"
    recipe.write_text(RECIPE.format(folder=tmp_path), encoding="utf-8")
    outcome = gf.train(recipe, runs=tmp_path / "runs", silent=True)
    assert evaluate(outcome.last, "test", device="cpu")["accuracy"] > 0.95
    model = gf.load(outcome.last)
    assert model.tokenizer is None
    assert model.labels == ("0", "1")
    images, labels = draw_sides(8, seed=2)
    found = [each.label for each in gf.classify(model, list(images))]
    assert np.mean([one == str(other) for one, other in zip(found, labels, strict=True)]) > 0.8


def test_tables_have_labels_by_name(tmp_path: Path) -> None:
    write_table(tmp_path)
    table = {"name": "picture_classification", "folder": str(tmp_path), "path": "sides.tsv"}
    table |= {"archive": "sides.tar.gz", "file": "file", "label": "en"}
    task = build_task(table, None)
    assert task.labels == ("left", "right")
    config = gf.ModelConfig(**task.network_settings(), picture_size=8, patch_size=4, width=16, heads=2)
    task.accept(config)
    batch = task.collate("train", [0, 1, 2])
    assert batch.ids.shape == (3, 3, 8, 8)
    assert sum(task.count_classes("train").values()) == len(task.examples("train").lengths)
    with pytest.raises(ConfigurationError, match="reads = 'picture'"):
        task.accept(gf.ModelConfig(9))
    assert task.identity() == build_same(table, config).identity()


def test_some_pictures_of_train_are_shown_dark_on_light(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    table = {"name": "picture_classification", "folder": str(tmp_path), "path": "sides.npz", "inverted": 0.4}
    task = build_task(table, None)
    size = {"picture_size": 8, "patch_size": 4, "color": False, "width": 16, "heads": 2}
    task.accept(gf.ModelConfig(**task.network_settings(), **size))
    count = len(task.examples("train").lengths)
    given = scale_pixels(task.network_config, task.media("train").pixels.transpose(0, 3, 1, 2))
    shown = task.collate("train", range(count), 0).ids.numpy()
    same, inverted = (np.abs(shown - sign * given).max(axis=(1, 2, 3)) < 1e-5 for sign in (1, -1))
    assert (same ^ inverted).all()
    assert 0.3 < inverted.mean() < 0.5


def build_same(table: dict[str, str], config: gf.ModelConfig):
    task = build_task(table, None)
    task.accept(config)
    return task
