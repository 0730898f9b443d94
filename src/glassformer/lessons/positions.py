"""Ways of writing a position: sinusoidal, learned, rotary, and two that fail.

In:   the way, how many positions, a shift.
Out:  the codes (position, feature), their products (position, position), products by distance from several
      starting points, and for circles the shift as a rotation, with the error of that claim.
"""

import torch
from torch import Tensor, nn

from glassformer.config import ModelConfig
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
from glassformer.lessons.schema import Arrow, Figure, Lines, Measure, Numbers, Points
from glassformer.model.positions import RotaryPositions, frequencies, rotate, sinusoidal_table
from glassformer.model.similarity import dot
from glassformer.model.transformer import Transformer
from glassformer.schema import Phrase

WIDTH = 32  # features of the codes that we make ourselves
FARTHEST = 10  # distance up to which products are compared
ARROWS = 3  # positions on the circle
CIRCLES = ("sinusoidal", "rotary")


def play(words: Words, models: Models) -> Outcome:
    """Write positions, multiply them, compare."""
    kind, length = words.text("kind"), words.integer("length")
    name = None
    if kind == "learned":
        codes, name = learned_table(models, length)
    else:
        codes = write_codes(kind, length)
    products = dot(codes, codes) if kind != "rotary" else rotary_products(length)
    farthest = min(FARTHEST, length // 2)  # so that three starting points are three
    starts = (0, (length - farthest) // 2, length - farthest - 1)
    curves = [
        [float(products[start, start + distance]) for distance in range(farthest + 1)] for start in starts
    ]
    differ = max(max(values) - min(values) for values in zip(*curves, strict=True))
    spread = max(map(max, curves)) - min(map(min, curves))
    places = axis(range(length), say("position", "位置"))
    shown = codes[:, :WIDTH]  # of a learned table the first features; its products are those of all
    features = axis(range(shown.shape[1]), say("feature", "特征"))
    figures: list[Figure] = [
        Lines(
            id="distance",
            title=say("Products by distance, from three starting points", "从三个起点看：乘积随距离的变化"),
            x=tuple(float(distance) for distance in range(farthest + 1)),
            x_title=say("distance", "距离"),
            y_title=say("product", "乘积"),
            series=tuple(
                series(f"from position {start}", f"从位置 {start} 起", curve)
                for start, curve in zip(starts, curves, strict=True)
            ),
        ),
        matrix("codes", _title(kind), shown, places, features),
        matrix(
            "products", say("Products of every two positions", "每两个位置的乘积"), products, places, places
        ),
    ]
    if kind in CIRCLES:
        figures[1:1] = turn(words.integer("pair"), words.integer("shift"), length, kind)
    return Outcome(_find(kind, differ, spread, codes), figures, name)


def write_codes(kind: str, length: int) -> Tensor:
    """The codes themselves: (position, feature). Rotary: a query of ones, turned by its position."""
    match kind:
        case "count":
            return torch.arange(length, dtype=torch.float32)[:, None]
        case "share":
            return torch.linspace(0, 1, length)[:, None]
        case "rotary":
            return rotate(torch.ones(length, WIDTH), RotaryPositions(WIDTH)(torch.arange(length)))
        case _:
            return sinusoidal_table(length, WIDTH)


def rotary_products(length: int) -> Tensor:
    """One random query at every position against one random key at every position: (position, position)."""
    query, key = torch.randn(2, 1, WIDTH, generator=seeded(0))
    rotation = RotaryPositions(WIDTH)(torch.arange(length))
    return dot(rotate(query.expand(length, -1), rotation), rotate(key.expand(length, -1), rotation))


def learned_table(models: Models, length: int) -> tuple[Tensor, str]:
    """The first rows of a table that a model of the zoo has learnt, and the model's name."""

    def fits(network: Transformer) -> bool:
        config: ModelConfig = network.config
        return config.positions == "learned" and config.max_length >= length

    model = models.find(fits, "a model with learned positions")
    assert isinstance(model.network, Transformer)
    table = model.network.embeddings.positions
    assert isinstance(table, nn.Embedding)
    return table.weight.detach()[:length].float(), model.name


def turn(pair: int, shift: int, length: int, kind: str) -> list[Figure]:
    """The shift as a rotation of one pair of features, and how exact that is for all pairs and positions."""
    speed = frequencies(WIDTH)
    angle = float(shift * speed[pair])
    table = sinusoidal_table(length + shift, WIDTH).double()
    points = table.reshape(len(table), -1, 2)  # (position, pair, [sine, cosine])
    sine, cosine = (shift * speed).sin(), (shift * speed).cos()
    turned = torch.stack(
        (
            points[:length, :, 0] * cosine + points[:length, :, 1] * sine,
            points[:length, :, 1] * cosine - points[:length, :, 0] * sine,
        ),
        dim=-1,
    )
    error = float((turned - points[shift : shift + length]).abs().max())
    # As many as can be told apart, and none where a shifted one lies.
    shown = [place for place in range(length) if shift == 0 or place // shift % 2 == 0][:ARROWS]
    arrows = [_arrow(points, position, pair, f"{position}", 0) for position in shown]
    arrows += [_arrow(points, position + shift, pair, f"{position} + {shift}", 1) for position in shown]
    degrees = angle * 180 / torch.pi
    circle = Points(
        id="circle",
        title=say(
            f"Pair {pair}: each position is a point on a circle", f"第 {pair} 对特征：每个位置是圆上的一个点"
        ),
        note=say(
            f"A shift by {shift} turns all of them by the same angle, {degrees:.2f}°."
            + (" Rotary turns queries and keys by these angles." if kind == "rotary" else ""),
            f"平移 {shift} 使它们都转过同一角度 {degrees:.2f}°。"
            + ("旋转编码就用这些角度旋转查询和键。" if kind == "rotary" else ""),
        ),
        arrows=tuple(arrows),
        groups=(say("position p", "位置 p"), say("position p + k", "位置 p + k")),
        reach=1.1,
    )
    numbers = Numbers(
        id="rotation",
        title=say("The shift as a rotation", "平移就是旋转"),
        items=(
            Measure(name=say("angle of this pair", "这一对的转角"), value=plain(degrees), unit="°"),
            Measure(
                name=say("largest error over all pairs and positions", "所有特征对与位置上的最大误差"),
                value=plain(error),
                good=error < 1e-5,
            ),
        ),
    )
    return [circle, numbers]


def _arrow(points: Tensor, position: int, pair: int, label: str, group: int) -> Arrow:
    sine, cosine = points[position, pair].tolist()
    return Arrow(label=label, x=cosine, y=sine, group=group)


def _title(kind: str) -> Phrase:
    titles = {
        "sinusoidal": say("The matrix of positions", "位置编码矩阵"),
        "learned": say("The table that the model learnt, first features", "模型学到的位置表（前几维）"),
        "rotary": say("A query of ones, turned by its position", "全 1 的查询按位置旋转后"),
        "count": say("One number for each position", "每个位置一个数"),
        "share": say("One number from 0 to 1", "0 到 1 之间的一个数"),
    }
    return titles[kind]


def _find(kind: str, differ: float, spread: float, codes: Tensor) -> Phrase:
    size = float(codes.abs().max())
    match kind:
        case "count":
            return say(
                f"The same distance gives products that differ by up to {differ:.0f}, and the "
                f"codes grow to {size:.0f}: "
                "far larger than any word vector, and without end.",
                f"同样的距离，乘积相差可达 {differ:.0f}；编码一直长到 {size:.0f}，远大于词向量，"
                "而且没有尽头。",
            )
        case "share":
            return say(
                "The numbers stay small, but the same distance gives products that differ by up "
                f"to {differ:.2f}, and "
                "different distances give the same: 0.1 × 1 = 0.2 × 0.5. What a step is worth "
                "depends on the length.",
                f"数值不再变大，但同样的距离乘积相差可达 {differ:.2f}，不同的距离乘积却可能相同："
                "0.1 × 1 = 0.2 × 0.5。"
                "一步值多少还取决于句子长度。",
            )
        case "learned":
            share = differ / spread if spread else 0.0
            return say(
                "Nobody told this model what distance is: its curves differ by up to "
                f"{differ:.2f}, {percent(share)} of the "
                "range; what lies beyond the table's last row, it cannot read at all.",
                f"没有人告诉模型什么是距离：各条曲线最多相差 {differ:.2f}，占取值范围的 "
                f"{percent(share)}；超出表格最后一行的位置它根本读不了。",
            )
        case _:
            return say(
                f"The three curves are one: they differ by at most {write(differ, '.1e')}, which is "
                "rounding. Only distance counts.",
                f"三条曲线重合：最多相差 {write(differ, '.1e')}，只是舍入误差。起作用的只有距离。",
            )
