"""Tiny random models of every kind, written as folders: for tests that need something to open."""

from pathlib import Path

import torch

from glassformer.config import COUNTED, ModelConfig, RecurrentConfig
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import save_checkpoint

WORDS = ["the", "animal", "street", "was", "too", "tired", "to", "cross"]
TAGS = [">>en<<", ">>fr<<"]


def build_model(folder: Path, shape: str, head: str = "language", **words: object) -> Path:
    """Write one model."""
    tokenizer = build_words([*WORDS, *TAGS] if shape == "encoder-decoder" else WORDS)
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
        "classes": 2 if head in COUNTED else 0,
        "segments": 2 if shape == "encoder" else 0,
        "padding_id": tokenizer.roles["padding"],
        "start_id": tokenizer.roles["start"],
        "end_id": tokenizer.roles["end"],
    }
    network = Transformer(ModelConfig(**{**settings, **words}))  # type: ignore[arg-type]
    labels = ("bad", "good") if head in COUNTED else ()
    save_checkpoint(
        network, folder, tokenizer, generation=GenerationSettings(max_new_tokens=6), labels=labels
    )
    return folder


def build_recurrent(folder: Path) -> Path:
    """Write a recurrent translator with attention."""
    tokenizer = build_words(WORDS)
    torch.manual_seed(0)
    roles = tokenizer.roles
    config = RecurrentConfig(
        vocabulary_size=tokenizer.size,
        width=16,
        embedding_width=16,
        max_length=24,
        dropout=0.0,
        padding_id=roles["padding"],
        start_id=roles["start"],
        end_id=roles["end"],
    )
    save_checkpoint(RecurrentTranslator(config), folder, tokenizer)
    return folder


def build_theirs(folder: Path) -> Path:
    """Write a model that only transformers has a network for."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    tokenizer = build_words(WORDS, end=False)
    roles = tokenizer.roles
    ids = {"bos_token_id": roles["start"], "eos_token_id": roles["end"], "pad_token_id": roles["padding"]}
    LlamaForCausalLM(LlamaConfig(vocab_size=tokenizer.size, **sizes, **ids)).save_pretrained(folder)
    tokenizer.save(folder)
    return folder


def build_zoo(folder: Path) -> Path:
    """Write one model of each kind, as the zoo has them."""
    build_model(folder / "decoder", "decoder")
    build_model(folder / "translator", "encoder-decoder")
    build_model(folder / "masked", "encoder", "masked")
    build_model(folder / "classifier", "encoder", "classes")
    build_model(folder / "encoder", "encoder", "none")
    build_model(folder / "endless", "decoder", positions="rotary")
    sizes = {"layers": 24, "width": 512, "feed_forward": 2048, "heads": 8}
    build_model(folder / "slow", "decoder", positions="rotary", end_id=None, **sizes)  # and without end
    build_recurrent(folder / "recurrent")
    (folder / "recurrent" / "card.toml").write_text('languages = ["en", "fr"]\n')
    build_theirs(folder / "theirs")
    return folder
