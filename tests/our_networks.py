"""Tiny networks of ours whose heads differ, and their vocabulary."""

from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.recording import Recording
from glassformer.text.builders import build_words

ENGLISH = ["the", "cat", "sees", "dog", "red", "big"]


WORDS = build_words([*ENGLISH, "le", "chat", "voit", ">>fr<<"])


TEXT = "the cat sees the big dog"


def build(**words: Any) -> Transformer:
    """A tiny network whose heads differ: far from uniform, so that a mix-up shows."""
    settings: dict[str, Any] = {
        "layers": 2,
        "width": 16,
        "heads": 2,
        "feed_forward": 24,
        "max_length": 20,
        "start_id": 2,
        "end_id": 3,
        "dropout": 0.3,
        "attention_dropout": 0.3,
    }
    torch.manual_seed(1)
    network = Transformer(ModelConfig(vocabulary_size=WORDS.size, **{**settings, **words}))
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "attention.qkv" in name or "cross.q" in name or "cross.kv" in name:
                parameter.mul_(4)
    return network


def build_recurrent(context: str = "attention") -> RecurrentTranslator:
    torch.manual_seed(1)
    config = RecurrentConfig(
        vocabulary_size=WORDS.size,
        context=context,  # type: ignore[arg-type]
        width=8,
        embedding_width=6,
        layers=2,
        max_length=20,
        start_id=2,
        end_id=3,
    )
    return RecurrentTranslator(config)


def watch(window: nn.Module) -> list[Tensor]:
    seen: list[Tensor] = []
    window.register_forward_hook(lambda module, inputs, output: seen.append(output.detach()[0]))
    return seen


def names(recording: Recording) -> list[str]:
    return [each.name for each in recording.maps]


def state_of(network: nn.Module) -> list[tuple[bool, int, int]]:
    return [
        (each.training, len(each._forward_hooks), len(each._forward_pre_hooks)) for each in network.modules()
    ]
