"""Small networks and batches to look into."""

import torch

from glassformer.config import ModelConfig
from glassformer.model.loss import IGNORED
from glassformer.model.transformer import Transformer
from glassformer.text.batches import Batch

SMALL = {"layers": 2, "width": 16, "heads": 2, "feed_forward": 32, "max_length": 64, "dropout": 0.3}


def make(shape: str, **words: object) -> Transformer:
    torch.manual_seed(0)
    return Transformer(ModelConfig(30, shape=shape, **(SMALL | words))).train()  # type: ignore[arg-type]


def make_batch(shape: str) -> Batch:
    """Two texts of unequal length."""
    words = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 30, (2, 9), generator=words)
    target = torch.randint(3, 30, (2, 7), generator=words)
    real = torch.ones(2, 9, dtype=torch.bool)
    real[1, 6:] = False
    labels = target.roll(-1, 1)
    labels[1, 4:] = IGNORED
    if shape == "encoder-decoder":
        return Batch(ids, labels, 11, 25, real=real, target=target)
    if shape == "decoder":
        return Batch(target, labels, 11, 11)
    return Batch(ids, ids, 15, 15, real=real)
