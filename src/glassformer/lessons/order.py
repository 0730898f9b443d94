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
    say,
    seeded,
    series,
    write,
)
from glassformer.lessons.schema import Bars, Measure, Numbers
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
        title=say(f"How much each output changes: {text} → {other}", f"每个输出改变了多少：{text} → {other}"),
        labels=tuple(letters),
        value_title=say("change, as a share of the output", "变化（相对于输出的长度）"),
        series=(series("change", "变化", change),),
        high=max(0.1, largest),
    )
    labels = axis(letters)
    distances = matrix(
        "distances",
        say("How far apart the outputs of two words are", "两个词的输出相距多远"),
        apart,
        labels,
        labels,
        ends=(0.0, float(apart.max()) or 1.0),
        note=say("0: the two cannot be told apart.", "0：两者无法区分。"),
    )
    numbers = Numbers(
        id="numbers",
        title=say("Shuffled against straight", "打乱前后对比"),
        items=(
            Measure(name=say("largest change", "最大变化"), value=plain(largest)),
            Measure(name=say("mean change", "平均变化"), value=plain(float(change.mean()))),
        ),
    )
    if other == text:
        found = say(
            "The new order is the old one: there is nothing to compare. Try another seed, or a sentence of "
            "different words.",
            "新的次序与原来相同，没有可比的。换一个随机种子，或者换一句用词不同的话。",
        )
    elif largest < ROUNDING:
        found = say(
            f"The order does not matter at all: no output changes by more than {write(largest, '.0e')} "
            "(rounding). To this network both sentences are the same bag of words.",
            f"词序毫无影响：没有哪个输出的变化超过 {write(largest, '.0e')}（舍入误差）。对这个网络来说，"
            "两句话是同一个词袋。",
        )
    else:
        found = say(
            f"The order matters: outputs change by up to {percent(largest)} when the words change places.",
            f"词序有影响：词换了位置，输出最多改变 {percent(largest)}。",
        )
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
