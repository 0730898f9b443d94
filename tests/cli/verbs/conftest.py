"""A recording and a recipe that several verbs are tried on."""

import random
from pathlib import Path

import pytest

from glassformer import bundle, record

TEXT = "the animal was too tired to cross the street"
RECIPE = """
[task]
name = "language_modelling"
path = "{{split}}.txt"
folder = "{folder}"
context = 16

[tokenizer]
kind = "characters"

[model]
layers = 1
width = 16
heads = 2
feed_forward = 32
max_length = 32

[batches]
tokens = 128

[train]
steps = 6
device = "cpu"
save_every = 3
evaluate_every = 6
log_every = 1

[monitor]
every = 3
"""


@pytest.fixture
def file(decoder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "one.bundle"
    bundle.save(record(decoder, TEXT), path)
    return path


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # runs/ is made where one stands
    words = random.Random(7)
    for split, lines in (("train", 40), ("dev", 8)):
        text = "\n".join(" ".join(words.choices(["the", "cat", "sat"], k=8)) for _ in range(lines))
        (tmp_path / f"{split}.txt").write_text(text)
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE.format(folder=tmp_path))
    return path
