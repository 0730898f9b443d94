"""Shuffled words, with and without positions: do outputs permute with their inputs?

In:   a sentence, an order, a kind of positions.
Out:  how much each word's output changes when the words change places, and which words look alike.
"""

from typing import cast

import torch
from torch import Tensor

from glassformer.config import ModelConfig, Positions
from glassformer.lessons.figures import axis, format_number, matrix, measure, numbers, percent, seeded, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Bars
from glassformer.messages import message
from glassformer.model.positions import RelativeBias
from glassformer.model.transformer import Transformer
from glassformer.rounding import rounding

WIDTH = 64
LAYERS = 2


@torch.no_grad()
def compute(inputs: Inputs) -> Result:
    """Run an untrained encoder on both orders: what is shown holds for any weights."""
    text, kind = inputs.text("text"), inputs.text("positions")
    words = text.split()
    space = " " if len(words) > 1 else ""
    words = words if space else list(text)  # without spaces, as in Chinese, characters
    order = choose_order(len(words), inputs.text("shuffle"), inputs.integer("seed"))
    vocabulary = sorted(set(words))
    ids = torch.tensor([vocabulary.index(word) for word in words])
    network = build(len(vocabulary), len(words), kind, inputs.integer("seed"))
    straight, shuffled = (network.encode(each[None])[0] for each in (ids, ids[order]))  # (token, width)
    moved = torch.empty_like(straight)
    moved[order] = shuffled  # each word's output back at its old place
    change = (moved - straight).norm(dim=-1) / straight.norm(dim=-1)  # (token,)
    apart = torch.cdist(straight.double()[None], straight.double()[None])[0]
    shuffled_words = [words[place] for place in order.tolist()]
    largest = float(change.max())
    bars = Bars(
        id="change",
        title=message("lessons.order.changes", text=text, other=space.join(shuffled_words)),
        labels=tuple(words),
        value_title=message("lessons.order.relative_change"),
        series=(series("lessons.order.change", change),),
        high=max(0.1, largest),
    )
    labels = axis(words)
    distances = matrix(
        "distances",
        "lessons.order.distances",
        apart,
        labels,
        labels,
        ends=(0.0, float(apart.max()) or 1.0),
        note="lessons.order.zero_distance",
    )
    changes = numbers(
        "numbers",
        "lessons.order.comparison",
        measure("lessons.order.largest_change", largest),
        measure("lessons.order.mean_change", float(change.mean())),
    )
    if shuffled_words == words:
        found = message("lessons.order.same_order")
    elif largest <= rounding(layers=LAYERS, summands=2 * WIDTH):  # sums in another order
        found = message("lessons.order.no_effect", largest=format_number(largest, ".0e"))
    else:
        found = message("lessons.order.effect", largest=percent(largest))
    return Result(found, (bars, distances, changes))


def choose_order(count: int, shuffle: str, seed: int) -> Tensor:
    """Which old place stands at each new one."""
    if shuffle == "reversed":
        return torch.arange(count).flip(0)
    return torch.randperm(count, generator=seeded(seed))


def build(vocabulary: int, length: int, kind: str, seed: int) -> Transformer:
    """A small encoder with random weights."""
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary_size=vocabulary,
        shape="encoder",
        head="none",
        layers=LAYERS,
        width=WIDTH,
        heads=4,
        feed_forward=2 * WIDTH,
        max_length=max(32, length),
        positions=cast(Positions, kind),
        dropout=0.0,
        tie_embeddings=False,
    )
    network = Transformer(config).eval()
    if network.encoder is not None and isinstance(network.encoder.bias, RelativeBias):
        torch.nn.init.normal_(network.encoder.bias.table.weight)  # untrained it would hardly be felt
    return network
