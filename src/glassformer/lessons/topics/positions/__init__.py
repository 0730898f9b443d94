"""Ways of writing a position: sinusoidal, learned, rotary, and two that fail.

In:   the way, how many positions, how wide their codes are, a shift.
Out:  the codes (position, feature), their products (position, position), products by distance from several
      starting points, and for circles the shift as a rotation, with the error of that claim.
"""

import torch
from torch import Tensor, nn

from glassformer.config import ModelConfig
from glassformer.lessons.figures import axis, format_number, matrix, measure, numbers, percent, seeded, series
from glassformer.lessons.models import Zoo
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Arrow, Figure, Lines, Points
from glassformer.messages import Message, message
from glassformer.model.positions import RotaryPositions, frequencies, rotate, sinusoidal_table
from glassformer.model.similarity import dot
from glassformer.model.transformer import Transformer
from glassformer.rounding import rounding

SHOWN = 32  # features of a learned table
FARTHEST = 10  # distance up to which products are compared
ARROWS = 3  # positions on the circle
CIRCLES = ("sinusoidal", "rotary")


def compute(inputs: Inputs) -> Result:
    """Write positions, multiply them, compare."""
    kind, length = inputs.text("kind"), inputs.integer("length")
    learnt, width = kind == "learned", inputs.integer("width")
    codes, name = learned_table(inputs.models, length) if learnt else (write_codes(kind, length, width), None)
    products = dot(codes, codes) if kind != "rotary" else rotary_products(length, width)
    farthest = min(FARTHEST, length // 2)  # so that three starting points are three
    starts = (0, (length - farthest) // 2, length - farthest - 1)
    curves = [
        [float(products[start, start + distance]) for distance in range(farthest + 1)] for start in starts
    ]
    differ = max(max(values) - min(values) for values in zip(*curves, strict=True))
    spread = max(map(max, curves)) - min(map(min, curves))
    places = axis(range(length), "lessons.positions.position")
    shown = (
        codes[:, :SHOWN] if learnt else codes
    )  # of a learned table the first features; its products are those of all
    features = axis(range(shown.shape[1]), "lessons.positions.feature")
    figures: list[Figure] = [
        Lines(
            id="distance",
            title=message("lessons.positions.products_by_distance"),
            x=tuple(float(distance) for distance in range(farthest + 1)),
            x_title=message("lessons.positions.distance"),
            y_title=message("lessons.positions.product"),
            series=tuple(
                series(message("lessons.positions.from_position", start=start), curve)
                for start, curve in zip(starts, curves, strict=True)
            ),
        ),
        matrix("codes", f"lessons.positions.codes.{kind}", shown, places, features),
        matrix("products", "lessons.positions.products", products, places, places),
    ]
    if kind in CIRCLES:
        pair = min(inputs.integer("pair"), width // 2 - 1)
        figures[1:1] = turn(pair, inputs.integer("shift"), length, kind, width)
    return Result(_find(kind, differ, spread, codes), figures, name)


def write_codes(kind: str, length: int, width: int) -> Tensor:
    """The codes themselves: (position, feature). Rotary: a query of ones, turned by its position."""
    match kind:
        case "count":
            return torch.arange(length, dtype=torch.float32)[:, None]
        case "share":
            return torch.linspace(0, 1, length)[:, None]
        case "rotary":
            return rotate(torch.ones(length, width), RotaryPositions(width)(torch.arange(length)))
        case _:
            return sinusoidal_table(length, width)


def rotary_products(length: int, width: int) -> Tensor:
    """One random query at every position against one random key at every position: (position, position)."""
    query, key = torch.randn(2, 1, width, generator=seeded(0))
    rotation = RotaryPositions(width)(torch.arange(length))
    return dot(rotate(query.expand(length, -1), rotation), rotate(key.expand(length, -1), rotation))


def learned_table(models: Zoo, length: int) -> tuple[Tensor, str]:
    """The first rows of a table that a model of the zoo has learnt, and the model's name."""

    def fits(network: Transformer) -> bool:
        config: ModelConfig = network.config
        return config.positions == "learned" and config.max_length >= length

    model, network = models.find(fits, "lessons.needs.learned_positions")
    table = network.embeddings.positions
    assert isinstance(table, nn.Embedding)
    return table.weight.detach()[:length].float(), model.name


def turn(pair: int, shift: int, length: int, kind: str, width: int) -> list[Figure]:
    """The shift as a rotation of one pair of features, and how exact that is for all pairs and positions."""
    speed = frequencies(width)
    angle = float(shift * speed[pair])
    table = sinusoidal_table(length + shift, width).double()
    points = table.reshape(len(table), -1, 2)  # (position, pair, [sine, cosine])
    sine, cosine = (shift * speed).sin(), (shift * speed).cos()
    first, second = points[:length].unbind(-1)
    turned = torch.stack((first * cosine + second * sine, second * cosine - first * sine), dim=-1)
    error = float((turned - points[shift : shift + length]).abs().max())
    # As many as can be told apart, and none where a shifted one lies.
    shown = [place for place in range(length) if shift == 0 or place // shift % 2 == 0][:ARROWS]
    arrows = [_arrow(points, position, pair, f"{position}", 0) for position in shown]
    arrows += [_arrow(points, position + shift, pair, f"{position} + {shift}", 1) for position in shown]
    degrees = angle * 180 / torch.pi
    shifted = "lessons.positions.rotary_shift" if kind == "rotary" else "lessons.positions.shift"
    circle = Points(
        id="circle",
        title=message("lessons.positions.pair", pair=pair),
        note=message(shifted, shift=shift, degrees=degrees),
        arrows=tuple(arrows),
        groups=(message("lessons.positions.before"), message("lessons.positions.after")),
        reach=1.1,
    )
    rotation = numbers(
        "rotation",
        "lessons.positions.rotation",
        measure("lessons.positions.angle", degrees, unit="°"),
        measure("lessons.positions.largest_error", error, good=error <= rounding(operations=2, summands=2)),
    )
    return [circle, rotation]


def _arrow(points: Tensor, position: int, pair: int, label: str, group: int) -> Arrow:
    sine, cosine = points[position, pair].tolist()
    return Arrow(label=label, x=cosine, y=sine, group=group)


def _find(kind: str, differ: float, spread: float, codes: Tensor) -> Message:
    match kind:
        case "count":
            return message("lessons.positions.found.count", differ=differ, size=float(codes.abs().max()))
        case "share":
            return message("lessons.positions.found.share", differ=differ)
        case "learned":
            share = percent(differ / spread if spread else 0.0)
            return message("lessons.positions.found.learned", differ=differ, share=share)
        case _:
            return message("lessons.positions.found.circles", differ=format_number(differ, ".1e"))
