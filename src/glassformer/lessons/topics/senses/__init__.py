"""One network for words, pictures and sound: three input layers, and the same encoder behind each.

In:   the kind of input, an example of it, with or without positions.
Out:  the input as numbers, its vectors, their attention, and how many weights all three share.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config import ModelConfig
from glassformer.lessons.figures import axis, format_number, matrix, measure, numbers, percent, seeded
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Axis, Matrix, Table
from glassformer.messages import Message, message
from glassformer.model.frames import FrameEmbeddings
from glassformer.model.layers import Block
from glassformer.model.patches import grid_table
from glassformer.model.positions import sinusoidal_table
from glassformer.model.transformer import Stack, Transformer
from glassformer.rounding import rounding

SIZE, PATCH = 28, 7  # pixels on a side
RATE, HOP, BANDS, FRAMES = 8000, 80, 24, 16
LAYERS, WIDTH = 2, 32
SHAPE: dict[str, Any] = {
    "shape": "encoder",
    "head": "none",
    "layers": LAYERS,
    "width": WIDTH,
    "heads": 4,
    "feed_forward": 2 * WIDTH,
    "max_length": 64,
    "norm_position": "pre",  # vectors of all three then have the same length
    "positions": "none",  # added below, to see what they do
    "dropout": 0.0,
}
SENSES: dict[str, dict[str, Any]] = {
    "words": {"tie_embeddings": False},
    "picture": {
        "reads": "picture",
        "picture_size": SIZE,
        "patch_size": PATCH,
        "color": False,
        "class_token": False,
    },
    "sound": {"reads": "sound", "sample_rate": RATE, "hop": HOP, "mel_bins": BANDS, "frame_stride": 4},
}
STROKES = {  # (column, row), in pixels
    "seven": ([(7, 6), (21, 6), (13, 23)], [(10, 14), (19, 14)]),
    "cross": ([(6, 6), (22, 22)], [(22, 6), (6, 22)]),
    "ring": ([(14 + 8 * math.cos(turn / 8), 14 + 8 * math.sin(turn / 8)) for turn in range(52)],),
}


@torch.no_grad()
def compute(inputs: Inputs) -> Result:
    """Run an untrained encoder on words, a picture or a sound; the statements hold for any weights."""
    sense, seed = inputs.text("sense"), inputs.integer("seed")
    words = split(inputs.text("text"))
    networks = build(len(set(words)), seed)
    network = networks[sense]
    assert network.encoder is not None
    read, given, labels = {
        "words": lambda: _read_words(words),
        "picture": lambda: _read_picture(draw_strokes(inputs.text("drawing"))),
        "sound": lambda: _read_sound(make_tone(inputs.text("tone")), network),
    }[sense]()
    vectors = input_layer(network)(given)[0]  # (token, width)
    count = len(vectors)
    order = torch.randperm(count, generator=seeded(seed))
    places = (
        make_positions(sense, count) if inputs.text("positions") == "sinusoidal" else torch.zeros(count, 1)
    )
    weights, straight = run_encoder(network.encoder, vectors + places)
    moved = torch.empty_like(straight)
    moved[order] = run_encoder(network.encoder, vectors[order] + places)[1]
    change = float(((moved - straight).norm(dim=-1) / straight.norm(dim=-1)).max())
    head = inputs.integer("head")
    looks = matrix("attention", message("lessons.senses.attention", head=head), weights[head], labels, labels)
    shared, own = _count(network.encoder), _count(input_layer(network))
    figures = (
        read,
        matrix("vectors", "lessons.senses.vectors", vectors + places, labels, axis(range(WIDTH))),
        looks,
        _compare(networks, sense, count),
        numbers(
            "numbers",
            "lessons.senses.weights",
            measure("lessons.senses.shared", shared),
            measure("lessons.senses.own", own),
            measure("lessons.senses.change", change),
        ),
    )
    alike = change <= rounding(layers=LAYERS, summands=2 * WIDTH)  # sums in another order
    shuffled = (
        message("lessons.senses.no_order", largest=format_number(change, ".0e"))
        if alike
        else message("lessons.senses.order", largest=percent(change))
    )
    share = percent(shared / (shared + own))
    found = message("lessons.senses.found", count=count, width=WIDTH, share=share, shuffled=shuffled)
    return Result(found, figures)


def split(text: str) -> list[str]:
    """Words; characters where there is no space, as in Chinese."""
    words = text.split()
    return words if len(words) > 1 else list("".join(words))


def build(vocabulary: int, seed: int) -> dict[str, Transformer]:
    """A network for each kind of input; all three encoders have the same weights."""
    torch.manual_seed(seed)
    sizes: dict[str, dict[str, Any]] = {"words": {"vocabulary_size": vocabulary}}
    networks = {
        sense: Transformer(ModelConfig(**SHAPE, **changes, **sizes.get(sense, {}))).eval()
        for sense, changes in SENSES.items()
    }
    encoder = networks["words"].encoder
    assert encoder is not None
    for weight in encoder.parameters():
        if weight.dim() > 1:
            nn.init.xavier_uniform_(weight)  # untrained, heads would hardly tell one token from another
    for network in networks.values():
        assert network.encoder is not None
        network.encoder.load_state_dict(encoder.state_dict())  # refuses another name or shape
        for weight in input_layer(network).parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=weight[0].numel() ** -0.5)
    return networks


def input_layer(network: Transformer) -> nn.Module:
    """The module that makes vectors of the input: the only part that differs."""
    return network.embeddings.tokens if network.perception is None else network.perception


def make_positions(sense: str, count: int) -> Tensor:
    """Sinusoidal positions (token, width): in a picture by row and column."""
    return grid_table(SIZE // PATCH, WIDTH) if sense == "picture" else sinusoidal_table(count, WIDTH)


def run_encoder(encoder: Stack, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """The weights (head, query, key) of the first layer, and what comes out (token, width)."""
    seen: list[Tensor] = []
    block = encoder.layers[0]
    assert isinstance(block, Block)
    handle = block.attention.pattern.register_forward_hook(lambda _, __, pattern: seen.append(pattern))
    try:
        states = encoder(vectors[None], torch.arange(len(vectors))[None])
    finally:
        handle.remove()
    return seen[0][0], states[0]


def draw_strokes(name: str) -> Tensor:
    """Light strokes on a dark ground (row, column), from -1 to 1."""
    rows, columns = torch.meshgrid(torch.arange(SIZE) + 0.5, torch.arange(SIZE) + 0.5, indexing="ij")
    places = torch.stack((columns, rows), dim=-1)
    distance = torch.full((SIZE, SIZE), math.inf)
    for stroke in STROKES[name]:
        for start, end in pairwise(torch.tensor(stroke).float()):
            along = (((places - start) @ (end - start)) / (end - start).square().sum()).clamp(0, 1)
            distance = distance.minimum((places - start - along[..., None] * (end - start)).norm(dim=-1))
    return 2 * (2.2 - distance).clamp(0, 1) - 1


def make_tone(name: str) -> Tensor:
    """Samples from -1 to 1."""
    length = FRAMES * HOP * 4
    time = torch.arange(length) / RATE
    hertz = {"rising": 300 + 4000 * time, "beeps": 1200 + 0 * time, "bell": 700 + 0 * time}[name]
    phase = 2 * math.pi * (hertz / RATE).cumsum(0)
    if name == "bell":
        tones = sum((phase * part).sin() / part for part in (1, 2.76, 4.07))
        return 0.4 * torch.as_tensor(tones) * (-8 * time).exp()
    loud = (time * 8 % 1 < 0.5).float() if name == "beeps" else torch.ones(length)
    return 0.8 * phase.sin() * loud


Read = tuple[Matrix, Tensor, Axis]  # what is shown; what the network is given; names of the tokens


def _read_words(words: Sequence[str]) -> Read:
    known = sorted(set(words), key=list(words).index)
    ids = torch.tensor([known.index(word) for word in words])
    chosen = nn.functional.one_hot(ids, len(known)).float()
    labels = axis(words)
    read = matrix("read", "lessons.senses.read_words", chosen, labels, axis(known), ends=(0.0, 1.0))
    return read, ids[None], labels


def _read_picture(pixels: Tensor) -> Read:
    grid = SIZE // PATCH
    labels = axis([f"{row},{column}" for row in range(grid) for column in range(grid)])
    lines = axis(range(SIZE))
    read = matrix("read", "lessons.senses.read_picture", (pixels + 1) / 2, lines, lines, ends=(0.0, 1.0))
    return read, pixels[None, None], labels


def _read_sound(samples: Tensor, network: Transformer) -> Read:
    perception = network.perception
    assert isinstance(perception, FrameEmbeddings)
    bands = perception.spectrogram(samples[None], FRAMES * 4)[0].flip(0)  # high ones above
    seconds = HOP * 4 / RATE
    labels = axis([f"{(frame + 0.5) * seconds:.2f} s" for frame in range(FRAMES)])
    columns = axis([f"{column * HOP / RATE:.2f}" for column in range(FRAMES * 4)], "lessons.senses.seconds")
    rows = axis(range(BANDS - 1, -1, -1), "lessons.senses.band")
    read = matrix("read", "lessons.senses.read_sound", bands, rows, columns)
    return read, samples[None], labels


def _compare(networks: dict[str, Transformer], sense: str, count: int) -> Table:
    """The three input layers, side by side."""
    pieces: dict[str, Callable[[], int]] = {
        "words": lambda: networks["words"].config.vocabulary_size,
        "picture": lambda: PATCH**2,
        "sound": lambda: BANDS * 4,
    }
    rows: list[tuple[str | float | Message | None, ...]] = []
    for name, network in networks.items():
        assert network.encoder is not None
        rows.append(
            (
                message(f"lessons.senses.topic.choice.sense.{name}"),
                message(f"lessons.senses.piece.{name}"),
                pieces[name](),
                _count(input_layer(network)),
                _count(network.encoder),
            )
        )
    columns = ("sense", "token", "size", "own_weights", "shared_weights")
    return Table(
        id="table",
        title=message("lessons.senses.compared"),
        note=message("lessons.senses.compared_note", count=count),
        columns=tuple(message(f"lessons.senses.{column}") for column in columns),
        rows=tuple(rows),
        marked=(list(networks).index(sense),),
    )


def _count(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())
