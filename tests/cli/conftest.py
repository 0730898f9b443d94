"""Small random models in folders, and the command line as a function."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from glassformer import cli
from glassformer.config import ModelConfig
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import save_checkpoint

WORDS = ["the", "animal", "street", "was", "too", "tired", "to", "cross", ">>de<<"]

Command = Callable[..., str]


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a model and gives its folder."""

    def write(shape: str, head: str = "language", **words: object) -> Path:
        tokenizer = build_words(WORDS)
        torch.manual_seed(0)
        settings: dict[str, object] = {
            "vocabulary_size": tokenizer.size,
            "shape": shape,
            "head": head,
            "layers": 2,
            "width": 16,
            "heads": 2,
            "feed_forward": 32,
            "max_length": 24,
            "dropout": 0.0,
            "padding_id": tokenizer.roles["padding"],
            "start_id": tokenizer.roles["start"],
            "end_id": tokenizer.roles["end"],
        }
        network = Transformer(ModelConfig(**{**settings, **words}))  # type: ignore[arg-type]
        folder = tmp_path / f"{shape}-{head}"
        labels = ("bad", "good") if head == "classes" else ()
        habit = GenerationSettings(max_new_tokens=6)
        save_checkpoint(network, folder, tokenizer, generation=habit, labels=labels)
        return folder

    return write


@pytest.fixture
def decoder(build: Callable[..., Path]) -> Path:
    return build("decoder")


@pytest.fixture
def translator(build: Callable[..., Path]) -> Path:
    return build("encoder-decoder")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """What a command prints when all is well."""

    def call(*words: object) -> str:
        assert cli.main([str(word) for word in words]) == 0
        return capsys.readouterr().out

    return call


@pytest.fixture
def complain(capsys: pytest.CaptureFixture[str]) -> Command:
    """The one sentence that a command prints when something is wrong."""

    def call(*words: object) -> str:
        assert cli.main([str(word) for word in words]) == 2
        printed = capsys.readouterr()
        assert printed.err.startswith("glassformer: ")
        assert printed.err.count("\n") == 1
        assert printed.out == ""
        return printed.err

    return call
