"""Tiny runs: a few sentences, a network of a few thousand weights, dropout on."""

import random
from pathlib import Path

import pytest

WORDS = ("the", "cat", "dog", "sat", "on", "mat", "ran", "to", "a", "red", "house", "and", "saw", "it")
RECIPE = """
[task]
name = "language_modelling"
path = "{split}.txt"
folder = "FOLDER"
context = 16

[tokenizer]
kind = "characters"

[model]
layers = 2
width = 16
heads = 2
feed_forward = 32
max_length = 64
dropout = 0.1

[batches]
tokens = 128

[train]
steps = 12
rate = 5e-3
schedule = "cosine"
warmup = 3
save_every = 3
evaluate_every = 4
log_every = 1

[monitor]
every = 4
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe with its text beside it."""
    words = random.Random(7)
    for split, lines in (("train", 60), ("dev", 8)):
        text = "\n".join(" ".join(words.choices(WORDS, k=8)) for _ in range(lines))
        (tmp_path / f"{split}.txt").write_text(text)
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE.replace("FOLDER", str(tmp_path)))
    return path


TRANSLATION = """
[task]
name = "translation"
folder = "FOLDER"
consistency = 2.5

[[task.files]]
path = "{split}.tsv"
languages = ["en", "fr"]

[tokenizer]
size = 300
"""


@pytest.fixture
def translation(recipe: Path) -> Path:
    """A recipe of a translator that learns from two passes through every batch."""
    words = random.Random(8)
    for split, lines in (("train", 60), ("dev", 8)):
        texts = [" ".join(words.choices(WORDS, k=words.randint(2, 6))) for _ in range(lines)]
        pairs = "".join(f"{text}\t{text[::-1]}\n" for text in texts)
        (recipe.parent / f"{split}.tsv").write_text(pairs)
    path = recipe.parent / "translation.toml"
    _, model, others = RECIPE.partition("\n[model]")
    path.write_text(TRANSLATION.replace("FOLDER", str(recipe.parent)) + model + others)
    return path
