"""Shuffled words, with and without positions: do outputs permute with their inputs?

In:   a sentence, an order, a kind of positions.
Out:  how much each word's output changes when the words change places, and which words look alike.
"""

from typing import cast

import torch
from torch import Tensor

from glassformer.config import ModelConfig, Positions
from glassformer.lessons.outcome import (
    Models,
    Outcome,
    Words,
    axis,
    matrix,
    percent,
    plain,
    seeded,
    series,
    write,
)
from glassformer.lessons.schema import Bars, Measure, Numbers
from glassformer.messages import message
from glassformer.model.transformer import Transformer

WIDTH = 64
ROUNDING = 1e-4  # differences below are those of sums in another order


def play(words: Words, models: Models) -> Outcome:  # noqa: ARG001
    """Run an untrained encoder on both orders: what is shown holds for any weights."""
    text, kind = words.text("text"), words.text("positions")
    letters = list(text)
    order = choose_order(len(letters), words.text("shuffle"), words.integer("seed"))
    alphabet = sorted(set(letters))
    ids = torch.tensor([alphabet.index(letter) for letter in letters])
    network = build(len(alphabet), kind, words.integer("seed"))
    straight, shuffled = run(network, ids), run(network, ids[order])
    moved = torch.empty_like(straight)
    moved[order] = shuffled  # each word's output back at its old place
    change = (moved - straight).norm(dim=-1) / straight.norm(dim=-1)  # (token,)
    apart = torch.cdist(straight.double()[None], straight.double()[None])[0]
    other = "".join(letters[place] for place in order.tolist())
    largest = float(change.max())
    bars = Bars(
        id="change",
        title=message("lessons.order.how_much_each_output", text=text, other=other),
        labels=tuple(letters),
        value_title=message("lessons.order.change_share_output"),
        series=(series(message("lessons.order.change"), change),),
        high=max(0.1, largest),
    )
    labels = axis(letters)
    distances = matrix(
        "distances",
        message("lessons.order.how_far_apart_outputs"),
        apart,
        labels,
        labels,
        ends=(0.0, float(apart.max()) or 1.0),
        note=message("lessons.order.n_0_two_cannot_be"),
    )
    numbers = Numbers(
        id="numbers",
        title=message("lessons.order.shuffled_against_straight"),
        items=(
            Measure(name=message("lessons.order.largest_change"), value=plain(largest)),
            Measure(name=message("lessons.order.mean_change"), value=plain(float(change.mean()))),
        ),
    )
    if other == text:
        found = message("lessons.order.new_order_old_one")
    elif largest < ROUNDING:
        found = message("lessons.order.order_does_not_matter", largest=write(largest, ".0e"))
    else:
        found = message("lessons.order.order_matters_outputs_change", largest=percent(largest))
    return Outcome(found, (bars, distances, numbers))


def choose_order(count: int, shuffle: str, seed: int) -> Tensor:
    """Which old place stands at each new one."""
    if shuffle == "reversed":
        return torch.arange(count).flip(0)
    return torch.randperm(count, generator=seeded(seed))


def build(vocabulary: int, kind: str, seed: int) -> Transformer:
    """A small encoder with random weights."""
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary_size=vocabulary,
        shape="encoder",
        head="none",
        layers=2,
        width=WIDTH,
        heads=4,
        feed_forward=2 * WIDTH,
        max_length=32,
        positions=cast(Positions, kind),
        dropout=0.0,
        tie_embeddings=False,
    )
    network = Transformer(config).eval()
    if network.encoder is not None and network.encoder.bias is not None:
        torch.nn.init.normal_(network.encoder.bias.table.weight)  # untrained it would hardly be felt
    return network


@torch.no_grad()
def run(network: Transformer, ids: Tensor) -> Tensor:
    """The last hidden states (token, width)."""
    return network.encode(ids[None])[0]
